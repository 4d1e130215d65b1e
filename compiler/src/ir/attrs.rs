//! Attributes: compile-time constants, structural, interned, compared by id.
//!
//! Numbers carry their type. Integers up to 64 bits are values: sign-extended for signless and signed types,
//! zero-extended for unsigned ones; wider ones are the fewest bytes that hold the value. Floats are the bits
//! of their own format. A one-bit signless integer is [`AttrKind::Bool`]. Tensor contents are little-endian
//! bytes, one element after the other, booleans one byte each, bits above the width 0; a splat holds one
//! element.
//!
//! Large contents are shared with tensors and files, hashed by sample, and compared in full unless they are
//! the same bytes, so that interning 600 MB costs one comparison at most. Packed weights are made from the
//! plain ones when they are read, piece by piece while a file is written.

use super::{AffineMap, AttrId, IntegerSet, LocId, StrId, TypeId};
use bef_format::AlignedBytes;
use bef_format::write::{PIECE, Pieces};
use befrost_tensor::mem::{Buffer, Frozen};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Immutable bytes of a dense constant. Hashing and cloning are cheap for any length. Equality is exact for
/// bytes in memory; bytes that are made when they are read equal their own clones only.
#[derive(Clone)]
pub struct Blob(Bytes);

#[derive(Clone)]
enum Bytes {
    /// At most [`MAX_OWNED`] bytes.
    Owned(Box<[u8]>),
    Shared(Arc<SharedBytes>),
}

enum SharedBytes {
    InMemory(Frozen),
    InPieces { pieces: Arc<dyn Pieces>, made: OnceLock<Frozen> },
}

const _: () = assert!(size_of::<Blob>() == size_of::<Box<[u8]>>());

/// Fewer bytes are copied, which costs less than counting references.
const MAX_OWNED: usize = 1024;

const SAMPLE: usize = 4096;

impl SharedBytes {
    /// All of them, in memory.
    fn frozen(&self) -> &Frozen {
        match self {
            SharedBytes::InMemory(bytes) => bytes,
            SharedBytes::InPieces { pieces, made } => made.get_or_init(|| {
                let mut bytes = AlignedBytes::zeroed(pieces.n_bytes());
                let parts = bytes.chunks_mut(PIECE).enumerate();
                parts.for_each(|(i, piece)| pieces.make(i * PIECE, piece));
                Frozen::from_owner(Arc::new(bytes))
            }),
        }
    }
}

impl Blob {
    /// The bytes as a read-only buffer, if they are enough to be shared.
    pub fn buffer(&self) -> Option<&Buffer> {
        match &self.0 {
            Bytes::Owned(_) => None,
            Bytes::Shared(bytes) => Some(bytes.frozen().buffer()),
        }
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        match &self.0 {
            Bytes::Owned(bytes) => bytes.len(),
            Bytes::Shared(bytes) => match &**bytes {
                SharedBytes::InMemory(bytes) => bytes.len(),
                SharedBytes::InPieces { pieces, .. } => pieces.n_bytes(),
            },
        }
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of bytes, if they are enough to be shared; else 0.
    pub(super) fn n_shared(&self) -> usize {
        if matches!(self.0, Bytes::Owned(_)) { 0 } else { self.len() }
    }

    /// Bytes that `owner` keeps alive and unchanged. Large ones are not copied.
    pub fn from_owner<T: AsRef<[u8]> + Send + Sync + 'static>(owner: T) -> Blob {
        match owner.as_ref() {
            few if few.len() <= MAX_OWNED => Blob(Bytes::Owned(few.into())),
            _ => Blob::shared(SharedBytes::InMemory(Frozen::from_owner(Arc::new(owner)))),
        }
    }

    /// Bytes that are made when they are read, if they are several pieces.
    pub fn from_pieces(pieces: Arc<dyn Pieces>) -> Blob {
        let is_large = pieces.n_bytes() > PIECE;
        let bytes = SharedBytes::InPieces { pieces, made: OnceLock::new() };
        if is_large { Blob::shared(bytes) } else { Blob::from(bytes.frozen().clone()) }
    }

    fn shared(bytes: SharedBytes) -> Blob {
        Blob(Bytes::Shared(Arc::new(bytes)))
    }

    fn is_in_pieces(&self) -> bool {
        matches!(&self.0, Bytes::Shared(bytes) if matches!(**bytes, SharedBytes::InPieces { .. }))
    }

    /// The pieces of bytes that are made when they are read, and have not been read.
    pub fn pieces(&self) -> Option<&Arc<dyn Pieces>> {
        match &self.0 {
            Bytes::Shared(bytes) => match &**bytes {
                SharedBytes::InPieces { pieces, made } => Some(pieces).filter(|_| made.get().is_none()),
                SharedBytes::InMemory(_) => None,
            },
            Bytes::Owned(_) => None,
        }
    }
}

impl From<Frozen> for Blob {
    fn from(bytes: Frozen) -> Blob {
        if bytes.len() <= MAX_OWNED {
            Blob(Bytes::Owned((*bytes).into()))
        } else {
            Blob::shared(SharedBytes::InMemory(bytes))
        }
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Blob {
        let bytes = bytes.into_boxed_slice();
        if bytes.len() <= MAX_OWNED { Blob(Bytes::Owned(bytes)) } else { Blob::from_owner(bytes) }
    }
}

impl From<&[u8]> for Blob {
    fn from(bytes: &[u8]) -> Blob {
        Blob::from(bytes.to_vec())
    }
}

impl FromIterator<u8> for Blob {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Blob {
        Blob::from(Vec::from_iter(bytes))
    }
}

impl Deref for Blob {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Owned(bytes) => bytes,
            Bytes::Shared(bytes) => bytes.frozen(),
        }
    }
}

impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Blob {
    fn eq(&self, other: &Blob) -> bool {
        match (&self.0, &other.0) {
            (Bytes::Shared(a), Bytes::Shared(b)) if Arc::ptr_eq(a, b) => true,
            _ => !self.is_in_pieces() && !other.is_in_pieces() && **self == **other,
        }
    }
}

impl Eq for Blob {}

impl Hash for Blob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        if self.is_in_pieces() {
            return;
        }
        if self.len() <= 2 * SAMPLE {
            state.write(self);
        } else {
            state.write(&self[..SAMPLE]);
            state.write(&self[self.len() - SAMPLE..]);
        }
    }
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Blob({} bytes)", self.len())
    }
}

/// The contents of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttrKind {
    /// `unit`: presence is the information.
    Unit,
    /// `true`, `false`: of type `i1`.
    Bool(bool),
    /// `42 : i32`, any type of at most 64 bits, or `index`.
    Int {
        /// An integer type or `index`; never `i1`.
        ty: TypeId,
        /// Sign-extended, or zero-extended if the type is unsigned.
        value: i64,
    },
    /// An integer of more than 64 bits.
    WideInt {
        /// The integer type.
        ty: TypeId,
        /// Two's complement, little-endian, as few bytes as keep the sign.
        bytes: Box<[u8]>,
    },
    /// `1.5 : f32`.
    Float {
        /// A float type of at most 64 bits.
        ty: TypeId,
        /// The bits in that format.
        bits: u64,
    },
    /// `1.5 : f128`, `1.5 : f80`.
    WideFloat {
        /// The float type.
        ty: TypeId,
        /// The bits in that format; the low half first.
        bits: [u64; 2],
    },
    /// `"text"`, or `"text" : !d.t`.
    Str {
        /// The contents, escapes resolved. Not necessarily text: see [`AttrKind::Bytes`].
        text: StrId,
        /// The type if one was given.
        ty: Option<TypeId>,
    },
    /// A string whose contents are not UTF-8.
    Bytes {
        /// The contents, escapes resolved.
        bytes: Box<[u8]>,
        /// The type if one was given.
        ty: Option<TypeId>,
    },
    /// `[1, "a"]`.
    Array(Box<[AttrId]>),
    /// `array<i32: 1, 2>`.
    DenseArray {
        /// An integer or float type, a multiple of 8 bits wide, or `i1`.
        elem: TypeId,
        /// The elements.
        data: Blob,
    },
    /// `{a = 1, b}`: sorted by the text of the names.
    Dict(Box<[(StrId, AttrId)]>),
    /// `dense<...> : tensor<...>`.
    Dense {
        /// A tensor or vector type with static shape.
        ty: TypeId,
        /// True if one element stands for all.
        splat: bool,
        /// The elements, or one.
        data: Blob,
    },
    /// `dense<["a", "b"]> : tensor<2x!d.string>`.
    DenseStrings {
        /// The tensor type.
        ty: TypeId,
        /// True if one string stands for all.
        splat: bool,
        /// The elements, or one, as strings without types: [`AttrKind::Str`] or [`AttrKind::Bytes`].
        strings: Box<[AttrId]>,
    },
    /// `dense_resource<key> : tensor<...>`: the contents are in [`super::Module::resources`].
    DenseResource {
        /// The tensor type.
        ty: TypeId,
        /// Name in the resource section.
        key: StrId,
    },
    /// `sparse<indices, values> : tensor<...>`.
    Sparse {
        /// The tensor type.
        ty: TypeId,
        /// Dense, of type `tensor<n x rank x i64>`: the indices of the values. With one dimension,
        /// `tensor<n x i64>` too.
        indices: AttrId,
        /// Dense, of type `tensor<n x elem>`.
        values: AttrId,
    },
    /// A type used as an attribute.
    Type(TypeId),
    /// `@a::@b`.
    Symbol {
        /// `a`.
        root: StrId,
        /// `b`, ...
        nested: Box<[StrId]>,
    },
    /// `#dialect.name<body>`: `text` is all that follows the `#`.
    Opaque {
        /// All that follows the `#`.
        text: StrId,
        /// The type if one was given.
        ty: Option<TypeId>,
    },
    /// `affine_map<(d0)[s0] -> (d0 + s0)>`.
    AffineMap(Box<AffineMap>),
    /// `affine_set<(d0)[s0] : (d0 - s0 >= 0)>`.
    IntegerSet(Box<IntegerSet>),
    /// `strided<[1, ?], offset: 2>`, with [`super::DYNAMIC`] for `?`.
    Strided {
        /// The distance of neighbours in each dimension; never 0.
        strides: Box<[i64]>,
        /// The place of the first element.
        offset: i64,
    },
    /// `distinct[id]<attr>`: equal only to itself.
    Distinct {
        /// The number in brackets.
        id: u64,
        /// The wrapped attribute.
        of: AttrId,
    },
    /// `loc(...)` used as an attribute.
    Loc(LocId),
}
