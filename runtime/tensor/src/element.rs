//! Rust types of the element types, for typed access to tensors.

use std::fmt;

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};

use crate::DType;

/// A Rust type that is the in-memory form of an element type.
pub trait Element: Pod + Send + Sync + PartialEq + fmt::Debug {
    /// The element type.
    const DTYPE: DType;
}

/// A boolean in a byte. Any byte other than 0 is true, so untrusted memory can be read. Values are written
/// through `From<bool>`.
#[repr(transparent)]
#[derive(Clone, Copy, Default, Pod, Zeroable)]
pub struct I1(u8);

impl I1 {
    /// False.
    pub const FALSE: I1 = I1(0);
    /// True.
    pub const TRUE: I1 = I1(1);

    /// The value as `bool`.
    pub fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for I1 {
    fn from(value: bool) -> I1 {
        I1(u8::from(value))
    }
}

impl PartialEq for I1 {
    fn eq(&self, other: &I1) -> bool {
        self.is_true() == other.is_true()
    }
}

impl fmt::Debug for I1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.is_true().fmt(f)
    }
}

/// A complex number of two `f32`.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct Complex64 {
    /// The real part.
    pub re: f32,
    /// The imaginary part.
    pub im: f32,
}

impl fmt::Debug for Complex64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({:?},{:?})", self.re, self.im)
    }
}

/// A complex number of two `f64`.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct Complex128 {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl fmt::Debug for Complex128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({:?},{:?})", self.re, self.im)
    }
}

macro_rules! elements {
    ($($rust:ty = $dtype:ident),* $(,)?) => {$(
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
        }
        const _: () = assert!(size_of::<$rust>() == DType::$dtype.size() && align_of::<$rust>() == DType::$dtype.align());
    )*};
}

elements! {
    u8 = UI8, u16 = UI16, u32 = UI32, u64 = UI64, I1 = I1, i8 = I8, i16 = I16, i32 = I32, i64 = I64, f32 = F32, f64 = F64,
    Complex64 = Complex64, Complex128 = Complex128, f16 = F16, bf16 = BF16,
}

/// Evaluates `$body` with `$t` as the Rust type of the [`DType`] `$dtype`.
macro_rules! with_element {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            $crate::DType::UI8 => {
                type $t = u8;
                $body
            }
            $crate::DType::UI16 => {
                type $t = u16;
                $body
            }
            $crate::DType::UI32 => {
                type $t = u32;
                $body
            }
            $crate::DType::UI64 => {
                type $t = u64;
                $body
            }
            $crate::DType::I1 => {
                type $t = $crate::I1;
                $body
            }
            $crate::DType::I8 => {
                type $t = i8;
                $body
            }
            $crate::DType::I16 => {
                type $t = i16;
                $body
            }
            $crate::DType::I32 => {
                type $t = i32;
                $body
            }
            $crate::DType::I64 => {
                type $t = i64;
                $body
            }
            $crate::DType::F32 => {
                type $t = f32;
                $body
            }
            $crate::DType::F64 => {
                type $t = f64;
                $body
            }
            $crate::DType::Complex64 => {
                type $t = $crate::Complex64;
                $body
            }
            $crate::DType::Complex128 => {
                type $t = $crate::Complex128;
                $body
            }
            $crate::DType::F16 => {
                type $t = half::f16;
                $body
            }
            $crate::DType::BF16 => {
                type $t = half::bf16;
                $body
            }
        }
    };
}
pub(crate) use with_element;
