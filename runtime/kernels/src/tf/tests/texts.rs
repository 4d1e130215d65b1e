//! Strings that are refused, and any bytes at all. TensorFlow's results are in `testdata/graphdefs`.

use std::sync::Arc;

use befrost_host::queue::SingleThreaded;
use befrost_kernel_api::context::Request;
use befrost_kernel_api::{ExecContext, Value};
use befrost_tensor::mem::{Limited, Malloc};

use super::super::strings::{strings, strings_in};
use super::super::tables::ActionMaker;
use super::{Caller, context, required, rows, text, texts, value};
use befrost_kernel_api::error::ErrorCode;
use befrost_tensor::Shape;
use befrost_tensor::tf::op::Attributes;

fn refused(op: &str, more: &[(&'static str, &'static str)], operands: &[Value], words: &str) {
    let error = Caller(context()).with(op, more, operands).err().unwrap_or_else(|| panic!("{op} accepts it"));
    assert!(error.to_string().contains(words), "{op}: {error}");
}

fn vector(all: &[&[u8]]) -> Value {
    strings(&Shape::new(&[all.len()]).unwrap(), all, &Malloc::shared()).unwrap()
}

fn found(value: &Value) -> Vec<Vec<u8>> {
    strings_in(value).unwrap().read().unwrap().iter().map(<[u8]>::to_vec).collect()
}

#[test]
fn joins_that_do_not_fit_are_refused() {
    let x = || texts(&["a", "b"]);
    let reduce = |axes, words| refused("ReduceJoin", &[], &[x(), value(axes)], words);
    reduce("i32[1]:1", "there is no axis 1 of 1");
    reduce("i32[1]:-2", "there is no axis -2 of 1");
    reduce("i32[2]:0,-1", "axis -1 occurs twice");
    let segments = |ids, n, words| {
        refused("UnsortedSegmentJoin", &[], &[x(), value(ids), value(n)], words);
    };
    segments("i32[2]:0,3", "i32:3", "segment id 3 of 3 segments");
    segments("i32[2]:0,-1", "i32:3", "segment id -1 of 3 segments");
    segments("i32[1]:0", "i32:3", "segment ids of shape [1] for strings of shape [2]");
    segments("i32:0", "i32:3", "segment ids of shape []");
    segments("i32[2]:0,0", "i32:-1", "-1 segments");
    segments("i32[2]:0,0", "i32[1]:1", "must be a scalar");
    let grams = |splits, words| refused("StringNGrams", &[], &[x(), value(splits)], words);
    grams("i64[2]:1,2", "the first split is 1");
    grams("i64[2]:0,1", "the last split is 1, expected 2");
    grams("i64[4]:0,2,1,2", "fall");
}

/// Each of them would take more memory than there is, or than a caller allows.
#[test]
fn long_results_are_refused_before_they_are_made() {
    let small = Arc::new(Limited::new(Malloc::shared(), 1 << 20));
    let mut request = Request::new(SingleThreaded::new());
    request.allocator = small;
    let c = Caller(ExecContext::new(Arc::new(request)));
    let x = texts(&["a", "b"]);
    let wide = [("ngram_widths", "4611686018427387904"), ("pad_width", "-1"), ("left_pad", "pad")];
    let splits = value("i64[2]:0,2");
    assert!(c.with("StringNGrams", &wide, &[x.clone(), splits.clone()]).is_err());
    let wide = [("ngram_widths", "1000000"), ("pad_width", "-1"), ("left_pad", ""), ("separator", "")];
    assert!(c.with("StringNGrams", &wide, &[x.clone(), splits]).is_err());
    let segments = [x, value("i32[2]:0,1"), value("i64:4611686018427387904")];
    assert!(c.with("UnsortedSegmentJoin", &[], &segments).is_err());
    // A megabyte of zeros in 1 KB, compressed again and again.
    let mut bomb = vec![0; 8 << 20];
    for _ in 0..2 {
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut packed, &bomb).unwrap();
        bomb = packed.finish().unwrap();
    }
    let zlib = [("compression_type", "ZLIB")];
    let once = c.with("DecodeCompressed", &zlib, &[vector(&[&bomb])]).unwrap();
    assert!(c.with("DecodeCompressed", &zlib, &once).is_err());
}

#[test]
fn forms_that_are_not_well_formed_are_refused() {
    for code in ["Y", "YQ=", "YQ===", "Y Q", "//79", "====", "=", "YWI==", "YWJjYQ==YWJj"] {
        refused("DecodeBase64", &[], &[text(code)], "DecodeBase64");
    }
    let zlib = [("compression_type", "ZLIB")];
    refused("DecodeCompressed", &zlib, &[text("abc")], "DecodeCompressed");
    refused("DecodeCompressed", &[("compression_type", "GZIP")], &[text("abcdefghijkl")], "DecodeCompressed");
    let raw = |len, words| refused("DecodePaddedRaw", &[], &[texts(&["abc"]), value(len)], words);
    raw("i32:3", "fixed_length is 3, expected a multiple of 4");
    raw("i32:0", "fixed_length is 0");
    raw("i32:-4", "fixed_length is -4");
    raw("i32[1]:4", "must be a scalar");
    refused("StringToHashBucket", &[], &[value("f32:1")], "expected strings");
}

#[test]
fn records_are_refused_with_their_fields() {
    let csv = |record, more: &[(&'static str, &'static str)], words| {
        refused("DecodeCSV", more, &[texts(&[record]), value("f32[1]:1")], words);
    };
    csv("1,2", &[], "expected 1 fields but have 2 in record 0");
    csv("", &[], "expected 1 fields but have 0 in record 0");
    csv("x", &[], "field 0 in record 0 is not a valid f32: x");
    csv("1\"", &[], "unquoted fields cannot have quotes");
    csv("1\r", &[], "unquoted fields cannot have quotes or line breaks");
    csv("\"1", &[], "has to end with a quote");
    csv("\"1\"x", &[], "has to be escaped");
    csv("\"1\"\"", &[], "has to end with a quote");
    csv("1", &[("select_cols", "3")], "expected 1 fields but have 0");
    let required = [texts(&[""]), value("f32[0]:")];
    refused("DecodeCSV", &[], &[texts(&["\"\""]), required[1].clone()], "field 0 is required but missing");
    refused("DecodeCSV", &[], &[texts(&["1"]), value("f32[2]:1,2")], "a default of shape [2]");
    refused("DecodeCSV", &[], &[texts(&["1"])], "1 operands for 1 columns");
}

#[test]
fn text_that_is_not_well_formed_is_refused_where_it_must_be() {
    let strict = [("errors", "strict")];
    for op in ["UnicodeDecode", "UnicodeDecodeWithOffsets", "UnicodeTranscode"] {
        refused(op, &strict, &[vector(&[b"a\xff"])], "invalid formatting");
        assert!(Caller(context()).with(op, &strict, &[texts(&["\u{e9}"])]).is_ok());
    }
    refused("UnicodeEncode", &strict, &[value("i32[1]:55296"), value("i64[2]:0,1")], "invalid formatting");
    let splits = |splits, words| refused("UnicodeEncode", &[], &[value("i32[1]:97"), value(splits)], words);
    splits("i64[0]:", "input_splits are empty");
    splits("i64[2]:0,2", "the last split is 2, expected 1");
    splits("i64[1]:1", "the first split is 1");
}

/// Bytes are refused or decoded, and what is encoded is decoded to the same.
#[test]
fn any_bytes_are_answered() {
    let c = Caller(context());
    let mut state = 7u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let special = b",\"\n=-_AQ\xff\xfe\x00\xd8\xdc\xe0\xf0\x80\x1f\x8b\x78\x9c";
    for _ in 0..400 {
        let text: Vec<u8> = (0..next(24))
            .map(|_| if next(2) == 0 { special[next(special.len())] } else { next(256) as u8 })
            .collect();
        let x = vector(&[&text]);
        for pad in ["false", "true"] {
            let code = c.with("EncodeBase64", &[("pad", pad)], std::slice::from_ref(&x)).unwrap();
            assert_eq!(found(&c.with("DecodeBase64", &[], &code).unwrap()[0]), [&text[..]]);
        }
        for encoding in ["UTF-8", "UTF-16", "UTF-16LE", "UTF-32", "ASCII", "latin1"] {
            let from = [("input_encoding", encoding)];
            let decoded = c.with("UnicodeDecode", &from, std::slice::from_ref(&x)).unwrap();
            let texts = c.with("UnicodeEncode", &[], &[decoded[1].clone(), decoded[0].clone()]).unwrap();
            let at_once = c.with("UnicodeTranscode", &from, std::slice::from_ref(&x)).unwrap();
            assert_eq!(found(&texts[0]), found(&at_once[0]), "{encoding} {text:?}");
        }
        for (op, attr) in [("DecodeBase64", ""), ("DecodeCompressed", "ZLIB"), ("DecodeCompressed", "GZIP")] {
            if let Err(error) = c.with(op, &[("compression_type", attr)], std::slice::from_ref(&x)) {
                assert!(error.to_string().len() > 10);
            }
        }
        if let Err(error) = c.with("DecodeCSV", &[], &[x, value("f32[1]:1")]) {
            assert!(error.to_string().contains("DecodeCSV"), "{error}");
        }
    }
}

#[test]
fn messages_of_tensors_are_refused_or_read() {
    let c = Caller(context());
    let parse = |ty, bytes: &[u8]| {
        let message = strings(&Shape::scalar(), &[bytes], &Malloc::shared()).unwrap();
        c.with("ParseTensor", &[("out_type", ty)], &[message])
    };
    let message = c.with("SerializeTensor", &[], &[value("f32[2]:1,2")]).unwrap();
    let bytes = found(&message[0]).remove(0);
    assert_eq!(super::shown(&parse("f32", &bytes).unwrap()[0]), super::shown(&value("f32[2]:1,2")));
    assert!(parse("f64", &bytes).err().unwrap().to_string().contains("is of type f32, expected f64"));
    refused("ParseTensor", &[], &[vector(&[&bytes])], "expected a scalar");
    for wrong in
        [&b""[..], b"\xff\xff", b"\x08\x01\x12\x0d\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]
    {
        assert!(parse("f32", wrong).is_err(), "{wrong:?}");
    }
    // Any changed byte.
    for at in 0..bytes.len() {
        for byte in [0, 1, 2, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = byte;
            if let Err(error) = parse("f32", &changed) {
                assert!(error.to_string().len() > 10);
            }
        }
        assert_eq!(parse("f32", &bytes[..at]).is_ok(), [2, 8].contains(&at), "{at}");
    }
}

#[test]
fn lists_of_features_that_do_not_fit_are_refused() {
    // { feature_lists: { feature_list: { key: "d", value: FEATURES } } }
    let lists = |features: &[u8]| {
        let value = [&[0x12, features.len() as u8], features].concat();
        let entry = [&[0x0a, 1, b'd'], &value[..]].concat();
        let list = [&[0x0a, entry.len() as u8], &entry[..]].concat();
        [&[0x12, list.len() as u8], &list[..]].concat()
    };
    let floats =
        |n: u8| [&[0x0a, 4 + 4 * n, 0x12, 2 + 4 * n, 0x0a, 4 * n], &vec![0; 4 * usize::from(n)][..]].concat();
    let parse = |features: &[u8], more: &[(&'static str, &'static str)]| {
        let operands = [vector(&[&lists(features)]), texts(&[]), value("f32[2]:1,2")];
        Caller(context()).with("ParseSequenceExample", more, &operands)
    };
    let results = parse(&floats(2), &[]).unwrap();
    assert_eq!(super::shown(&results[7]), super::shown(&value("f32[1x1x2]:0,0")));
    let wrong = |features: &[u8], more, words| {
        let error = parse(features, more).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    wrong(&floats(1), &[], "list `d`: 1 values for the shape [2]");
    wrong(&[0x0a, 4, 0x1a, 2, 0x08, 1], &[], "data types don't match: int64, expected float");
    wrong(&[0x0a, 9], &[], "no valid message");
    let renamed = [("feature_list_dense_keys", "e"), ("feature_list_dense_missing_assumed_empty", "x")];
    wrong(&floats(2), &renamed, "list `e`: it is required but could not be found");
    let same = [("feature_list_dense_keys", "s"), ("feature_list_dense_missing_assumed_empty", "s")];
    wrong(&floats(2), &same, "two lists of features have one name");
}

#[test]
fn operators_on_strings_stop_when_cancelled() {
    let cancelled = Caller(context());
    cancelled.0.request.cancellation.cancel();
    let all = texts(&["1", "b"]);
    let width = value("i32:3");
    for (op, operands) in [
        ("StringToNumber", vec![&all]),
        ("StringLower", vec![&all]),
        ("StringLength", vec![&all]),
        ("StringJoin", vec![&all, &all]),
        ("Substr", vec![&all, &width, &width]),
        ("StringSplitV2", vec![&all, &text(" ")]),
        ("RegexFullMatch", vec![&all, &text("a")]),
        ("DecodeBase64", vec![&all]),
        ("UnicodeScript", vec![&value("i32[2]:65,66")]),
    ] {
        assert_eq!(cancelled.error(op, &operands).code(), ErrorCode::Cancelled, "{op}");
    }
    // Whatever was not computed is missed by nobody.
    for row in rows().filter(|row| ActionMaker::of(row.op.unwrap()).is_some()) {
        let signature = row.signature();
        let given = required(signature);
        let action = ActionMaker::of(row.op.unwrap()).unwrap().make(&Attributes::new(signature, &given));
        let operands = vec![&all; signature.inputs.len()];
        _ = action.unwrap().call(&operands, &cancelled.0);
    }
}
