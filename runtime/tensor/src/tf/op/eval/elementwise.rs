//! Operators of the parameterized classes, other elementwise operators, and reductions.

use super::{count_in, int_in, ints_in, of, owning, owning_many};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::op::row::Class;
use crate::tf::op::rows;
use crate::tf::{
    self, Binary, Compare, Part, Test, Unary, cast_truncated, fast, select_slices, unsorted_segment,
};
use crate::{DType, HostTensor, I1, Shape, TensorError};

/// The error for a class that is not the constructor's.
fn other_class(attrs: &Attributes<'_>) -> Made {
    invalid(attrs.op(), "no function of its class".to_owned())
}

pub(in crate::tf::op) fn unary(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::Unary(op) = class else { return other_class(attrs) };
    owning(attrs, move |[x], cx| fast::unary(op, x, cx))
}

pub(in crate::tf::op) fn test(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::Test(op) = class else { return other_class(attrs) };
    of(attrs, move |[x], m| tf::test(op, x, m))
}

pub(in crate::tf::op) fn part(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::Part(op) = class else { return other_class(attrs) };
    let to = attrs.dtype("Tout")?;
    of(attrs, move |[x], m| typed(tf::part(op, x, m)?, to))
}

pub(in crate::tf::op) fn binary(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::Binary(op) = class else { return other_class(attrs) };
    owning(attrs, move |[a, b], cx| fast::binary(op, a, b, cx))
}

pub(in crate::tf::op) fn reduce(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::Reduce(op) = class else { return other_class(attrs) };
    let (name, keep_dims) = (attrs.op(), attrs.bool("keep_dims")?);
    owning(attrs, move |[x, axes], cx| {
        fast::reduce(op, &x, &ints_in(name, "reduction_indices", &axes)?, keep_dims, cx)
    })
}

pub(in crate::tf::op) fn scan(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::Scan(op) = class else { return other_class(attrs) };
    let (name, exclusive, reverse) = (attrs.op(), attrs.bool("exclusive")?, attrs.bool("reverse")?);
    of(attrs, move |[x, axis], m| tf::scan(op, x, int_in(name, "axis", axis)?, exclusive, reverse, m))
}

pub(in crate::tf::op) fn segment(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::Segment(op) = class else { return other_class(attrs) };
    let name = attrs.op();
    of(attrs, move |[x, ids, n], m| unsorted_segment(op, x, ids, count_in(name, "num_segments", n)?, m))
}

pub(in crate::tf::op) fn sorted_segment(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::SortedSegment(op) = class else { return other_class(attrs) };
    of(attrs, move |[x, ids], m| tf::segment(op, x, ids, m))
}

/// Checks the result's dtype against an attribute.
fn typed(result: HostTensor, want: DType) -> Result<HostTensor, TensorError> {
    result.expect_dtype("Tout", want)?;
    Ok(result)
}

/// A comparison. For `Equal` and `NotEqual`, an attribute selects a scalar result for shapes that do not
/// broadcast.
pub(in crate::tf::op) fn compare(class: Class, attrs: &Attributes<'_>) -> Made {
    let Class::Compare(op) = class else { return other_class(attrs) };
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

pub(in crate::tf::op) fn select_v2(_: Class, attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[c, a, b], cx| fast::select(&c, &a, &b, cx))
}

pub(in crate::tf::op) fn clip_by_value(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x, low, high], cx| fast::clip_by_value(&x, &low, &high, cx))
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

pub(in crate::tf::op) fn cast(_: Class, attrs: &Attributes<'_>) -> Made {
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
    owning(attrs, move |[x, axis], cx| {
        fast::arg_extreme(op == "ArgMax", &x, int_in(op, "dimension", &axis)?, to, cx)
    })
}

pub(in crate::tf::op) fn check_numerics(attrs: &Attributes<'_>) -> Made {
    let (op, message) = (attrs.op(), attrs.string("message")?);
    of(attrs, move |[x], m| {
        for (question, what) in [(Test::IsNan, "NaN"), (Test::IsInf, "infinite")] {
            if tf::test(question, x, m)?.read::<I1>()?.iter().any(|found| found.is_true()) {
                return invalid(op, format!("{message}: {what} values in shape {}", x.shape()));
            }
        }
        Ok(x.clone())
    })
}

pub(in crate::tf::op) fn unary_ops_composition(attrs: &Attributes<'_>) -> Made {
    let names = attrs.strings("op_names")?;
    let ops = names.iter().map(|name| match rows::class(name) {
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
        let difference = tf::binary(Binary::Sub, a, b, m)?;
        let distance = match a.dtype() {
            DType::Complex64 | DType::Complex128 => tf::part(Part::ComplexAbs, &difference, m)?,
            _ => tf::unary(Unary::Abs, &difference, m)?,
        };
        tf::compare(Compare::Less, &distance, &tf::cast(&tolerance, distance.dtype(), m)?, m)
    })
}
