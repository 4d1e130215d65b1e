//! Tests with tables that are written here. The importer's tests read tables that TensorFlow wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::slice::Slice;
use super::table::masked;
use super::*;
use crate::DType;

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A block with a restart at its beginning only.
fn block(entries: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
    let (mut block, mut last): (Vec<u8>, &[u8]) = (Vec::new(), b"");
    for (key, value) in entries {
        let shared = key.iter().zip(last).take_while(|(a, b)| a == b).count();
        for n in [shared, key.len() - shared, value.len()] {
            block.extend(varint(n as u64));
        }
        block.extend(&key[shared..]);
        block.extend(value);
        last = key;
    }
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

/// A table of one block for each of `parts`.
fn table(parts: &[BTreeMap<Vec<u8>, Vec<u8>>], snappy: bool) -> Vec<u8> {
    table_with(parts, snappy, &mut |_| {})
}

/// A table whose blocks are changed before their checksums are computed.
fn table_with(
    parts: &[BTreeMap<Vec<u8>, Vec<u8>>],
    snappy: bool,
    change: &mut dyn FnMut(&mut Vec<u8>),
) -> Vec<u8> {
    let (mut file, mut index) = (Vec::new(), BTreeMap::new());
    let mut add = |file: &mut Vec<u8>, mut block: Vec<u8>| {
        change(&mut block);
        let stored = if snappy { snap::raw::Encoder::new().compress_vec(&block).unwrap() } else { block };
        let handle = [varint(file.len() as u64), varint(stored.len() as u64)].concat();
        let kept = [stored, vec![u8::from(snappy)]].concat();
        let crc = masked(crc32c::crc32c(&kept));
        file.extend(kept);
        file.extend(crc.to_le_bytes());
        handle
    };
    for part in parts {
        let last = part.last_key_value().unwrap().0.clone();
        index.insert(last, add(&mut file, block(part)));
    }
    let meta = add(&mut file, block(&BTreeMap::new()));
    let index = add(&mut file, block(&index));
    let mut footer = [meta, index].concat();
    footer.resize(40, 0);
    file.extend(footer);
    file.extend(0xdb47_7524_8b80_fb57u64.to_le_bytes());
    file
}

fn field(number: u64, value: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

fn number(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

fn shape(dims: &[u64]) -> Vec<u8> {
    field(2, &dims.iter().flat_map(|&dim| field(2, &number(1, dim))).collect::<Vec<_>>())
}

fn entry(code: u64, dims: &[u64], at: usize, bytes: &[u8], crc: u32) -> Vec<u8> {
    let crc = [varint(6 << 3 | 5), crc.to_le_bytes().to_vec()].concat();
    let place = [number(4, at as u64), number(5, bytes.len() as u64)].concat();
    [number(1, code), shape(dims), place, crc].concat()
}

/// A bundle in memory: the entries' keys, types, shapes and bytes.
#[derive(Default)]
struct Files {
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
    data: Vec<u8>,
}

impl Files {
    fn add(&mut self, key: &[u8], code: u64, dims: &[u64], bytes: &[u8]) {
        let crc = masked(crc32c::crc32c(bytes));
        self.entries.insert(key.to_vec(), entry(code, dims, self.data.len(), bytes, crc));
        self.data.extend(bytes);
    }

    fn open(&self, snappy: bool) -> Result<Bundle, BundleError> {
        let header = BTreeMap::from([(Vec::new(), number(1, 1))]);
        let index = table(&[header, self.entries.clone()], snappy);
        Bundle::open("v", &mut |name| match name {
            "v.index" => Ok(index.clone().into()),
            "v.data-00000-of-00001" => Ok(self.data.clone().into()),
            name => Err(format!("no file {name}")),
        })
    }
}

fn error(found: Result<BundleTensor, BundleError>) -> String {
    found.unwrap_err().to_string()
}

#[test]
fn tensors_are_read_and_share_their_shard() {
    let mut files = Files::default();
    files.add(b"layer/bias", 3, &[2], &[1, 0, 0, 0, 2, 0, 0, 0]);
    files.add(b"layer/flags", 10, &[3], &[0, 1, 7]);
    files.add(b"layer/half", 14, &[2, 1], &[0x80, 0x3f, 0, 0x40]);
    files.add(b"nothing", 1, &[0, 4], &[]);
    for snappy in [false, true] {
        let bundle = files.open(snappy).unwrap();
        let names: Vec<&str> = bundle.tensors().map(|(name, _)| name).collect();
        assert_eq!(names, ["layer/bias", "layer/flags", "layer/half", "nothing"]);
        let bias = bundle.read("layer/bias", "").unwrap();
        assert_eq!((bias.ty, &bias.dims[..]), (Type::Dense(DType::I32), &[2][..]));
        let BundleData::Dense(bytes) = &bias.data else { panic!("{bias:?}") };
        assert!(matches!(&bundle.shards[0], BundleFile::Memory(shard) if shard.as_ptr() == bytes.as_ptr()));
        let flags = bundle.read("layer/flags", "").unwrap();
        assert_eq!(flags.data, BundleData::Dense(Bytes::from_static(&[0, 1, 1])));
        assert_eq!(bundle.read("layer/half", "").unwrap().ty, Type::Dense(DType::BF16));
        let part = bundle.read("layer/bias", "2 1,1").unwrap();
        assert_eq!(part.data, BundleData::Dense(Bytes::from_static(&[2, 0, 0, 0])));
        assert!(error(bundle.read("layer/bias", "2 2,1")).contains("it has no slice 2,1, its shape is [2]"));
        assert!(error(bundle.read("layer/bias", "3 0,1")).contains("its shape is [2], not [3]"));
        assert!(error(bundle.read("layer/bias", "2 x")).contains("specifies no slice"));
        assert!(error(bundle.read("other", "")).contains("v: tensor 'other': there is no such tensor"));
    }
}

#[test]
fn strings_have_checksums_of_their_lengths_and_texts() {
    let lengths = crc32c::crc32c_append(crc32c::crc32c(&3u32.to_le_bytes()), &0u32.to_le_bytes());
    let stored = masked(lengths).to_le_bytes();
    let bytes = [&[3, 0][..], &stored, b"a\xffc"].concat();
    let crc = masked(crc32c::crc32c_append(crc32c::crc32c_append(lengths, &stored), b"a\xffc"));
    let mut files = Files { data: bytes.clone(), ..Files::default() };
    files.entries.insert(b"s".to_vec(), entry(7, &[2], 0, &bytes, crc));
    let strings = files.open(false).unwrap().read("s", "").unwrap();
    let texts = [&b"a\xffc"[..], b""].map(Bytes::from_static).to_vec();
    assert_eq!(strings.data, BundleData::Strings(texts));
    for at in 0..bytes.len() {
        files.data = bytes.clone();
        files.data[at] ^= 1;
        let why = error(files.open(false).unwrap().read("s", ""));
        assert!(why.contains("checksum") || why.contains("2 strings are more than its"), "{why}");
    }
}

#[test]
fn slices_are_put_together() {
    let mut files = Files::default();
    let extent = |start, length| [number(1, start), number(2, length)].concat();
    let whole = field(1, &[]);
    let slices =
        [(0, 1), (1, 3)].map(|(start, length)| [field(1, &extent(start, length)), whole.clone()].concat());
    let [top, rest] = [0, 1].map(|i| Slice::decode(&slices[i], &[4, 3]).unwrap().key(b"w"));
    let slices = slices.map(|slice| field(7, &slice));
    files.entries.insert(b"w".to_vec(), [number(1, 4), shape(&[4, 3]), slices.concat()].concat());
    files.add(&rest, 4, &[3, 3], &[3, 4, 5, 6, 7, 8, 9, 10, 11]);
    files.add(&top, 4, &[1, 3], &[0, 1, 2]);
    let bundle = files.open(false).unwrap();
    let read = |slice| match bundle.read("w", slice).unwrap().data {
        BundleData::Dense(bytes) => bytes.to_vec(),
        strings => panic!("{strings:?}"),
    };
    assert_eq!(read(""), (0..12).collect::<Vec<u8>>());
    assert_eq!(read("4 3 1,3:-"), (3..12).collect::<Vec<u8>>());
    assert_eq!(read("4 3 0,2:1,2"), [1, 2, 4, 5]);
    assert_eq!(
        bundle.tensors().map(|(name, entry)| (name, entry.n_bytes())).collect::<Vec<_>>(),
        [("w", 12)]
    );
    files.entries.remove(&top);
    assert!(error(files.open(false).unwrap().read("w", "")).contains("its slice 0,1:0,3 is missing"));
}

/// Keys that TensorFlow wrote for slices of a variable.
#[test]
fn keys_of_slices() {
    let key = |extents: &[(u64, Option<u64>)], dims: &[usize]| {
        let extent = |&(start, length): &(u64, Option<u64>)| {
            field(1, &[number(1, start), length.map_or(Vec::new(), |length| number(2, length))].concat())
        };
        let slice: Vec<u8> = extents.iter().flat_map(extent).collect();
        Slice::decode(&slice, dims).unwrap().key(b"v")
    };
    assert_eq!(key(&[(0, Some(4))], &[10]), b"\0v\0\x01\x01\x01\x80\x84");
    assert_eq!(key(&[(100, Some(200))], &[300]), b"\0v\0\x01\x01\x01\xc0\x64\xc0\xc8");
    assert_eq!(key(&[(0, None), (3, Some(6))], &[9, 9]), b"\0v\0\x01\x01\x02\x80\x7f\x83\x86");
    assert_eq!(key(&[(2, Some(2)), (0, Some(5))], &[6, 5]), b"\0v\0\x01\x01\x02\x82\x82\x80\x85");
}

#[test]
fn false_claims_are_refused() {
    let mut files = Files::default();
    files.add(b"a", 1, &[2], &[0; 8]);
    files.add(b"b", 1, &[2], &[0; 8]);
    let check = |key: &[u8], value: Vec<u8>, want: &str| {
        let mut files = Files { entries: files.entries.clone(), data: files.data.clone() };
        files.entries.insert(key.to_vec(), value);
        let why = match files.open(false) {
            Err(error) => error.to_string(),
            Ok(bundle) => error(bundle.read(std::str::from_utf8(key).unwrap(), "")),
        };
        assert!(why.contains(want), "{why}");
    };
    check(
        b"b",
        entry(1, &[2], 9, &[0; 8], 0),
        "v.index: tensor 'b': bytes 9 to 9+8 are not in its shard of 16",
    );
    check(b"b", entry(1, &[2], 4, &[0; 8], 0), "its bytes overlap those of 'a'");
    check(b"b", entry(1, &[2], 8, &[0; 8], 0), "v: tensor 'b': its checksum is");
    check(b"b", entry(1, &[3], 8, &[0; 8], 0), "3 elements of f32 in 8 bytes");
    check(b"b", entry(1, &[1 << 40, 1 << 40], 8, &[0; 8], 0), "is too large");
    check(b"b", entry(1, &[u64::MAX], 8, &[0; 8], 0), "a size of its shape is negative");
    check(b"b", entry(99, &[2], 8, &[0; 8], 0), "99");
    check(b"b", b"\x0f".to_vec(), "its description is no valid message");
    check(b"b", [number(1, 1), number(3, 1)].concat(), "it is in shard 1 of 1");
    let bomb = [number(1, 1), shape(&[1 << 40]), field(7, &field(1, &[]))].concat();
    check(b"b", bomb, "its slice 0,1099511627776 is missing");
}

#[test]
fn every_damaged_index_is_refused() {
    let mut files = Files::default();
    files.add(b"a", 1, &[2], &[0; 8]);
    let header = BTreeMap::from([(Vec::new(), number(1, 1))]);
    let index = table(&[header, files.entries.clone()], false);
    let data = Bytes::from(files.data.clone());
    let read = |index: Vec<u8>| {
        let bundle = Bundle::open("v", &mut |name| {
            Ok(if name == "v.index" { index.clone().into() } else { data.clone().into() })
        })?;
        bundle.read("a", "")
    };
    assert!(read(index.clone()).is_ok());
    for n in 0..index.len() {
        assert!(read(index[..n].to_vec()).is_err(), "{n} bytes");
    }
    // The padding of the footer and the meta block are not read.
    let padding = index.len() - 48..index.len() - 8;
    let refused = (0..index.len()).filter(|at| !padding.contains(at)).filter(|&at| {
        let mut damaged = index.clone();
        damaged[at] ^= 0x41;
        read(damaged).is_err()
    });
    assert_eq!(refused.count(), index.len() - 40 - block(&BTreeMap::new()).len() - 5);
}

/// False descriptions with correct checksums: no panic, and no tensor larger than the files.
#[test]
fn damaged_blocks_do_no_harm() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut dice = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % n.max(1)
    };
    let mut files = Files::default();
    files.add(b"layer/bias", 3, &[2], &[1, 0, 0, 0, 2, 0, 0, 0]);
    files.add(b"layer/texts", 7, &[2], &[1, 1, 0, 0, 0, 0, b'a', b'b']);
    let slice = [field(1, &[number(1, 0), number(2, 1)].concat()), field(1, &[])].concat();
    let key = Slice::decode(&slice, &[1, 3]).unwrap().key(b"w");
    files.add(&key, 4, &[1, 3], &[1, 2, 3]);
    files.entries.insert(b"w".to_vec(), [number(1, 4), shape(&[1, 3]), field(7, &slice)].concat());
    let header = BTreeMap::from([(Vec::new(), number(1, 1))]);
    let mut n_opened = 0;
    for round in 0..20_000 {
        let damaged = dice(4);
        let mut n = 0;
        let index = table_with(&[header.clone(), files.entries.clone()], round % 8 == 0, &mut |block| {
            for _ in 0..if n == damaged { 1 + dice(3) } else { 0 } {
                let at = dice(block.len());
                match dice(4) {
                    0 => block[at] = dice(256) as u8,
                    1 => block[at] ^= 1 << dice(8),
                    2 => block.insert(at, dice(256) as u8),
                    _ => block[at] = 0xff,
                }
            }
            n += 1;
        });
        let bundle = Bundle::open("v", &mut |name| {
            Ok(if name == "v.index" { index.clone().into() } else { files.data.clone().into() })
        });
        let Ok(bundle) = bundle else { continue };
        n_opened += 1;
        for (name, _) in bundle.tensors() {
            if let Ok(tensor) = bundle.read(name, "") {
                let BundleData::Dense(bytes) = tensor.data else { continue };
                assert!(bytes.len() <= files.data.len());
            }
        }
    }
    assert!(n_opened > 1000, "{n_opened} were opened");
}

/// Everything written is read: numbers, strings, slices, two shards, and more keys than a block has.
#[test]
fn written_bundles_are_read() {
    let mut writer = BundleWriter::new(vec![Vec::new(), Vec::new()]);
    let f32s = Type::Dense(DType::F32);
    for i in 0..20_000u32 {
        let name = format!("layer_{i:05}/kernel");
        writer.add(&name, (i % 2) as usize, f32s, &[1, 2], Elements::Dense(&[i as u8; 8])).unwrap();
    }
    let texts: [&[u8]; 3] = [b"a", b"", &[0xff; 300]];
    writer.add("texts", 1, Type::String, &[3], Elements::Strings(&texts)).unwrap();
    writer.add("half", 0, Type::Dense(DType::BF16), &[], Elements::Dense(&[1, 2])).unwrap();
    writer.add("none", 0, f32s, &[0, 7], Elements::Dense(&[])).unwrap();
    let bytes: Vec<u8> = (0..12).collect();
    let ui8s = Type::Dense(DType::UI8);
    writer.add_slice("parts", 1, ui8s, &[4, 3], &[(2, 2), (0, 3)], Elements::Dense(&bytes[6..])).unwrap();
    writer.add_slice("parts", 0, ui8s, &[4, 3], &[(0, 2), (0, 3)], Elements::Dense(&bytes[..6])).unwrap();
    let refused = |result: std::io::Result<()>| result.unwrap_err().to_string();
    assert!(refused(writer.add("texts", 0, f32s, &[], Elements::Dense(&[0; 4]))).contains("written twice"));
    assert!(refused(writer.add("x", 0, f32s, &[2], Elements::Dense(&[0; 4]))).contains("do not fit"));
    let (shards, index) = writer.finish().unwrap();
    let bundle = Bundle::open("v", &mut |name| match name {
        "v.index" => Ok(index.clone().into()),
        "v.data-00000-of-00002" => Ok(shards[0].clone().into()),
        "v.data-00001-of-00002" => Ok(shards[1].clone().into()),
        name => Err(format!("no file {name}")),
    });
    let bundle = bundle.unwrap();
    assert_eq!(bundle.tensors().count(), 20_004);
    for i in 0..20_000u32 {
        let tensor = bundle.read(&format!("layer_{i:05}/kernel"), "").unwrap();
        assert_eq!(tensor.data, BundleData::Dense(vec![i as u8; 8].into()));
    }
    let strings = texts.map(Bytes::copy_from_slice).to_vec();
    assert_eq!(bundle.read("texts", "").unwrap().data, BundleData::Strings(strings));
    assert_eq!(bundle.read("half", "").unwrap().dims, [0usize; 0]);
    assert_eq!(bundle.read("none", "").unwrap().dims, [0, 7]);
    assert_eq!(bundle.read("parts", "").unwrap().data, BundleData::Dense(bytes.clone().into()));
    assert_eq!(
        bundle.read("parts", "4 3 1,2:-").unwrap().data,
        BundleData::Dense(bytes[3..9].to_vec().into())
    );
}

/// The prefixes of the bundles in a folder and those below.
fn prefixes(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            prefixes(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "index") {
            found.push(path.with_extension(""));
        }
    }
}

/// The bundles that TensorFlow wrote, read and written again, have the same bytes: so it reads those that are
/// written here.
#[test]
fn bundles_are_written_as_tensorflow_writes_them() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut found = Vec::new();
    for folder in ["saved_models", "training", "gradients"] {
        prefixes(&testdata.join(folder), &mut found);
    }
    assert!(found.len() >= 18, "{found:?}");
    for prefix in found {
        let prefix = prefix.to_str().unwrap();
        let file = |name: &str| std::fs::read(name).unwrap();
        let bundle = Bundle::open(prefix, &mut |name| Ok(file(name).into())).unwrap();
        // The places of the tensors, and of the slices of partitioned ones.
        let mut places = Vec::new();
        for (name, entry) in bundle.tensors() {
            if entry.slices.is_empty() {
                places.push((entry, name, String::new()));
            }
            for stored in &entry.slices {
                let sizes: String = entry.dims.iter().map(|size| format!("{size} ")).collect();
                let part = &bundle.entries[&stored.key(name.as_bytes())];
                places.push((part, name, format!("{sizes}{}", stored.slice)));
            }
        }
        places.sort_by_key(|(entry, ..)| (entry.shard, entry.at, entry.len));
        let mut writer = BundleWriter::new(vec![Vec::new(); bundle.n_shards()]);
        for (entry, name, slice) in places {
            let BundleTensor { ty, dims, data } = bundle.read(name, &slice).unwrap();
            let strings: Vec<&[u8]> = match &data {
                BundleData::Strings(strings) => strings.iter().map(|text| &text[..]).collect(),
                BundleData::Dense(_) => Vec::new(),
            };
            let elements = match &data {
                BundleData::Dense(bytes) => Elements::Dense(bytes),
                BundleData::Strings(_) => Elements::Strings(&strings),
            };
            writer.add_specified((name, &slice), entry.shard, ty, &dims, elements).unwrap();
        }
        let (shards, index) = writer.finish().unwrap();
        assert!(index == file(&format!("{prefix}.index")), "{prefix}.index");
        for (i, shard) in shards.iter().enumerate() {
            let name = shard_name(prefix, i, shards.len());
            assert!(*shard == file(&name), "{name}");
        }
    }
}

#[test]
fn slices_that_are_not_all_of_a_tensor_are_not_written() {
    let mut writer = BundleWriter::new(vec![Vec::new()]);
    let ui8s = Type::Dense(DType::UI8);
    writer.add_slice("w", 0, ui8s, &[4], &[(0, 2)], Elements::Dense(&[0; 2])).unwrap();
    assert!(writer.add_slice("w", 0, ui8s, &[5], &[(2, 2)], Elements::Dense(&[0; 2])).is_err());
    let why = writer.finish().unwrap_err().to_string();
    assert_eq!(why, "'w': its slices are not all of it");
}

#[test]
fn bundles_that_cannot_be_read_are_not_written() {
    let ui8s = Type::Dense(DType::UI8);
    let many = |n_shards| BundleWriter::new(vec![Vec::new(); n_shards]).finish();
    assert!(many(MAX_SHARDS).is_ok());
    assert_eq!(many(MAX_SHARDS + 1).unwrap_err().to_string(), "it has 4097 shards, more than 4096");
    let halves = [1, MAX_SHARDS].map(|n_shards| opened("x", &many(n_shards).unwrap()));
    assert_eq!(merge(&halves).unwrap_err().to_string(), "it has 4097 shards, more than 4096");
    let mut writer = BundleWriter::new(vec![Vec::new()]);
    for name in ["", "\0x"] {
        assert!(writer.add(name, 0, ui8s, &[1], Elements::Dense(&[0])).is_err());
        assert!(writer.add_slice(name, 0, ui8s, &[1], &[(0, 1)], Elements::Dense(&[0])).is_err());
        assert!(writer.add_specified((name, "1 0,1"), 0, ui8s, &[1], Elements::Dense(&[0])).is_err());
    }
}

/// Tensors in files are read into memory of the caller and checked, also tensors longer than one part.
#[test]
fn tensors_are_read_from_files_into_memory() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("v").to_string_lossy().into_owned();
    let (index_name, shard_name) = (format!("{prefix}.index"), format!("{prefix}.data-00000-of-00001"));
    let ui8s = Type::Dense(DType::UI8);
    let long: Vec<u8> = (0..600_001u32).map(|i| (i % 251) as u8).collect();
    let mut writer = BundleWriter::new(vec![Vec::new()]);
    writer.add("long", 0, ui8s, &[600_001], Elements::Dense(&long)).unwrap();
    writer.add("bools", 0, Type::Dense(DType::I1), &[3], Elements::Dense(&[0, 1, 7])).unwrap();
    writer.add("text", 0, Type::String, &[], Elements::Strings(&[b"abc"])).unwrap();
    for (i, bytes) in long[..6].chunks(3).enumerate() {
        writer.add_slice("parts", 0, ui8s, &[6], &[(3 * i, 3)], Elements::Dense(bytes)).unwrap();
    }
    let (shards, index) = writer.finish().unwrap();
    std::fs::write(&index_name, index).unwrap();
    let open = |shard: &[u8]| {
        std::fs::write(&shard_name, shard).unwrap();
        Bundle::open(&prefix, &mut |name| BundleFile::open(name).map_err(|error| error.to_string())).unwrap()
    };
    let read = |bundle: &Bundle, name: &str, len: usize| {
        let mut to = vec![9; len];
        bundle.read_into(name, &mut to).map(|()| to).map_err(|error| error.to_string())
    };
    let bundle = open(&shards[0]);
    assert!(read(&bundle, "long", 600_001).unwrap() == long);
    assert_eq!(read(&bundle, "bools", 3).unwrap(), [0, 1, 1]);
    assert_eq!(read(&bundle, "parts", 6).unwrap(), long[..6]);
    assert_eq!(bundle.read("parts", "6 1,4").unwrap().data, BundleData::Dense(long[1..5].to_vec().into()));
    assert_eq!(bundle.read("text", "").unwrap().data, BundleData::Strings(vec!["abc".into()]));
    for (name, len, why) in [
        ("long", 7, "it has 600001 bytes, not 7"),
        ("parts", 7, "it has 6 bytes, not 7"),
        ("text", 3, "it is of strings"),
        ("none", 3, "there is no such tensor"),
    ] {
        let found = read(&bundle, name, len).unwrap_err();
        assert!(found.ends_with(&format!("tensor '{name}': {why}")), "{found}");
    }
    let mut damaged = shards[0].clone();
    damaged[500_000] ^= 1;
    assert!(read(&open(&damaged), "long", 600_001).unwrap_err().contains("its checksum is"));
    // A shard that is cut after it was opened.
    let bundle = open(&shards[0]);
    std::fs::write(&shard_name, &shards[0][..9]).unwrap();
    assert!(read(&bundle, "long", 600_001).is_err());
    let folder = BundleFile::open(folder.path()).unwrap_err();
    assert_eq!(folder.to_string(), "it is no regular file");
}

/// The shards and the index of a bundle.
type Part = (Vec<Vec<u8>>, Vec<u8>);
fn opened(name: &str, (shards, index): &Part) -> Bundle {
    Bundle::open(name, &mut |file| {
        if file.ends_with(".index") {
            return Ok(index.clone().into());
        }
        let i =
            (0..shards.len()).find(|&i| file == shard_name(name, i, shards.len())).ok_or("no such file")?;
        Ok(shards[i].clone().into())
    })
    .unwrap()
}

/// A tensor with the specification of its slice, its dimensions and its bytes.
type Stated<'a> = ((&'a str, &'a str), &'a [usize], &'a [u8]);

/// Shards are renumbered and slices of one tensor are joined. A tensor of two bundles is refused.
#[test]
fn bundles_become_one() {
    let ui8s = Type::Dense(DType::UI8);
    let part = |n_shards: usize, specified: &[Stated<'_>]| -> Part {
        let mut writer = BundleWriter::new(vec![Vec::new(); n_shards]);
        for &(name, dims, bytes) in specified {
            writer.add_specified(name, n_shards - 1, ui8s, dims, Elements::Dense(bytes)).unwrap();
        }
        writer.finish_part().unwrap()
    };
    let one = part(2, &[(("w", "4 2 0,3:-"), &[3, 2], &[1, 2, 3, 4, 5, 6]), (("a", ""), &[1], &[7])]);
    let two = part(1, &[(("w", "4 2 3,1:-"), &[1, 2], &[8, 9])]);
    let parts = [opened("one", &one), opened("two", &two)];
    let index = merge(&parts).unwrap();
    let all = opened("all", &([one.0.clone(), two.0.clone()].concat(), index));
    assert_eq!(all.n_shards(), 3);
    assert_eq!(all.read("w", "").unwrap().data, BundleData::Dense(vec![1, 2, 3, 4, 5, 6, 8, 9].into()));
    assert_eq!(all.read("w", "4 2 3,1:-").unwrap().data, BundleData::Dense(vec![8, 9].into()));
    assert_eq!(all.read("a", "").unwrap().data, BundleData::Dense(vec![7].into()));
    let why = |parts: &[Bundle]| merge(parts).unwrap_err().to_string();
    assert!(why(&[opened("one", &one), opened("one", &one)]).contains("another bundle has it too"));
    let third = part(1, &[(("w", "5 2 4,1:-"), &[1, 2], &[8, 9])]);
    assert!(why(&[opened("two", &two), opened("x", &third)]).contains("its slices are of different tensors"));
    let overlapping = part(1, &[(("w", "4 2 2,2:-"), &[2, 2], &[8, 9, 1, 2])]);
    assert!(why(&[opened("two", &two), opened("x", &overlapping)]).contains("overlap"));
    let mut writer = BundleWriter::new(vec![Vec::new()]);
    let refused = |r: std::io::Result<()>| r.unwrap_err().to_string();
    assert!(
        refused(writer.add_specified(("w", "4 2 3,1:-"), 0, ui8s, &[2, 2], Elements::Dense(&[1; 4])))
            .contains("slice 3,1:0,2 of a tensor of shape")
    );
    assert!(
        refused(writer.add_specified(("w", "4 x"), 0, ui8s, &[2], Elements::Dense(&[1; 2])))
            .contains("specifies no slice")
    );
    writer.add_specified(("w", "4 2 3,1:-"), 0, ui8s, &[1, 2], Elements::Dense(&[1; 2])).unwrap();
    assert!(writer.finish().unwrap_err().to_string().contains("not all of it"));
}

#[test]
fn files_appear_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    put(&path, |to| to.write_all(b"abc")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    let failed = put(&path, |to| {
        to.write_all(b"x")?;
        Err(std::io::Error::other("no"))
    })
    .unwrap_err();
    assert_eq!(failed.to_string(), "no");
    assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    // The leftover of a killed process, here a link, is replaced and not followed.
    std::fs::write(folder.path().join("other"), b"other").unwrap();
    std::os::unix::fs::symlink(folder.path().join("other"), folder.path().join(".x.tmp")).unwrap();
    put(&path, |to| to.write_all(b"new")).unwrap();
    assert_eq!(std::fs::read(folder.path().join("other")).unwrap(), b"other");
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert!(is_unfinished(".x.tmp") && !is_unfinished("x.tmp") && !is_unfinished(".x"));
}
