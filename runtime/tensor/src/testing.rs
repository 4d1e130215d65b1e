//! Operands and comparisons, for the tests among the sources and for `tests/it`, which includes this file.
#![allow(dead_code, reason = "either uses a part")]

use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::parallel::Parallel;
use befrost_tensor::tf::fast::Cx;
use befrost_tensor::tf::reference;
use befrost_tensor::{DType, Element, HostTensor, I1, Shape, TensorError};

/// Two threads.
pub(crate) struct Threads;

impl Parallel for Threads {
    fn workers(&self, _: u64) -> usize {
        2
    }

    fn parallel_for(&self, blocks: usize, block: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for i in (0..blocks).rev() {
                scope.spawn(move || block(i));
            }
        });
    }
}

pub(crate) fn malloc() -> Arc<dyn Allocator> {
    Malloc::shared()
}

/// A pseudorandom number generator.
pub(crate) struct Random(pub(crate) u32);

impl Random {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = (self.0 | 1).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 ^ (self.0 >> 15)
    }

    /// A number from -2 to 2.
    pub(crate) fn f32(&mut self) -> f32 {
        (self.next() % 4001) as f32 / 1000.0 - 2.0
    }

    /// A number that is sometimes NaN, infinite, zero, tiny or large; products of three large numbers do not
    /// overflow f32.
    pub(crate) fn special(&mut self) -> f32 {
        const SPECIAL: [f32; 8] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-40, 1e12, -7.25];
        match self.next() % 40 {
            i @ 0..8 => SPECIAL[i as usize],
            8..20 => self.f32() * 20.0,
            _ => self.f32(),
        }
    }

    pub(crate) fn int(&mut self) -> i64 {
        match self.next() % 20 {
            0 => 0,
            1 => i64::from(i32::MIN),
            2 => i64::MAX,
            _ => i64::from(self.next() % 13) - 6,
        }
    }

    pub(crate) fn tensor(&mut self, dtype: DType, dims: &[usize], specials: bool) -> HostTensor {
        let n = dims.iter().product();
        let x: Vec<f32> = (0..n).map(|_| if specials { self.special() } else { self.f32() }).collect();
        let ints: Vec<i64> = (0..n).map(|_| self.int()).collect();
        match dtype {
            DType::F32 => tensor(dims, &x),
            DType::F64 => tensor(dims, &x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>()),
            DType::I1 => tensor(dims, &ints.iter().map(|i| I1::from(i % 2 == 0)).collect::<Vec<_>>()),
            DType::I32 => tensor(dims, &ints.iter().map(|&i| i as i32).collect::<Vec<_>>()),
            DType::I64 => tensor(dims, &ints),
            DType::UI8 => tensor(dims, &ints.iter().map(|&i| i as u8).collect::<Vec<_>>()),
            other => reference::cast(&tensor(dims, &ints), other, &malloc()).unwrap(),
        }
    }
}

pub(crate) fn tensor<T: Element>(dims: &[usize], values: &[T]) -> HostTensor {
    HostTensor::from_slice(Shape::new(dims).unwrap(), values, &malloc()).unwrap()
}

fn numbers_of(x: &HostTensor) -> Vec<f64> {
    let wide = reference::cast(x, DType::F64, &malloc()).unwrap();
    wide.read::<f64>().unwrap().to_vec()
}

/// Asserts equality up to `relative` of the largest finite number plus `absolute`. NaN equals NaN, and errors
/// must be the same.
#[track_caller]
pub(crate) fn near(
    what: &str,
    got: &Result<HostTensor, TensorError>,
    want: &Result<HostTensor, TensorError>,
    (relative, absolute): (f64, f64),
) {
    let (got, want) = match (got, want) {
        (Ok(got), Ok(want)) => (got, want),
        (got, want) => return assert_eq!(got.as_ref().err(), want.as_ref().err(), "{what}"),
    };
    assert_eq!((got.dtype(), got.shape()), (want.dtype(), want.shape()), "{what}");
    let numbers = numbers_of(want);
    // The terms of a sum may be much larger than the sum, so the tolerance is relative to the largest result.
    let largest =
        numbers.iter().filter(|want| want.is_finite()).fold(0.0f64, |largest, want| largest.max(want.abs()));
    for (i, (got, want)) in numbers_of(got).into_iter().zip(numbers).enumerate() {
        let same = got == want || (got.is_nan() && want.is_nan());
        let limit = relative * largest + absolute;
        assert!(same || (got - want).abs() <= limit, "{what}: element {i} is {got:e}, not {want:e}");
    }
}

/// Asserts that the numbers are equal.
#[track_caller]
pub(crate) fn same(
    what: &str,
    got: &Result<HostTensor, TensorError>,
    want: &Result<HostTensor, TensorError>,
) {
    near(what, got, want, (0.0, 0.0));
}

/// Runs `f` on one thread and on two, asserts that the results are equal, and returns the first.
#[track_caller]
pub(crate) fn with_threads(
    what: &str,
    f: impl Fn(&Cx<'_>) -> Result<HostTensor, TensorError>,
) -> Result<HostTensor, TensorError> {
    let allocator = malloc();
    let one = f(&Cx::serial(&allocator));
    let two = f(&Cx { allocator: &allocator, parallel: &Threads });
    same(what, &two, &one);
    one
}

/// A copy without other handles.
pub(crate) fn own(x: &HostTensor) -> HostTensor {
    let copy = HostTensor::allocate(x.dtype(), x.shape().clone(), &malloc()).unwrap();
    befrost_tensor::ops::copy(x, &copy).unwrap();
    assert!(copy.is_unique());
    copy
}
