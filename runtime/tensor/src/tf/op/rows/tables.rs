//! Lookup tables: resources that map keys to values.

use super::super::infer::rules;
use super::super::row::{Cost, Effect, control, state};
use super::operators::operators;

operators! { 19:
    /// A new table that is initialized once.
    AnonymousHashTable "!-> table_handle:resource; key_dtype:type value_dtype:type"
        => state(Effect::Write, rules::scalar, Cost::Free).no_gradient();
    /// A new mutable table of tensors. The empty and the deleted key, which mark free slots in TensorFlow,
    /// are ordinary keys here.
    AnonymousMutableDenseHashTable
        "!empty_key:key_dtype deleted_key:key_dtype -> table_handle:resource; initial_num_buckets:int=131072 \
         key_dtype:type max_load_factor:float=0.8 value_dtype:type value_shape:shape=[]"
        => state(Effect::Write, rules::scalar, Cost::Free).no_gradient();
    /// A new mutable table.
    AnonymousMutableHashTable "!-> table_handle:resource; key_dtype:type value_dtype:type"
        => state(Effect::Write, rules::scalar, Cost::Free).no_gradient();
    /// A new mutable table of tensors of one shape.
    AnonymousMutableHashTableOfTensors
        "!-> table_handle:resource; key_dtype:type value_dtype:type value_shape:shape=[]"
        => state(Effect::Write, rules::scalar, Cost::Free).no_gradient();
    /// A table that is initialized once.
    HashTableV2
        "!-> table_handle:resource; container:string='' key_dtype:type shared_name:string='' \
         use_node_name_sharing:bool=false value_dtype:type"
        => state(Effect::Allocate, rules::scalar, Cost::Free).no_gradient();
    /// A table initialized with the lines of a file. The importer replaces the file by the text of an asset.
    InitializeTableFromTextFileV2
        "!table_handle:resource filename:string ->; delimiter:string='\\t' key_index:int offset:int=0 \
         value_index:int vocab_size:int=-1"
        => control(Effect::Write, rules::unknown).no_gradient();
    /// A table initialized with keys and values.
    InitializeTableV2 "!table_handle:resource keys:Tkey values:Tval ->; Tkey:type Tval:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// All keys and values of a table, in the order of the keys.
    LookupTableExportV2 "!table_handle:resource -> keys:Tkeys values:Tvalues; Tkeys:type Tvalues:type"
        => state(Effect::Read, rules::unknown, Cost::Moves).no_gradient();
    /// The values of keys in a table, and a default value for missing keys.
    LookupTableFindV2
        "!table_handle:resource keys:Tin default_value:Tout -> values:Tout; Tin:type Tout:type"
        => state(Effect::Read, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// All entries of a table replaced by keys and values.
    LookupTableImportV2 "!table_handle:resource keys:Tin values:Tout ->; Tin:type Tout:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// Keys and values added to a table.
    LookupTableInsertV2 "!table_handle:resource keys:Tin values:Tout ->; Tin:type Tout:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// Keys removed from a table.
    LookupTableRemoveV2 "!table_handle:resource keys:Tin ->; Tin:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// The number of keys of a table.
    LookupTableSizeV2 "!table_handle:resource -> size:int64;"
        => state(Effect::Read, rules::scalar, Cost::Moves).no_gradient();
    /// A mutable table of tensors. The empty and the deleted key, which mark free slots in TensorFlow, are
    /// ordinary keys here.
    MutableDenseHashTableV2
        "!empty_key:key_dtype deleted_key:key_dtype -> table_handle:resource; container:string='' \
         initial_num_buckets:int=131072 key_dtype:type max_load_factor:float=0.8 shared_name:string='' \
         use_node_name_sharing:bool=false value_dtype:type value_shape:shape=[]"
        => state(Effect::Allocate, rules::scalar, Cost::Free).no_gradient();
    /// A mutable table of tensors of one shape.
    MutableHashTableOfTensorsV2
        "!-> table_handle:resource; container:string='' key_dtype:type shared_name:string='' \
         use_node_name_sharing:bool=false value_dtype:type value_shape:shape=[]"
        => state(Effect::Allocate, rules::scalar, Cost::Free).no_gradient();
    /// A mutable table.
    MutableHashTableV2
        "!-> table_handle:resource; container:string='' key_dtype:type shared_name:string='' \
         use_node_name_sharing:bool=false value_dtype:type"
        => state(Effect::Allocate, rules::scalar, Cost::Free).no_gradient();
    /// A table initialized with the lines of a text.
    _InitializeTableFromText
        "!table_handle:resource text:string ->; delimiter:string='\\t' key_index:int offset:int=0 \
         value_index:int vocab_size:int=-1"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// A table that is initialized once, by reference.
    HashTable
        "!-> table_handle:Ref(string); container:string='' key_dtype:type shared_name:string='' \
         use_node_name_sharing:bool=false value_dtype:type"
        => state(Effect::Allocate, rules::scalar, Cost::Free).no_gradient();
    /// A table initialized with keys and values, by reference.
    InitializeTable "table_handle:Ref(string) keys:Tkey values:Tval ->; Tkey:type Tval:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// All keys and values of a table, in the order of the keys, by reference.
    LookupTableExport "table_handle:Ref(string) -> keys:Tkeys values:Tvalues; Tkeys:type Tvalues:type"
        => state(Effect::Read, rules::unknown, Cost::Moves).no_gradient();
    /// The values of keys in a table, by reference, and a default value for missing keys.
    LookupTableFind
        "table_handle:Ref(string) keys:Tin default_value:Tout -> values:Tout; Tin:type Tout:type"
        => state(Effect::Read, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// All entries of a table replaced by keys and values, by reference.
    LookupTableImport "table_handle:Ref(string) keys:Tin values:Tout ->; Tin:type Tout:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// Keys and values added to a table, by reference.
    LookupTableInsert "table_handle:Ref(string) keys:Tin values:Tout ->; Tin:type Tout:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(8)).no_gradient();
    /// The number of keys of a table, by reference.
    LookupTableSize "table_handle:Ref(string) -> size:int64"
        => state(Effect::Read, rules::scalar, Cost::Moves).no_gradient();
    /// A mutable table, by reference.
    MutableHashTable
        "!-> table_handle:Ref(string); container:string='' key_dtype:type shared_name:string='' \
         use_node_name_sharing:bool=false value_dtype:type"
        => state(Effect::Allocate, rules::scalar, Cost::Free).no_gradient();
    /// A mutable table of tensors of one shape, by reference.
    MutableHashTableOfTensors
        "!-> table_handle:Ref(string); container:string='' key_dtype:type shared_name:string='' \
         use_node_name_sharing:bool=false value_dtype:type value_shape:shape=[]"
        => state(Effect::Allocate, rules::scalar, Cost::Free).no_gradient();
}
