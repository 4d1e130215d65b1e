//! Operators of the parameterized classes, other elementwise operators, and reductions.

use super::{count_in, int_in, ints_in, of, owning, owning_many};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::op::row::{Class, Lookup, OpRow};
use crate::tf::{
    self, Binary, Compare, Part, Test, Unary, binary, cast_truncated, compare, fast, part, scan, segment,
    select_slices, test, unary, unsorted_segment,
};
use crate::{DType, HostTensor, I1, Shape, TensorError};

/// The function of a class.
pub(in crate::tf::op) fn of_class(class: Class, attrs: &Attributes<'_>) -> Made {
    let name = attrs.op();
    match class {
        Class::Unary(op) => owning(attrs, move |[x], cx| fast::unary(op, x, cx)),
        Class::Binary(op) => owning(attrs, move |[a, b], cx| fast::binary(op, a, b, cx)),
        Class::Compare(op) => comparison(op, attrs),
        Class::Test(op) => of(attrs, move |[x], m| test(op, x, m)),
        Class::Part(op) => {
            let to = attrs.dtype("Tout")?;
            of(attrs, move |[x], m| typed(part(op, x, m)?, to))
        }
        Class::Reduce(op) => {
            let keep_dims = attrs.bool("keep_dims")?;
            owning(attrs, move |[x, axes], cx| {
                fast::reduce(op, &x, &ints_in(name, "reduction_indices", &axes)?, keep_dims, cx)
            })
        }
        Class::Scan(op) => {
            let (exclusive, reverse) = (attrs.bool("exclusive")?, attrs.bool("reverse")?);
            of(attrs, move |[x, axis], m| scan(op, x, int_in(name, "axis", axis)?, exclusive, reverse, m))
        }
        Class::Segment(op) => of(attrs, move |[x, ids, n], m| {
            unsorted_segment(op, x, ids, count_in(name, "num_segments", n)?, m)
        }),
        Class::SortedSegment(op) => of(attrs, move |[x, ids], m| segment(op, x, ids, m)),
        Class::Other => invalid(name, "no function of its class".to_owned()),
    }
}

/// Checks the result's dtype against an attribute.
fn typed(result: HostTensor, want: DType) -> Result<HostTensor, TensorError> {
    result.expect_dtype("Tout", want)?;
    Ok(result)
}

/// A comparison. For `Equal` and `NotEqual`, an attribute selects a scalar result for shapes that do not
/// broadcast.
fn comparison(op: Compare, attrs: &Attributes<'_>) -> Made {
    let lenient = match op {
        Compare::Equal | Compare::NotEqual => !attrs.bool("incompatible_shape_error")?,
        _ => false,
    };
    owning(attrs, move |[a, b], cx| match fast::compare(op, &a, &b, cx) {
        Err(TensorError::Broadcast { .. }) if lenient => {
            HostTensor::from_slice(Shape::scalar(), &[I1::from(op == Compare::NotEqual)], cx.allocator)
        }
        answer => answer,
    })
}

pub(in crate::tf::op) fn add_n(attrs: &Attributes<'_>) -> Made {
    owning_many(attrs, 1, fast::add_n)
}

pub(in crate::tf::op) fn select(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[c, a, b], m| select_slices(c, a, b, m))
}

pub(in crate::tf::op) fn select_v2(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[c, a, b], cx| fast::select(&c, &a, &b, cx))
}

pub(in crate::tf::op) fn clip_by_value(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, low, high], m| tf::clip_by_value(x, low, high, m))
}

pub(in crate::tf::op) fn next_after(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[a, b], m| tf::next_after(a, b, m))
}

pub(in crate::tf::op) fn complex(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("Tout")?;
    of(attrs, move |[re, im], m| typed(tf::complex(re, im, m)?, to))
}

pub(in crate::tf::op) fn population_count(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| tf::population_count(x, m))
}

pub(in crate::tf::op) fn l2_loss(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| fast::l2_loss(&x, cx))
}

pub(in crate::tf::op) fn leaky_relu(attrs: &Attributes<'_>) -> Made {
    let alpha = attrs.float("alpha")? as f32;
    owning(attrs, move |[x], cx| fast::leaky_relu(x, alpha, cx))
}

pub(in crate::tf::op) fn leaky_relu_grad(attrs: &Attributes<'_>) -> Made {
    let alpha = attrs.float("alpha")? as f32;
    of(attrs, move |[dy, x], m| tf::leaky_relu_grad(dy, x, alpha, m))
}

pub(in crate::tf::op) fn cast(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("DstT")?;
    if attrs.bool("Truncate")? {
        return of(attrs, move |[x], m| cast_truncated(x, to, m));
    }
    owning(attrs, move |[x], cx| fast::cast(&x, to, cx))
}

pub(in crate::tf::op) fn bitcast(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("type")?;
    of(attrs, move |[x], _| tf::bitcast(x, to))
}

pub(in crate::tf::op) fn arg_extreme(attrs: &Attributes<'_>) -> Made {
    let (op, to) = (attrs.op(), attrs.dtype("output_type")?);
    of(attrs, move |[x, axis], m| tf::arg_extreme(op == "ArgMax", x, int_in(op, "dimension", axis)?, to, m))
}

pub(in crate::tf::op) fn check_numerics(attrs: &Attributes<'_>) -> Made {
    let (op, message) = (attrs.op(), attrs.string("message")?);
    of(attrs, move |[x], m| {
        for (question, what) in [(Test::IsNan, "NaN"), (Test::IsInf, "infinite")] {
            if test(question, x, m)?.read::<I1>()?.iter().any(|found| found.is_true()) {
                return invalid(op, format!("{message}: {what} values in shape {}", x.shape()));
            }
        }
        Ok(x.clone())
    })
}

pub(in crate::tf::op) fn unary_ops_composition(attrs: &Attributes<'_>, row: Lookup) -> Made {
    let names = attrs.strings("op_names")?;
    let ops = names.iter().map(|name| match row(name).map(OpRow::class) {
        Some(Class::Unary(op)) => Ok(op),
        _ => invalid(attrs.op(), format!("`{name}` is no elementwise function")),
    });
    let ops = ops.collect::<Result<Vec<_>, _>>()?;
    owning(attrs, move |[x], cx| ops.iter().try_fold(x, |x, op| fast::unary(*op, x, cx)))
}

/// True where the difference is below the tolerance, which is rounded to the dtype as in TensorFlow.
pub(in crate::tf::op) fn approximate_equal(attrs: &Attributes<'_>) -> Made {
    let tolerance = attrs.float("tolerance")?;
    of(attrs, move |[a, b], m| {
        b.expect_shape("y", a.shape())?;
        let tolerance = HostTensor::from_slice(Shape::scalar(), &[tolerance], m)?;
        let difference = binary(Binary::Sub, a, b, m)?;
        let distance = match a.dtype() {
            DType::Complex64 | DType::Complex128 => part(Part::ComplexAbs, &difference, m)?,
            _ => unary(Unary::Abs, &difference, m)?,
        };
        compare(Compare::Less, &distance, &tf::cast(&tolerance, distance.dtype(), m)?, m)
    })
}
