//! [`Value`]: the sixteen bytes of a register.
//!
//! ```text
//! tag | scalar or chain inline          8 bytes at most
//! tag | ObjRef   ──▶ tensor, shape, string ...   counted
//! tag | AsyncRef ──▶ a value that an asynchronous kernel sets
//! tag | Error    ──▶ message, code, locations    counted
//! dead                                   a branch that was not taken
//! ```
//!
//! A value is *final* unless it is `Empty` or a pending `Async`. The size of the enum is asserted.

mod words;

use std::fmt;
use std::mem::Discriminant;

use half::{bf16, f16};

use crate::async_value::AsyncRef;
use crate::error::Error;
use crate::object::{ObjRef, Object};

/// A control dependency without data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain;

/// A value of any type in any state. 16 bytes. Variants that own something come last, from `Error` on, so one
/// comparison distinguishes them.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// The content of a register that was not written, or whose value was moved out. Not visible to kernels.
    #[default]
    Empty,
    /// The result of a branch that was not taken.
    Dead,
    /// `!tfrt.chain`.
    Chain,
    /// `i1`.
    I1(bool),
    /// `i8`.
    I8(i8),
    /// `i16`.
    I16(i16),
    /// `i32`.
    I32(i32),
    /// `i64` and `index`.
    I64(i64),
    /// `ui8`.
    U8(u8),
    /// `ui16`.
    U16(u16),
    /// `ui32`.
    U32(u32),
    /// `ui64`.
    U64(u64),
    /// `f16`.
    F16(f16),
    /// `bf16`.
    BF16(bf16),
    /// `f32`.
    F32(f32),
    /// `f64`.
    F64(f64),
    /// `complex<f32>`: real, imaginary.
    Complex64([f32; 2]),
    /// The producer failed.
    Error(Error),
    /// The value of an asynchronous kernel, pending or final.
    Async(AsyncRef),
    /// A value of more than eight bytes.
    Object(ObjRef),
}

const _: () = assert!(size_of::<Value>() == 16);

/// State of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not final yet.
    Unavailable,
    /// Final: a value.
    Concrete,
    /// Final: an error.
    Error,
    /// Final: dead.
    Dead,
}

impl Value {
    /// Wraps an object.
    pub fn object<T: Object>(payload: T) -> Value {
        Value::Object(ObjRef::new(payload))
    }

    /// The state; for an AsyncValue, that of its value.
    pub fn state(&self) -> State {
        match self {
            Value::Empty => State::Unavailable,
            Value::Dead => State::Dead,
            Value::Error(_) => State::Error,
            Value::Async(value) => value.value().map_or(State::Unavailable, Value::state),
            _ => State::Concrete,
        }
    }

    /// The final value; for an AsyncValue, its value. `None` while it is unavailable.
    #[inline]
    pub fn final_value(&self) -> Option<&Value> {
        match self {
            Value::Empty => None,
            Value::Async(value) => value.value(),
            value => Some(value),
        }
    }

    /// The object, if it is a `T`.
    #[inline]
    pub fn downcast_ref<T: Object>(&self) -> Option<&T> {
        match self {
            Value::Object(object) => object.downcast_ref(),
            _ => None,
        }
    }

    /// The object, if it is a `T` and this is its only reference. Otherwise the value.
    pub fn into_object<T: Object>(self) -> Result<T, Value> {
        match self {
            Value::Object(object) => object.into_inner().map_err(Value::Object),
            value => Err(value),
        }
    }

    /// The error, if it is one.
    pub fn error(&self) -> Option<&Error> {
        match self.final_value() {
            Some(Value::Error(error)) => Some(error),
            _ => None,
        }
    }

    /// True if a register of the IR type `name` may contain the value. `None` for errors, dead and
    /// unavailable values, which any register may contain.
    pub fn may_be(&self, name: &str) -> Option<bool> {
        self.may_be_of(name, head_of(name))
    }

    /// [`Value::may_be`] for a name whose [head](head_of) is known.
    #[inline]
    pub fn may_be_of(&self, name: &str, head: Option<&str>) -> Option<bool> {
        let types = match self.final_value()? {
            Value::Empty | Value::Dead | Value::Error(_) | Value::Async(_) => return None,
            Value::Object(object) => object.types(),
            Value::I8(_) => i8::TYPES,
            Value::I16(_) => i16::TYPES,
            Value::I32(_) => i32::TYPES,
            Value::I64(_) => i64::TYPES,
            scalar => return Some(scalar.type_name() == name),
        };
        Some(is_one_of(types, name, head))
    }

    /// The IR type of the value, or the name of its state.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Empty => "nothing",
            Value::Dead => "dead",
            Value::Error(_) => "error",
            Value::Async(value) => value.value().map_or("an unavailable value", Value::type_name),
            Value::Chain => "!tfrt.chain",
            Value::I1(_) => "i1",
            Value::I8(_) => "i8",
            Value::I16(_) => "i16",
            Value::I32(_) => "i32",
            Value::I64(_) => "i64",
            Value::U8(_) => "ui8",
            Value::U16(_) => "ui16",
            Value::U32(_) => "ui32",
            Value::U64(_) => "ui64",
            Value::F16(_) => "f16",
            Value::BF16(_) => "bf16",
            Value::F32(_) => "f32",
            Value::F64(_) => "f64",
            Value::Complex64(_) => "complex<f32>",
            Value::Object(object) => object.type_name(),
        }
    }
}

#[doc(hidden)]
impl Value {
    /// True if dropping it does nothing.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !matches!(self, Value::Error(_) | Value::Async(_) | Value::Object(_))
    }

    /// True if it is final, and neither an error nor dead. False for every AsyncValue.
    #[inline]
    pub fn is_concrete(&self) -> bool {
        !matches!(self, Value::Empty | Value::Dead | Value::Error(_) | Value::Async(_))
    }

    /// Replaces a final AsyncValue by its value.
    #[inline(always)]
    pub fn resolve(&mut self) {
        if let Value::Async(inner) = self
            && let Some(inner) = Value::of_final(inner)
        {
            *self = inner;
        }
    }

    #[inline(never)]
    fn of_final(value: &AsyncRef) -> Option<Value> {
        value.value().cloned()
    }

    /// The value after [`Value::resolve`].
    #[inline]
    pub fn resolved(mut self) -> Value {
        self.resolve();
        self
    }
}

impl fmt::Display for Value {
    /// As `bef-exec` prints results: `43`, `1.500000`, `!tfrt.chain value`, `<<error: message>>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Empty => f.write_str("<<unavailable>>"),
            Value::Dead => f.write_str("<<dead>>"),
            Value::Error(error) => write!(f, "<<error: {}>>", error.message()),
            Value::Async(value) => match value.value() {
                Some(value) => value.fmt(f),
                None => f.write_str("<<unavailable>>"),
            },
            Value::Chain => f.write_str("!tfrt.chain value"),
            Value::I1(v) => write!(f, "{}", u8::from(*v)),
            Value::I8(v) => v.fmt(f),
            Value::I16(v) => v.fmt(f),
            Value::I32(v) => v.fmt(f),
            Value::I64(v) => v.fmt(f),
            Value::U8(v) => v.fmt(f),
            Value::U16(v) => v.fmt(f),
            Value::U32(v) => v.fmt(f),
            Value::U64(v) => v.fmt(f),
            Value::F16(v) => fixed(f, v.to_f64()),
            Value::BF16(v) => fixed(f, v.to_f64()),
            Value::F32(v) => fixed(f, f64::from(*v)),
            Value::F64(v) => fixed(f, *v),
            Value::Complex64([re, im]) => {
                f.write_str("(")?;
                fixed(f, f64::from(*re))?;
                f.write_str(",")?;
                fixed(f, f64::from(*im))?;
                f.write_str(")")
            }
            Value::Object(object) => f.write_str(&object.display()),
        }
    }
}

/// As C's `%f`, with six decimals; NaN without its sign.
fn fixed(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_nan() { f.write_str("nan") } else { write!(f, "{value:.6}") }
}

/// A Rust type that a [`Value`] contains inline.
pub trait Scalar: Copy + Send + Sync + 'static {
    /// The IR types that it represents.
    const TYPES: &'static [&'static str];
    /// The scalar in a value of this type. `None` for values of other types.
    fn from_value(value: &Value) -> Option<Self>;
    /// Conversion to a value.
    fn into_value(self) -> Value;
}

macro_rules! scalar {
    ($($ty:ty => $variant:ident: $($name:literal),+;)*) => {$(
        impl Scalar for $ty {
            const TYPES: &'static [&'static str] = &[$($name),+];
            #[inline(always)]
            fn from_value(value: &Value) -> Option<$ty> {
                match value {
                    Value::$variant(scalar) => Some(*scalar),
                    _ => None,
                }
            }
            #[inline(always)]
            fn into_value(self) -> Value {
                Value::$variant(self)
            }
        }
        impl From<$ty> for Value {
            fn from(scalar: $ty) -> Value {
                Value::$variant(scalar)
            }
        }
    )*};
}

scalar! {
    bool => I1: "i1";
    i8 => I8: "i8", "si8";
    i16 => I16: "i16", "si16";
    i32 => I32: "i32", "si32";
    i64 => I64: "i64", "si64", "index";
    u8 => U8: "ui8";
    u16 => U16: "ui16";
    u32 => U32: "ui32";
    u64 => U64: "ui64";
    f16 => F16: "f16";
    bf16 => BF16: "bf16";
    f32 => F32: "f32";
    f64 => F64: "f64";
    [f32; 2] => Complex64: "complex<f32>";
}

impl Scalar for Chain {
    const TYPES: &'static [&'static str] = &["!tfrt.chain"];
    #[inline]
    fn from_value(value: &Value) -> Option<Chain> {
        matches!(value, Value::Chain).then_some(Chain)
    }
    #[inline]
    fn into_value(self) -> Value {
        Value::Chain
    }
}

#[doc(hidden)]
/// The tag of the values of the IR type `name`, if they are inline.
pub fn scalar_tag(name: &str) -> Option<Discriminant<Value>> {
    let zeros = [
        Value::Chain,
        Value::I1(false),
        Value::I8(0),
        Value::I16(0),
        Value::I32(0),
        Value::I64(0),
        Value::U8(0),
        Value::U16(0),
        Value::U32(0),
        Value::U64(0),
        Value::F16(f16::ZERO),
        Value::BF16(bf16::ZERO),
        Value::F32(0.0),
        Value::F64(0.0),
        Value::Complex64([0.0; 2]),
    ];
    zeros.iter().find(|zero| zero.may_be(name) == Some(true)).map(std::mem::discriminant)
}

#[doc(hidden)]
/// True if the IR type `name` is one of `types`, in which `tensor` stands for all `tensor<...>`.
pub fn is_of(types: &[&str], name: &str) -> bool {
    is_one_of(types, name, head_of(name))
}

#[inline]
fn is_one_of(types: &[&str], name: &str, head: Option<&str>) -> bool {
    types.iter().any(|&ty| ty == name || Some(ty) == head)
}

/// The part of an IR type before its parameters: `tensor` of `tensor<4xf32>`. None without parameters.
pub fn head_of(name: &str) -> Option<&str> {
    name.split_once('<').map(|(head, _)| head)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn scalars_round_trip_and_keep_their_type() {
        assert_eq!(i32::from_value(&Value::from(7i32)), Some(7));
        assert_eq!(i64::from_value(&Value::from(7i32)), None);
        assert_eq!(Chain::from_value(&Value::Chain), Some(Chain));
        assert_eq!(f32::from_value(&f32::NAN.into_value()).map(f32::is_nan), Some(true));
    }

    #[test]
    fn values_print_as_results() {
        let error = Value::Error(Error::new(ErrorCode::Unknown, "bad", vec!["f:1:2".into()]));
        let check = |value: Value, text: &str| assert_eq!(value.to_string(), text);
        check(Value::I32(43), "43");
        check(Value::F32(1.5), "1.500000");
        check(Value::F32(f32::NAN), "nan");
        check(Value::F64(f64::NEG_INFINITY), "-inf");
        check(Value::I1(true), "1");
        check(Value::Chain, "!tfrt.chain value");
        check(error, "<<error: bad>>");
    }
}
