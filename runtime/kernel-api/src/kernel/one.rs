//! One result of a kernel: a scalar, [`Chain`], an object, a [`Value`], or [`Async`] of such.

use std::marker::PhantomData;

use super::signature::{Completion, Types};
use crate::async_value::{AsyncRef, Promise};
use crate::object::Object;
use crate::value::{Chain, Scalar, Value};

/// One result.
pub trait One {
    /// The IR types that it may have.
    const TYPES: Types;
    /// When it is final.
    const COMPLETION: Completion = Completion::Sync;
    /// Whether its values own nothing, so that nobody need drop them.
    const IS_PLAIN: bool = false;
    /// Makes a value of it.
    fn into_value(self) -> Value;
}

macro_rules! scalar_result {
    ($($ty:ty),*) => {$(
        impl One for $ty {
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

impl<T: Object> One for T {
    const TYPES: Types = T::TYPES;
    fn into_value(self) -> Value {
        Value::object(self)
    }
}

impl One for Value {
    const TYPES: Types = &[];
    /// Nobody knows what is in it.
    const COMPLETION: Completion = Completion::Async;
    fn into_value(self) -> Value {
        self
    }
}

/// A result that will be there later.
pub struct Async<T> {
    value: AsyncRef,
    _of: PhantomData<T>,
}

impl<T: One> Async<T> {
    /// A result, and the promise to set it.
    pub fn pending() -> (Promise, Async<T>) {
        let (promise, value) = AsyncRef::pending();
        (promise, Async { value, _of: PhantomData })
    }
}

impl<T: One> One for Async<T> {
    const TYPES: Types = T::TYPES;
    const COMPLETION: Completion = Completion::Async;
    fn into_value(self) -> Value {
        Value::Async(self.value)
    }
}
