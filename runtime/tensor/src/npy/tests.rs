//! Tests of the reader and the writer: hand-made, written and malformed files.

use proptest::prelude::*;

use super::*;
use crate::mem::{Allocator, Limited, Malloc};
use crate::{HostTensor, Shape, print};

fn file(version: u8, header: &str, elements: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([version, 0]);
    let len = header.len() as u32;
    bytes.extend(&len.to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
    bytes.extend(header.as_bytes());
    bytes.extend(elements);
    bytes
}

fn check(bytes: &[u8], want: &str) {
    let got = match parse(bytes, &Malloc::shared()) {
        Ok(t) => print::tensor(&t).unwrap(),
        Err(error) => format!("error: {error}"),
    };
    assert!(got.contains(want), "got {got}, want {want}");
}

fn header(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}   \n")
}

#[test]
fn versions_orders_and_types() {
    let le = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0];
    let be = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6];
    for version in 1..=3 {
        check(
            &file(version, &header("<i2", "False", "(2, 3)"), &le),
            "i16, shape = [2, 3], values = [1, 2, 3, 4, 5, 6]",
        );
    }
    check(&file(1, &header(">i2", "False", "(2, 3)"), &be), "values = [1, 2, 3, 4, 5, 6]");
    check(
        &file(1, &header("<u2", "True", "(2, 3)"), &le),
        "ui16, shape = [2, 3], values = [1, 3, 5, 2, 4, 6]",
    );
    check(
        &file(1, &header(">u2", "True", "(1, 3, 2)"), &be),
        "shape = [1, 3, 2], values = [1, 4, 2, 5, 3, 6]",
    );
    check(&file(1, &header("|b1", "False", "(3,)"), &[0, 1, 7]), "i1, shape = [3], values = [0, 1, 1]");
    check(&file(1, &header("<f2", "False", "()"), &[0, 0x3c]), "f16, shape = [], values = [fp16(15360)]");
    check(&file(1, &header("<f4", "False", "(0, 5)"), &[]), "f32, shape = [0, 5], values = []");
    check(&file(1, &header("<f4", "True", "(5, 0)"), &[]), "f32, shape = [5, 0], values = []");
    let z: Vec<u8> = [1.0f32, 2.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    check(
        &file(1, &header(">c8", "False", "(1,)"), &z),
        "complex64, shape = [1], values = [(1.000000e+00,2.000000e+00)]",
    );
    check(
        &file(1, "{\"shape\":(1L,),\"fortran_order\":False,\"descr\":\"|u1\"}", &[9]),
        "ui8, shape = [1], values = [9]",
    );
}

#[test]
fn bad_headers_are_located() {
    let bad = |header: &str, want: &str| check(&file(1, header, &[0; 4]), want);
    bad("", "bad .npy header at byte 10: expected `{`");
    bad("{", "at byte 11: expected a string");
    bad("{}", "`descr` is missing");
    bad("{'descr': '<f4'}", "`fortran_order` is missing");
    bad("{'descr': '<f4', 'fortran_order': False}", "`shape` is missing");
    bad("{'descr' '<f4'}", "at byte 19: expected `:`");
    bad("{'descr: }", "the string does not end");
    bad("{'color': 1}", "at byte 11: unknown key");
    bad("{'descr': '<f4', 'descr': '<f4'}", "the key occurs twice");
    bad(&header("<f4", "0", "(1,)"), "expected `True` or `False`");
    bad(&header("<f4", "False", "[1]"), "expected `(`");
    bad(&header("<f4", "False", "(-1,)"), "expected a dimension");
    bad(&header("<f4", "False", "(1 2)"), "expected `,` or `)`");
    bad(&header("<f4", "False", "(99999999999999999999999,)"), "the dimension is too large");
    bad(&header("<f4", "False", "(9999999999999, 9999999999999)"), "larger than the address space");
    bad(&header("<f8", "False", "(9223372036854775807,)"), "larger than the address space");
    bad(&format!("{}x", header("<f4", "False", "(1,)")), "something follows the dictionary");
    bad(&header("<f4", "False", &format!("({})", "1,".repeat(65))), "a tensor of rank 65");
}

#[test]
fn foreign_types_are_refused() {
    let refused = |descr: &str, want: &str| check(&file(1, &header(descr, "False", "(1,)"), &[0; 8]), want);
    refused("|O", "dtype `|O`: arrays of Python objects are pickles, which are never loaded");
    refused("<U2", "expected numbers, got strings");
    refused("|S", "dtype `|S`: not a length of strings");
    refused("|S0", "not a length of strings");
    refused("<U4611686018427387904", "not a length of strings");
    refused("|S9999999999999999999999999", "unknown element type");
    refused("<M8[ns]", "dates and times");
    refused("|V2", "records");
    refused("<f16", "unknown element type");
    refused("", "unknown element type");
    refused("|f4", "the byte order is missing");
    let record = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}";
    check(&file(1, record, &[0; 4]), "records are not supported");
}

/// The strings of a file, as they are printed.
fn strings(bytes: &[u8]) -> String {
    match parse_array(bytes, &Malloc::shared()) {
        Ok(Array::Strings(strings)) => print::strings(&strings).unwrap(),
        Ok(Array::Numbers(tensor)) => print::tensor(&tensor).unwrap(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn strings_of_bytes_and_of_characters() {
    let read = |descr: &str, fortran: &str, shape: &str, elements: &[u8]| {
        strings(&file(1, &header(descr, fortran, shape), elements))
    };
    let want = r#"StringHostTensor shape = [2, 2], values = ["ab", "", "\00c", "d"]"#;
    assert_eq!(read("|S2", "False", "(2, 2)", b"ab\0\0\0cd\0"), want);
    assert_eq!(read("|a2", "False", "(2, 2)", b"ab\0\0\0cd\0"), want);
    assert_eq!(read("|S2", "True", "(2, 2)", b"ab\0c\0\0d\0"), want);
    let text: Vec<u8> = "aé日𝄞".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let want = r#"StringHostTensor shape = [2], values = ["a\C3\A9", "\E6\97\A5\F0\9D\84\9E"]"#;
    assert_eq!(read("<U2", "False", "(2,)", &text), want);
    let swapped: Vec<u8> = text.as_chunks::<4>().0.iter().flat_map(|c| c.iter().rev().copied()).collect();
    assert_eq!(read(">U2", "False", "(2,)", &swapped), want);
    assert_eq!(read("|S5", "False", "(0, 3)", b""), "StringHostTensor shape = [0, 3], values = []");
    assert_eq!(
        read("<U1", "False", "(1,)", &0xd800u32.to_le_bytes()),
        "error: a string in the .npy file has a character that is not Unicode"
    );
    // A claimed size of 4 TB allocates nothing.
    let huge = read("|S4", "False", "(1099511627776,)", &[0; 4]);
    assert!(huge.contains("4398046511104 bytes of elements expected, 4 found"), "{huge}");
    let huge = read("|S9999999999", "False", "(9999999999,)", &[0; 4]);
    assert!(huge.contains("larger than the address space"), "{huge}");
}

#[test]
fn strings_that_are_written_are_read() {
    let malloc: std::sync::Arc<dyn Allocator> = Malloc::shared();
    let written = |dims: &[usize], texts: &[&[u8]]| {
        let strings = crate::StringTensor::new(Shape::new(dims).unwrap(), texts, &malloc).unwrap();
        strings_to_bytes(&strings).map(|bytes| (strings, bytes))
    };
    for (dims, texts) in [
        (&[2, 2][..], &[&b"one"[..], b"", b"\0two", b"\xff"][..]),
        (&[0, 3], &[]),
        (&[], &[b"scalar"]),
        (&[1], &[b""]),
    ] {
        let (strings, bytes) = written(dims, texts).unwrap();
        let Ok(Array::Strings(again)) = parse_array(&bytes, &malloc) else { panic!("no strings") };
        assert!(crate::compare::compare_strings(&again, &strings).unwrap().is_match(), "{texts:?}");
    }
    assert!(matches!(written(&[1], &[b"a\0"]), Err(NpyError::EndsInZero)));
    let (one, _) = written(&[2], &[b"a", b"b"]).unwrap();
    let (other, _) = written(&[2], &[b"a", b"c"]).unwrap();
    let report = crate::compare::compare_strings(&one, &other).unwrap().to_string();
    assert!(report.contains(r#"1 of 2 elements differ; worst at [1]: got "b", want "c""#), "{report}");
    let (scalar, _) = written(&[], &[b"a"]).unwrap();
    assert!(crate::compare::compare_strings(&one, &scalar).is_err());
}

#[test]
fn broken_files_are_refused() {
    check(b"", "not a .npy file");
    check(b"PK\x03\x04 something else", "not a .npy file");
    check(b"\x93NUMPY", "ends in its header");
    check(b"\x93NUMPY\x01", "ends in its header");
    check(b"\x93NUMPY\x04\x00\x00\x00", "version 4.0 is unknown");
    check(b"\x93NUMPY\x01\x00\x10", "ends in its header");
    check(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f", "a .npy header of 2147483647 bytes is refused");
    check(
        &file(1, &header("<f4", "False", "(2,)"), &[0; 7]),
        "truncated: 8 bytes of elements expected, 7 found",
    );
    check(&file(1, &header("<f4", "False", "(2,)"), &[0; 9]), "bytes after its array");
    // A claimed size of 4 TB allocates nothing.
    check(
        &file(1, &header("<f4", "False", "(1099511627776,)"), &[0; 4]),
        "4398046511104 bytes of elements expected, 4 found",
    );
}

#[test]
fn no_memory_is_an_error() {
    let small: std::sync::Arc<dyn Allocator> = std::sync::Arc::new(Limited::new(Malloc::shared(), 100));
    let bytes = file(1, &header("|u1", "False", "(200,)"), &[0; 200]);
    assert!(matches!(parse(&bytes, &small), Err(NpyError::Tensor(TensorError::Alloc(_)))));
}

#[test]
fn bf16_cannot_be_written() {
    let t = HostTensor::zeros(DType::BF16, Shape::scalar(), &Malloc::shared()).unwrap();
    assert!(matches!(to_bytes(&t), Err(NpyError::Unwritable(DType::BF16))));
}

proptest! {
    #[test]
    fn written_text_is_read(
        dtype in prop::sample::select(&DType::ALL[..]),
        dims in prop::collection::vec(0usize..5, 0..5),
        seed in any::<u8>(),
    ) {
        prop_assume!(dtype != DType::BF16);
        let malloc = Malloc::shared();
        let t = HostTensor::zeros(dtype, Shape::new(&dims).unwrap(), &malloc).unwrap();
        for (i, b) in t.write_bytes().unwrap().iter_mut().enumerate() {
            *b = if dtype == DType::I1 { (i % 2) as u8 } else { seed.wrapping_mul(31).wrapping_add(i as u8) };
        }
        let bytes = to_bytes(&t).unwrap();
        prop_assert_eq!((bytes.len() - t.read_bytes().unwrap().len()) % 64, 0);
        let back = parse(&bytes, &malloc).unwrap();
        prop_assert_eq!((back.dtype(), back.shape()), (t.dtype(), t.shape()));
        prop_assert_eq!(&*back.read_bytes().unwrap(), &*t.read_bytes().unwrap());
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        flips in prop::collection::vec((0usize..200, any::<u8>()), 1..6),
        cut in 0usize..300,
    ) {
        let mut bytes = file(1, &header("<f4", "True", "(3, 4)"), &[7; 48]);
        let n = bytes.len();
        for (at, byte) in flips {
            bytes[at % n] = byte;
        }
        bytes.truncate(cut);
        let _ = parse(&bytes, &Malloc::shared());
    }
}
