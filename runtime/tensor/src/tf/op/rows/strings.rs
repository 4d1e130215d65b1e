//! Strings: joining, splitting, matching, and conversion from and to numbers.

use super::super::infer::{arrays, rules, sparse_arrays, strings};
use super::super::row::{Cost, values};
use super::operators::operators;

operators! { 17:
    /// Numbers written as strings.
    AsString
        "input:T -> output:string; T:type fill:string='' precision:int=-1 scientific:bool=false \
         shortest:bool=false width:int=-1"
        => values(rules::same, Cost::PerOperand(64)).no_gradient();
    /// Whether each whole string matches a pattern.
    RegexFullMatch "input:string pattern:string -> output:bool"
        => values(rules::same, Cost::PerOperand(128)).no_gradient();
    /// Strings whose matches of a pattern are replaced.
    RegexReplace "input:string pattern:string rewrite:string -> output:string; replace_global:bool=true"
        => values(rules::same, Cost::PerOperand(128)).no_gradient();
    /// Whether each whole string matches a constant pattern.
    StaticRegexFullMatch "input:string -> output:bool; pattern:string"
        => values(rules::same, Cost::PerOperand(128)).no_gradient();
    /// Strings whose matches of a constant pattern are replaced.
    StaticRegexReplace
        "input:string -> output:string; pattern:string replace_global:bool=true rewrite:string"
        => values(rules::same, Cost::PerOperand(128)).no_gradient();
    /// Strings of several tensors joined, element by element.
    StringJoin "inputs:N*string -> output:string; N:int separator:string=''"
        => values(strings::join, Cost::PerOperand(16)).no_gradient();
    /// The numbers of bytes or characters of strings.
    StringLength "input:string -> output:int32; unit:string='BYTE'"
        => values(rules::same, Cost::PerOperand(16)).no_gradient();
    /// Strings in lower case.
    StringLower "input:string -> output:string; encoding:string=''"
        => values(rules::same, Cost::PerOperand(16)).no_gradient();
    /// The parts of strings between separators, as a sparse matrix.
    StringSplitV2
        "input:string sep:string -> indices:int64 values:string shape:int64; maxsplit:int=-1"
        => values(strings::split, Cost::PerOperand(64)).no_gradient();
    /// A number below a bound for each string, from its fingerprint.
    StringToHashBucketFast "input:string -> output:int64; num_buckets:int"
        => values(rules::same, Cost::PerOperand(32)).no_gradient();
    /// Strings parsed as numbers.
    StringToNumber "string_tensor:string -> output:out_type; out_type:type=float"
        => values(rules::same, Cost::PerOperand(64)).no_gradient();
    /// Strings in upper case.
    StringUpper "input:string -> output:string; encoding:string=''"
        => values(rules::same, Cost::PerOperand(16)).no_gradient();
    /// Parts of strings by position and length.
    Substr "input:string pos:T len:T -> output:string; T:type unit:string='BYTE'"
        => values(rules::broadcasting, Cost::PerOperand(16)).no_gradient();
    /// The bytes of strings as numbers.
    DecodeRaw
        "bytes:string -> output:out_type; little_endian:bool=true out_type:type"
        => values(strings::decode_raw, Cost::PerOperand(16)).no_gradient();
    /// The features of serialized examples.
    ParseExample
        "serialized:string names:string sparse_keys:Nsparse*string dense_keys:Ndense*string \
         dense_defaults:*Tdense -> sparse_indices:Nsparse*int64 sparse_values:*sparse_types \
         sparse_shapes:Nsparse*int64 dense_values:*Tdense; Ndense:int Nsparse:int Tdense:list(type) \
         dense_shapes:list(shape) sparse_types:list(type)"
        => values(strings::parse_examples, Cost::PerOperand(256)).no_gradient();
    /// The features of serialized examples, some of them ragged.
    ParseExampleV2
        "serialized:string names:string sparse_keys:string dense_keys:string ragged_keys:string \
         dense_defaults:*Tdense -> sparse_indices:num_sparse*int64 sparse_values:*sparse_types \
         sparse_shapes:num_sparse*int64 dense_values:*Tdense ragged_values:*ragged_value_types \
         ragged_row_splits:*ragged_split_types; Tdense:list(type) dense_shapes:list(shape) num_sparse:int \
         ragged_split_types:list(type) ragged_value_types:list(type) sparse_types:list(type)"
        => values(strings::parse_examples, Cost::PerOperand(256)).no_gradient();
    /// The features of one serialized example.
    ParseSingleExample
        "serialized:string dense_defaults:*Tdense -> sparse_indices:num_sparse*int64 \
         sparse_values:*sparse_types sparse_shapes:num_sparse*int64 dense_values:*Tdense; \
         Tdense:list(type) dense_keys:list(string) dense_shapes:list(shape) num_sparse:int \
         sparse_keys:list(string) sparse_types:list(type)"
        => values(strings::parse_examples, Cost::PerOperand(256)).no_gradient();
    /// The parts of strings between any of several bytes, as a sparse matrix.
    StringSplit
        "input:string delimiter:string -> indices:int64 values:string shape:int64; skip_empty:bool=true"
        => values(strings::split, Cost::PerOperand(64)).no_gradient();
    /// Strings without the space around them.
    StringStrip
        "input:string -> output:string"
        => values(rules::same, Cost::PerOperand(16)).no_gradient();
    /// The strings of a row without stop words, in one case; not an operator of TensorFlow.
    _StringNormalizer
        "input:string -> output:string; case_change_action:string='NONE' is_case_sensitive:bool=false \
         stopwords:list(string)=[]"
        => values(strings::normalizer, Cost::PerOperand(64)).no_gradient();
    /// The parts of strings between separators along a new axis, padded with empty strings, and the numbers
    /// of parts; not an operator of TensorFlow.
    _StringSplit "input:string -> parts:string counts:int64; delimiter:string='' maxsplit:int=-1"
        => values(strings::parts, Cost::PerOperand(64)).no_gradient();
    /// Counts of n-grams in rows of strings or numbers, weighted or not; not an operator of TensorFlow.
    _TfIdfVectorizer
        "input:T -> output:float; T:type max_gram_length:int max_skip_count:int min_gram_length:int \
         mode:string ngram_counts:list(int) ngram_indexes:list(int) pool_int64s:list(int)=[] \
         pool_strings:list(string)=[] weights:list(float)=[]"
        => values(strings::tf_idf_vectorizer, Cost::PerOperand(256)).no_gradient();
    /// A tensor as a string, as NumPy's `str` writes it; not an operator of TensorFlow.
    _NumpyString "x:T -> text:string; T:type" => values(rules::scalar, Cost::PerOperand(64)).no_gradient();
    /// Strings joined along axes.
    ReduceJoin
        "inputs:string reduction_indices:int32 -> output:string; keep_dims:bool=false separator:string=''"
        => values(arrays::reduction, Cost::PerOperand(16)).no_gradient();
    /// Strings joined by segment id.
    UnsortedSegmentJoin
        "inputs:string segment_ids:Tindices num_segments:Tnumsegments -> output:string; Tindices:type \
         Tnumsegments:type=int32 separator:string=''"
        => values(arrays::segment, Cost::PerOperand(16)).no_gradient();
    /// The n-grams of rows of strings.
    StringNGrams
        "data:string data_splits:Tsplits -> ngrams:string ngrams_splits:Tsplits; Tsplits:type=int64 \
         left_pad:string ngram_widths:list(int) pad_width:int preserve_short_sequences:bool \
         right_pad:string separator:string"
        => values(strings::ngrams, Cost::PerOperand(64)).no_gradient();
    /// A number below a bound for each string, from a hash that may change between versions.
    StringToHashBucket "string_tensor:string -> output:int64; num_buckets:int"
        => values(rules::same, Cost::PerOperand(32)).no_gradient();
    /// A number below a bound for each string, from a hash with a secret key.
    StringToHashBucketStrong "input:string -> output:int64; key:list(int) num_buckets:int"
        => values(rules::same, Cost::PerOperand(64)).no_gradient();
    /// Strings in base64, in the alphabet for addresses of the web.
    EncodeBase64 "input:string -> output:string; pad:bool=false"
        => values(rules::same, Cost::PerOperand(32)).no_gradient();
    /// Strings that base64 stands for, in the alphabet for addresses of the web.
    DecodeBase64 "input:string -> output:string" => values(rules::same, Cost::PerOperand(32)).no_gradient();
    /// The code points of strings in rows.
    UnicodeDecode
        "input:string -> row_splits:Tsplits char_values:int32; Tsplits:type=int64 errors:string='replace' \
         input_encoding:string replace_control_characters:bool=false replacement_char:int=65533"
        => values(strings::unicode_decode, Cost::PerOperand(64)).no_gradient();
    /// The code points of strings in rows, and the position of each in its string.
    UnicodeDecodeWithOffsets
        "input:string -> row_splits:Tsplits char_values:int32 char_to_byte_starts:int64; Tsplits:type=int64 \
         errors:string='replace' input_encoding:string replace_control_characters:bool=false \
         replacement_char:int=65533"
        => values(strings::unicode_decode, Cost::PerOperand(64)).no_gradient();
    /// Strings of the code points in rows.
    UnicodeEncode
        "input_values:int32 input_splits:Tsplits -> output:string; Tsplits:type=int64 \
         errors:string='replace' output_encoding:string replacement_char:int=65533"
        => values(strings::unicode_encode, Cost::PerOperand(8)).no_gradient();
    /// Strings in another encoding.
    UnicodeTranscode
        "input:string -> output:string; errors:string='replace' input_encoding:string \
         output_encoding:string replace_control_characters:bool=false replacement_char:int=65533"
        => values(rules::same, Cost::PerOperand(64)).no_gradient();
    /// The number of the script of each code point, as ICU counts them.
    UnicodeScript "input:int32 -> output:int32" => values(rules::same, Cost::PerResult(16)).no_gradient();
    /// The columns of records of separated values.
    DecodeCSV
        "records:string record_defaults:*OUT_TYPE -> output:*OUT_TYPE; OUT_TYPE:list(type) \
         field_delim:string=',' na_value:string='' select_cols:list(int)=[] use_quote_delim:bool=true"
        => values(strings::csv, Cost::PerOperand(128)).no_gradient();
    /// The first bytes of strings, padded with zeros, as numbers.
    DecodePaddedRaw
        "input_bytes:string fixed_length:int32 -> output:out_type; little_endian:bool=true out_type:type"
        => values(strings::decode_padded_raw, Cost::PerOperand(16)).no_gradient();
    /// Strings decompressed.
    DecodeCompressed "bytes:string -> output:string; compression_type:string=''"
        => values(rules::same, Cost::PerOperand(256)).no_gradient();
    /// The tensor that a serialized message describes.
    ParseTensor "serialized:string -> output:out_type; out_type:type"
        => values(rules::unknown, Cost::PerResult(8)).no_gradient();
    /// A message that describes a tensor.
    SerializeTensor "tensor:T -> serialized:string; T:type"
        => values(rules::scalar, Cost::PerOperand(8)).no_gradient();
    /// The features of serialized examples, and their lists of features over time.
    ParseSequenceExample
        "serialized:string debug_name:string context_dense_defaults:*Tcontext_dense -> \
         context_sparse_indices:Ncontext_sparse*int64 context_sparse_values:*context_sparse_types \
         context_sparse_shapes:Ncontext_sparse*int64 context_dense_values:*Tcontext_dense \
         feature_list_sparse_indices:Nfeature_list_sparse*int64 \
         feature_list_sparse_values:*feature_list_sparse_types \
         feature_list_sparse_shapes:Nfeature_list_sparse*int64 \
         feature_list_dense_values:*feature_list_dense_types \
         feature_list_dense_lengths:Nfeature_list_dense*int64; Ncontext_dense:int=0 Ncontext_sparse:int=0 \
         Nfeature_list_dense:int=0 Nfeature_list_sparse:int=0 Tcontext_dense:list(type)=[] \
         context_dense_keys:list(string) context_dense_shapes:list(shape)=[] \
         context_sparse_keys:list(string) context_sparse_types:list(type)=[] \
         feature_list_dense_keys:list(string) feature_list_dense_missing_assumed_empty:list(string) \
         feature_list_dense_shapes:list(shape)=[] feature_list_dense_types:list(type)=[] \
         feature_list_sparse_keys:list(string) feature_list_sparse_types:list(type)=[]"
        => values(strings::parse_sequences, Cost::PerOperand(256)).no_gradient();
    /// The features of serialized examples, and their lists of features over time, some of them ragged.
    ParseSequenceExampleV2
        "serialized:string debug_name:string context_sparse_keys:string context_dense_keys:string \
         context_ragged_keys:string feature_list_sparse_keys:string feature_list_dense_keys:string \
         feature_list_ragged_keys:string feature_list_dense_missing_assumed_empty:bool \
         context_dense_defaults:*Tcontext_dense -> context_sparse_indices:Ncontext_sparse*int64 \
         context_sparse_values:*context_sparse_types context_sparse_shapes:Ncontext_sparse*int64 \
         context_dense_values:*Tcontext_dense context_ragged_values:*context_ragged_value_types \
         context_ragged_row_splits:*context_ragged_split_types \
         feature_list_sparse_indices:Nfeature_list_sparse*int64 \
         feature_list_sparse_values:*feature_list_sparse_types \
         feature_list_sparse_shapes:Nfeature_list_sparse*int64 \
         feature_list_dense_values:*feature_list_dense_types \
         feature_list_dense_lengths:Nfeature_list_dense*int64 \
         feature_list_ragged_values:*feature_list_ragged_value_types \
         feature_list_ragged_outer_splits:*feature_list_ragged_split_types \
         feature_list_ragged_inner_splits:*feature_list_ragged_split_types; Ncontext_sparse:int=0 \
         Nfeature_list_dense:int=0 Nfeature_list_sparse:int=0 Tcontext_dense:list(type)=[] \
         context_dense_shapes:list(shape)=[] context_ragged_split_types:list(type)=[] \
         context_ragged_value_types:list(type)=[] context_sparse_types:list(type)=[] \
         feature_list_dense_shapes:list(shape)=[] feature_list_dense_types:list(type)=[] \
         feature_list_ragged_split_types:list(type)=[] feature_list_ragged_value_types:list(type)=[] \
         feature_list_sparse_types:list(type)=[]"
        => values(strings::parse_sequences, Cost::PerOperand(256)).no_gradient();
    /// The features of one serialized example, and its lists of features over time.
    ParseSingleSequenceExample
        "serialized:string feature_list_dense_missing_assumed_empty:string \
         context_sparse_keys:Ncontext_sparse*string context_dense_keys:Ncontext_dense*string \
         feature_list_sparse_keys:Nfeature_list_sparse*string \
         feature_list_dense_keys:Nfeature_list_dense*string context_dense_defaults:*Tcontext_dense \
         debug_name:string -> context_sparse_indices:Ncontext_sparse*int64 \
         context_sparse_values:*context_sparse_types context_sparse_shapes:Ncontext_sparse*int64 \
         context_dense_values:*Tcontext_dense feature_list_sparse_indices:Nfeature_list_sparse*int64 \
         feature_list_sparse_values:*feature_list_sparse_types \
         feature_list_sparse_shapes:Nfeature_list_sparse*int64 \
         feature_list_dense_values:*feature_list_dense_types; Ncontext_dense:int=0 Ncontext_sparse:int=0 \
         Nfeature_list_dense:int=0 Nfeature_list_sparse:int=0 Tcontext_dense:list(type)=[] \
         context_dense_shapes:list(shape)=[] context_sparse_types:list(type)=[] \
         feature_list_dense_shapes:list(shape)=[] feature_list_dense_types:list(type)=[] \
         feature_list_sparse_types:list(type)=[]"
        => values(strings::parse_sequences, Cost::PerOperand(256)).no_gradient();
    /// All combinations of the features of sparse and dense columns, as strings or as hashes.
    SparseCross
        "indices:N*int64 values:*sparse_types shapes:N*int64 dense_inputs:*dense_types -> \
         output_indices:int64 output_values:out_type output_shape:int64; N:int dense_types:list(type) \
         hash_key:int hashed_output:bool internal_type:type num_buckets:int out_type:type \
         sparse_types:list(type)"
        => values(sparse_arrays::sparse_cross, Cost::PerOperand(64)).no_gradient();
    /// All combinations of the features of sparse and dense columns, as hashes.
    SparseCrossHashed
        "indices:N*int64 values:*sparse_types shapes:N*int64 dense_inputs:*dense_types \
         num_buckets:int64 strong_hash:bool salt:int64 -> output_indices:int64 output_values:int64 \
         output_shape:int64; N:int dense_types:list(type) sparse_types:list(type)"
        => values(sparse_arrays::sparse_cross, Cost::PerOperand(64)).no_gradient();
    /// All combinations of the features of sparse and dense columns, as strings.
    SparseCrossV2
        "indices:N*int64 values:*sparse_types shapes:N*int64 dense_inputs:*dense_types \
         sep:string -> output_indices:int64 output_values:string output_shape:int64; N:int \
         dense_types:list(type) sparse_types:list(type)"
        => values(sparse_arrays::sparse_cross, Cost::PerOperand(64)).no_gradient();
}
