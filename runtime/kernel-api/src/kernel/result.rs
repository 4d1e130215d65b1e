//! One result of a kernel: a scalar, [`Chain`], an object, a [`Value`], or an [`Async`] of one of these.

use std::marker::PhantomData;

use super::signature::{Completion, Types};
use crate::async_value::{AsyncRef, Promise};
use crate::object::Object;
use crate::value::{Chain, Scalar, Value};

/// One result.
pub trait ResultValue {
    /// The permitted IR types.
    const TYPES: Types;
    /// The time at which it is final.
    const COMPLETION: Completion = Completion::Sync;
    /// True if its values own nothing, so that they need not be dropped.
    const IS_PLAIN: bool = false;
    /// Conversion to a value.
    fn into_value(self) -> Value;
}

macro_rules! scalar_result {
    ($($ty:ty),*) => {$(
        impl ResultValue for $ty {
            const TYPES: Types = <$ty as Scalar>::TYPES;
            const IS_PLAIN: bool = true;
            #[inline(always)]
            fn into_value(self) -> Value {
                Scalar::into_value(self)
            }
        }
    )*};
}

scalar_result!(bool, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16, f32, f64, [f32; 2], Chain);

impl<T: Object> ResultValue for T {
    const TYPES: Types = T::TYPES;
    fn into_value(self) -> Value {
        Value::object(self)
    }
}

impl ResultValue for Value {
    const TYPES: Types = &[];
    /// The value may be unavailable.
    const COMPLETION: Completion = Completion::Async;
    fn into_value(self) -> Value {
        self
    }
}

/// A result that a promise sets.
pub struct Async<T> {
    value: AsyncRef,
    _of: PhantomData<T>,
}

impl<T: ResultValue> Async<T> {
    /// A result and the promise that sets it.
    pub fn pending() -> (Promise, Async<T>) {
        let (promise, value) = AsyncRef::pending();
        (promise, Async { value, _of: PhantomData })
    }
}

impl<T: ResultValue> ResultValue for Async<T> {
    const TYPES: Types = T::TYPES;
    const COMPLETION: Completion = Completion::Async;
    fn into_value(self) -> Value {
        Value::Async(self.value)
    }
}
