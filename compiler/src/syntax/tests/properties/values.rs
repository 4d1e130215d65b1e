//! Types, attributes and locations of every kind, chosen by a list of numbers.
//!
//! They are created as the parser does it (equal elements are a splat, affine expressions are simplified),
//! since printed text must read back as the same attribute.

use crate::ir::{
    AffineExpr, AffineId, AffineMap, AffineOp, AttrId, AttrKind, Blob, DYNAMIC, FloatKind, IntegerSet,
    KnownType, LocId, LocKind, Signedness, TypeId, TypeKind,
};
use crate::syntax::*;

/// Choices from a list of numbers; zero forever once they are used up.
pub(super) struct Choices<'a> {
    numbers: std::slice::Iter<'a, u32>,
}

impl<'a> Choices<'a> {
    pub(super) fn new(numbers: &'a [u32]) -> Self {
        Choices { numbers: numbers.iter() }
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.numbers.next().map_or(0, |x| *x as usize) % n.max(1)
    }
}

pub(super) fn ty(m: &mut Module, c: &mut Choices<'_>, depth: usize) -> TypeId {
    let kind = match c.below(if depth == 0 { 8 } else { 16 }) {
        0 => return KnownType::I32.id(),
        1 => return KnownType::F32.id(),
        2 => return KnownType::Chain.id(),
        3 => return KnownType::Index.id(),
        4 => TypeKind::Integer { width: 1 + c.below(70) as u32, sign: Signedness::Unsigned },
        5 => TypeKind::Integer { width: 1 + c.below(70) as u32, sign: Signedness::Signless },
        6 => TypeKind::Float(FloatKind::ALL[c.below(FloatKind::ALL.len())]),
        7 => TypeKind::Opaque(m.cx.str_id(["d.t", "d.t<a>", "d.t<\"x>\", [1]>"][c.below(3)])),
        8 => TypeKind::Complex(KnownType::F64.id()),
        9 => TypeKind::Tuple((0..c.below(3)).map(|_| ty(m, c, depth - 1)).collect()),
        10 => TypeKind::Function {
            inputs: (0..c.below(3)).map(|_| ty(m, c, depth - 1)).collect(),
            results: (0..c.below(3)).map(|_| ty(m, c, depth - 1)).collect(),
        },
        11 => {
            let shape: Box<[i64]> = (0..c.below(3)).map(|_| 1 + c.below(4) as i64).collect();
            let scalable = shape.iter().map(|_| c.below(2) == 0).collect();
            TypeKind::Vector { shape, scalable, elem: KnownType::F32.id() }
        }
        12 => TypeKind::Tensor { shape: None, elem: KnownType::I64.id(), encoding: None },
        13 => {
            let encoding = (c.below(3) == 0).then(|| attr(m, c, 0));
            TypeKind::Tensor { shape: Some(shape(c)), elem: KnownType::I64.id(), encoding }
        }
        14 => TypeKind::None,
        _ => {
            let shape = (c.below(4) > 0).then(|| shape(c));
            let layout = shape.as_ref().and_then(|shape| layout(m, c, shape.len()));
            let space = match c.below(3) {
                0 => None,
                1 => Some(m.cx.int_attr(KnownType::I64.id(), 1 + c.below(9) as i64)),
                _ => Some(m.cx.str_attr(TEXTS[c.below(TEXTS.len())])),
            };
            TypeKind::MemRef { shape, elem: KnownType::F32.id(), layout, space }
        }
    };
    m.cx.type_id(kind)
}

/// The contents of strings that are elements of tensors.
const STRINGS: [&[u8]; 4] = [b"", b"a\"b", b"\xc3\xa9\n", b"\xff\0a"];

pub(super) const TEXTS: [&str; 6] =
    ["a", "", "with \"quotes\"", "line\nbreak \\ and tab\t", "naïve 漢字 \u{0}", "x.y$z"];

pub(super) fn attr(m: &mut Module, c: &mut Choices<'_>, depth: usize) -> AttrId {
    let kind = match c.below(if depth == 0 { 18 } else { 23 }) {
        0 => return m.cx.bool_attr(c.below(2) == 0),
        1 => {
            let width = 1 + c.below(64) as u32;
            let sign = [Signedness::Signless, Signedness::Signed, Signedness::Unsigned][c.below(3)];
            let ty = m.cx.integer(width, sign);
            let value = (c.below(usize::MAX) as i64).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
            return m.cx.int_attr(ty, value);
        }
        2 => {
            let bits = (c.below(usize::MAX) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let (ty, bits) = match c.below(4) {
                0 => (KnownType::F64, bits),
                1 => (KnownType::F32, bits >> 32),
                2 => (KnownType::F16, bits >> 48),
                _ => (KnownType::BF16, bits >> 48),
            };
            AttrKind::Float { ty: ty.id(), bits }
        }
        3 => AttrKind::Str { text: m.cx.str_id(TEXTS[c.below(TEXTS.len())]), ty: string_type(c) },
        4 => AttrKind::Unit,
        5 => {
            let root = m.cx.str_id(TEXTS[c.below(TEXTS.len())]);
            let nested = (0..c.below(2)).map(|_| m.cx.str_id("n")).collect();
            AttrKind::Symbol { root, nested }
        }
        6 => {
            let data: Vec<u8> = (0..c.below(4) * 4).map(|_| c.below(256) as u8).collect();
            AttrKind::DenseArray { elem: KnownType::I32.id(), data: Blob::from(data) }
        }
        7 => {
            let n = [0, 1, 3, 120][c.below(4)];
            let elem = [KnownType::I32, KnownType::F32, KnownType::I1, KnownType::I8][c.below(4)];
            let size = match elem {
                KnownType::I32 | KnownType::F32 => 4,
                _ => 1,
            };
            let mut data: Vec<u8> = (0..n * size).map(|i| (i * 31 + c.below(256)) as u8).collect();
            if elem == KnownType::I1 {
                data.iter_mut().for_each(|b| *b &= 1);
            }
            let splat = n > 0 && data.chunks(size).all(|e| *e == data[..size]);
            if splat {
                data.truncate(size);
            }
            let ty = m.cx.tensor_type(&[n as i64], elem.id());
            AttrKind::Dense { ty, splat, data: Blob::from(data) }
        }
        8 => AttrKind::Opaque {
            text: m.cx.str_id("d.a<b, \">\">"),
            ty: (c.below(2) == 0).then_some(KnownType::I32.id()),
        },
        9 => AttrKind::Bytes { bytes: [0xFF, 0x00, b'a'].into(), ty: string_type(c) },
        10 => {
            let ty = m.cx.integer(96 + c.below(200) as u32, Signedness::Signless);
            // Nine bytes or more, where the last one is not only a sign extension.
            let mut bytes: Vec<u8> = (0..8 + c.below(3)).map(|_| c.below(256) as u8).collect();
            bytes.push(1);
            AttrKind::WideInt { ty, bytes: bytes.into() }
        }
        11 => {
            let ty = m.cx.type_id(TypeKind::Float(FloatKind::F128));
            let mut half = || u64::from(c.below(usize::MAX) as u32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            AttrKind::WideFloat { ty, bits: [half(), half()] }
        }
        12 => {
            let n = c.below(4);
            let strings: Box<[_]> =
                (0..n).map(|_| m.cx.bytes_attr(STRINGS[c.below(STRINGS.len())])).collect();
            let elem = m.cx.opaque_type("d.string");
            let ty = m.cx.tensor_type(&[n as i64], elem);
            // As the parser does it: equal elements are a splat.
            let splat = n > 0 && strings.iter().all(|s| *s == strings[0]);
            AttrKind::DenseStrings { ty, splat, strings: if splat { strings[..1].into() } else { strings } }
        }
        13 => {
            let ty = m.cx.tensor_type(&[2], KnownType::I32.id());
            AttrKind::DenseResource { ty, key: m.cx.str_id(["key", "k.2"][c.below(2)]) }
        }
        14 => {
            let indices = dense_i64(m, &[2, 1], &[0, 1 + c.below(3) as i64]);
            let values = dense_i64(m, &[2], &[c.below(5) as i64, 7]);
            AttrKind::Sparse { ty: m.cx.tensor_type(&[4], KnownType::I64.id()), indices, values }
        }
        15 => AttrKind::AffineMap(Box::new(AffineMap {
            dims: 2,
            symbols: 1,
            results: (0..c.below(3)).map(|_| affine(m, c, 3)).collect(),
        })),
        16 => AttrKind::IntegerSet(Box::new(IntegerSet {
            dims: 2,
            symbols: 1,
            constraints: (0..1 + c.below(2)).map(|_| (affine(m, c, 2), c.below(2) == 0)).collect(),
        })),
        17 => {
            let rank = c.below(3);
            return layout(m, c, rank).unwrap_or_else(|| m.cx.str_attr(""));
        }
        18 => AttrKind::Array((0..c.below(4)).map(|_| attr(m, c, depth - 1)).collect()),
        19 => {
            let entries: Vec<_> = (0..c.below(4))
                .map(|i| (m.cx.str_id(["b", "a", "c d", "loc"][i]), attr(m, c, depth - 1)))
                .collect();
            return m.cx.dict_attr(&entries);
        }
        20 => AttrKind::Type(ty(m, c, depth)),
        21 => AttrKind::Distinct { id: c.below(3) as u64, of: m.cx.attr_id(AttrKind::Unit) },
        _ => AttrKind::Loc(loc(m, c, depth)),
    };
    m.cx.attr_id(kind)
}

/// Sizes, some of them unknown.
fn shape(c: &mut Choices<'_>) -> Box<[i64]> {
    (0..c.below(3)).map(|_| if c.below(3) == 0 { DYNAMIC } else { c.below(5) as i64 }).collect()
}

/// The optional type of a string.
fn string_type(c: &mut Choices<'_>) -> Option<TypeId> {
    (c.below(4) == 0).then_some(KnownType::I32.id())
}

/// A non-identity layout of a memref of that rank.
fn layout(m: &mut Module, c: &mut Choices<'_>, rank: usize) -> Option<AttrId> {
    let strides = (0..rank).map(|_| [1, 7, -3, DYNAMIC][c.below(4)]).collect();
    let offset = [0, 5, DYNAMIC][c.below(3)];
    (c.below(3) > 0).then(|| m.cx.attr_id(AttrKind::Strided { strides, offset }))
}

fn dense_i64(m: &mut Module, shape: &[i64], values: &[i64]) -> AttrId {
    let ty = m.cx.tensor_type(shape, KnownType::I64.id());
    let splat = values.iter().all(|v| *v == values[0]);
    let kept = if splat { &values[..1] } else { values };
    let data = kept.iter().flat_map(|v| v.to_le_bytes()).collect();
    m.cx.attr_id(AttrKind::Dense { ty, splat, data })
}

/// An expression of two dimensions and a symbol.
fn affine(m: &mut Module, c: &mut Choices<'_>, depth: usize) -> AffineId {
    let leaf = |m: &mut Module, c: &mut Choices<'_>, symbolic: bool| {
        m.cx.affine_leaf(match c.below(if symbolic { 2 } else { 4 }) {
            0 => AffineExpr::Constant(c.below(9) as i64 - 3),
            1 => AffineExpr::Symbol(0),
            which => AffineExpr::Dim(which as u32 - 2),
        })
    };
    if depth == 0 {
        return leaf(m, c, false);
    }
    let a = affine(m, c, depth - 1);
    match c.below(5) {
        0 => a,
        1 => {
            let b = leaf(m, c, true);
            m.cx.affine(AffineOp::Mul, a, b)
        }
        2 => {
            let op = [AffineOp::Mod, AffineOp::FloorDiv, AffineOp::CeilDiv][c.below(3)];
            let b = m.cx.affine_leaf(AffineExpr::Constant(1 + c.below(8) as i64));
            m.cx.affine(op, a, b)
        }
        _ => {
            let b = affine(m, c, depth - 1);
            m.cx.affine(AffineOp::Add, a, b)
        }
    }
}

pub(super) fn loc(m: &mut Module, c: &mut Choices<'_>, depth: usize) -> LocId {
    let name = m.cx.str_id(TEXTS[c.below(TEXTS.len())]);
    let kind = match c.below(if depth == 0 { 3 } else { 6 }) {
        0 => LocKind::Unknown,
        1 => LocKind::File { file: name, line: c.below(9) as u32, col: c.below(9) as u32 },
        2 => LocKind::Range { file: name, start: (1, 2), end: (1 + c.below(2) as u32, 9) },
        3 => LocKind::Name { name, child: loc(m, c, depth - 1) },
        4 => LocKind::CallSite { callee: loc(m, c, depth - 1), caller: loc(m, c, depth - 1) },
        _ => {
            let metadata = (c.below(2) == 0).then(|| attr(m, c, 0));
            let parts: Vec<LocId> = (0..c.below(3)).map(|_| loc(m, c, depth - 1)).collect();
            return m.cx.fused_loc(&parts, metadata);
        }
    };
    m.cx.loc_id(kind)
}
