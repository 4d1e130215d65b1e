//! Random numbers whose generator is a variable: a counter and a key as three i64, changed by each use.
//!
//! ```text
//! variable [counter low, counter high, key] ──▶ position of the stream ──▶ numbers
//!               counter += 256 blocks per number
//! ```
//!
//! The generator stays as it is if the numbers cannot be drawn.

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_tensor::tf::fast::Cx;
use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::tf::{Distribution, Philox, binomial, random};
use befrost_tensor::{DType, HostTensor, Shape, TensorError};

use super::action::{Action, ActionRow, action, int, ints, tensor};
use super::operands::dense;
use super::variables::{update_one, variable};
use crate::objects::refused;
use crate::workers::run;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::StatefulUniform], |attrs| draw(attrs, Distribution::Uniform)),
    (&[Op::StatefulUniformInt], draw_ints),
    (&[Op::StatefulUniformFullInt], |attrs| draw(attrs, Distribution::Bits)),
    (&[Op::StatefulStandardNormal], draw_by_state),
    (&[Op::StatefulStandardNormalV2], |attrs| draw(attrs, Distribution::Normal)),
    (&[Op::StatefulTruncatedNormal], |attrs| draw(attrs, Distribution::Truncated)),
    (&[Op::StatefulRandomBinomial], draw_binomial),
    (&[Op::RngSkip], |attrs| {
        action(attrs, |[state, algorithm, delta], cx| {
            let delta = int(delta)? as u64;
            expect_philox(int(algorithm)?)?;
            advance(state, 0, cx, |_| Ok(((), delta)))?;
            Ok([])
        })
    }),
    (&[Op::RngReadAndSkip], |attrs| {
        action(attrs, |[state, algorithm, delta], cx| {
            let delta = dense(delta)?;
            delta.expect_shape("delta", &Shape::scalar()).map_err(refused)?;
            let delta = delta.read_as::<u64>("delta").map_err(refused)?[0];
            expect_philox(int(algorithm)?)?;
            let at = advance(state, 0, cx, |at| Ok((at, delta)))?;
            let [low, high] = at.counter();
            let old = [low, high, at.key()].map(|word| word as i64);
            let old = HostTensor::from_slice(Shape::new(&[3]).map_err(refused)?, &old, cx.allocator());
            Ok([tensor(old.map_err(refused)?)])
        })
    }),
];

/// The number of the Philox algorithm.
const PHILOX: i64 = 1;
/// The number of the ThreeFry algorithm.
const THREEFRY: i64 = 2;
/// The number that leaves the choice to the device.
const AUTO: i64 = 3;
/// The number of blocks that a step of the generator takes.
const BLOCKS: u64 = 256;

fn expect_philox(algorithm: i64) -> Result<(), KernelError> {
    match algorithm {
        PHILOX | AUTO => Ok(()),
        THREEFRY => Err(KernelError::new(
            ErrorCode::Unimplemented,
            "the ThreeFry algorithm is not supported".to_owned(),
        )),
        other => Err(KernelError::invalid(format!("unsupported algorithm {other}"))),
    }
}

/// Passes the position of a generator to `use_it`, and moves it by the returned number of steps. The words of
/// the generator begin at `first` in the variable.
fn advance<R>(
    state: &Value,
    first: usize,
    cx: &ExecContext,
    use_it: impl FnOnce(Philox) -> Result<(R, u64), TensorError>,
) -> Result<R, KernelError> {
    let mut result = None;
    update_one(variable(state)?, |words| {
        let refuse = |problem: String| Err(TensorError::Invalid { op: "a generator's state", problem });
        if words.dtype() != DType::I64 {
            return refuse(format!("it is of type {}, expected i64", words.dtype()));
        }
        let n = words.num_elements();
        if words.shape().rank() != 1 || n < first + 3 {
            return refuse(format!("it has shape {}, expected {} words or more", words.shape(), first + 3));
        }
        let at = {
            let words = words.read::<i64>()?;
            Philox::at([words[first] as u64, words[first + 1] as u64], words[first + 2] as u64)
        };
        let (used, steps) = use_it(at)?;
        words.make_unique(cx.allocator())?;
        let next = at.skipped(steps.wrapping_mul(BLOCKS)).counter();
        let mut words = words.write::<i64>()?;
        (words[first], words[first + 1]) = (next[0] as i64, next[1] as i64);
        result = Some(used);
        Ok(())
    })?;
    result.ok_or_else(|| KernelError::invalid("the generator was not used"))
}

/// Numbers of the shape in an operand, drawn from a generator whose words begin at `first`.
fn drawn(
    (op, dtype): (&'static str, DType),
    (state, first): (&Value, usize),
    shape: &Value,
    distribution: impl FnOnce(&Cx<'_>) -> Result<Distribution, TensorError>,
    cx: &ExecContext,
) -> Result<[Value; 1], KernelError> {
    let shape = Shape::from_i64(&ints(shape)?).map_err(refused)?;
    let n = shape.num_elements() as u64;
    let numbers = run(cx, cx.allocator(), |tensors| {
        advance(state, first, cx, |at| {
            Ok((random(op, distribution(tensors)?, (dtype, shape), at, tensors)?, n))
        })
    })??;
    Ok([tensor(numbers)])
}

fn draw(attrs: &Attributes<'_>, distribution: Distribution) -> Result<Action, TensorError> {
    let of = (attrs.op(), attrs.dtype("dtype")?);
    action(attrs, move |[state, algorithm, shape], cx| {
        expect_philox(int(algorithm)?)?;
        drawn(of, (state, 0), shape, |_| Ok(distribution), cx)
    })
}

fn draw_ints(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let (op, dtype) = (attrs.op(), attrs.dtype("dtype")?);
    action(attrs, move |[state, algorithm, shape, low, high], cx| {
        expect_philox(int(algorithm)?)?;
        let ends = [dense(low)?, dense(high)?];
        drawn((op, dtype), (state, 0), shape, |tensors| Distribution::between(op, dtype, ends, tensors), cx)
    })
}

/// `StatefulStandardNormal`: the variable begins with the algorithm.
fn draw_by_state(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let of = (attrs.op(), attrs.dtype("dtype")?);
    action(attrs, move |[state, shape], cx| {
        let words = variable(state)?.numbers()?;
        let words = words.read_as::<i64>("state").map_err(refused)?;
        expect_philox(words.first().copied().unwrap_or_default())?;
        drawn(of, (state, 1), shape, |_| Ok(Distribution::Normal), cx)
    })
}

fn draw_binomial(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let (op, dtype) = (attrs.op(), attrs.dtype("dtype")?);
    action(attrs, move |[state, algorithm, shape, counts, chances], cx| {
        let shape = Shape::from_i64(&ints(shape)?).map_err(refused)?;
        expect_philox(int(algorithm)?)?;
        let of = [dense(counts)?, dense(chances)?];
        let numbers = run(cx, cx.allocator(), |tensors| {
            advance(state, 0, cx, |at| {
                let drawn = binomial(op, of, (dtype, shape.clone()), at, tensors)?;
                let rank = of.iter().map(|x| x.shape().rank()).max().unwrap_or(0);
                let (samples, each) = shape.dims().split_at(shape.rank() - rank);
                let product = |dims: &[usize]| dims.iter().fold(1u64, |n, &dim| n.wrapping_mul(dim as u64));
                let steps =
                    product(each).wrapping_mul(200).wrapping_mul(product(samples).wrapping_add(3)) / 4;
                Ok((drawn, steps))
            })
        })??;
        Ok([tensor(numbers)])
    })
}
