//! Operators whose names are in tables of `crate::tf` already, and other elementwise ones and reductions.

use super::{Attributes, OwnedEval, Row, count_in, int_in, ints_in, of, owning, owning_many};
use crate::error::invalid;
use crate::tf::{
    Binary, Compare, Part, Reduce, Scan, Segment, SortedSegment, Test, Unary, arg_extreme, binary, bitcast,
    cast, cast_truncated, clip_by_value, compare, complex, fast, l2_loss, leaky_relu_grad, next_after, part,
    population_count, scan, segment, select_slices, test, unary, unsorted_segment,
};
use crate::{DType, HostTensor, I1, Shape, TensorError};

/// An operator of a table of `crate::tf`.
#[derive(Clone, Copy)]
pub(super) enum Tabled {
    Unary(Unary),
    Binary(Binary),
    Compare(Compare),
    Test(Test),
    Part(Part),
    Reduce(Reduce),
    Scan(Scan),
    Segment(Segment),
    SortedSegment(SortedSegment),
}

impl Tabled {
    pub(super) fn named(op: &str) -> Option<Tabled> {
        None.or_else(|| Unary::named(op).map(Tabled::Unary))
            .or_else(|| Binary::named(op).map(Tabled::Binary))
            .or_else(|| Compare::named(op).map(Tabled::Compare))
            .or_else(|| Test::named(op).map(Tabled::Test))
            .or_else(|| Part::named(op).map(Tabled::Part))
            .or_else(|| Reduce::named(op).map(Tabled::Reduce))
            .or_else(|| Scan::named(op).map(Tabled::Scan))
            .or_else(|| Segment::named(op).map(Tabled::Segment))
            .or_else(|| SortedSegment::named(op).map(Tabled::SortedSegment))
    }

    pub(super) fn make(self, attrs: &Attributes<'_>) -> Result<OwnedEval, TensorError> {
        let name = attrs.op();
        match self {
            Tabled::Unary(op) => owning(attrs, move |[x], cx| fast::unary(op, x, cx)),
            Tabled::Binary(op) => owning(attrs, move |[a, b], cx| fast::binary(op, a, b, cx)),
            Tabled::Compare(op) => comparison(op, attrs),
            Tabled::Test(op) => of(attrs, move |[x], m| test(op, x, m)),
            Tabled::Part(op) => {
                let to = attrs.dtype("Tout")?;
                of(attrs, move |[x], m| typed(part(op, x, m)?, to))
            }
            Tabled::Reduce(op) => {
                let keep_dims = attrs.bool("keep_dims")?;
                owning(attrs, move |[x, axes], cx| {
                    fast::reduce(op, &x, &ints_in(name, "reduction_indices", &axes)?, keep_dims, cx)
                })
            }
            Tabled::Scan(op) => {
                let (exclusive, reverse) = (attrs.bool("exclusive")?, attrs.bool("reverse")?);
                of(attrs, move |[x, axis], m| scan(op, x, int_in(name, "axis", axis)?, exclusive, reverse, m))
            }
            Tabled::Segment(op) => of(attrs, move |[x, ids, n], m| {
                unsorted_segment(op, x, ids, count_in(name, "num_segments", n)?, m)
            }),
            Tabled::SortedSegment(op) => of(attrs, move |[x, ids], m| segment(op, x, ids, m)),
        }
    }
}

/// A result whose dtype an attribute says once more.
fn typed(result: HostTensor, want: DType) -> Result<HostTensor, TensorError> {
    result.expect_dtype("Tout", want)?;
    Ok(result)
}

/// `Equal` and `NotEqual` can be told to answer once for shapes that do not broadcast.
fn comparison(op: Compare, attrs: &Attributes<'_>) -> Result<OwnedEval, TensorError> {
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

pub(super) const OPS: &[Row] = &[
    (&["AddN", "AccumulateNV2"], |attrs| owning_many(attrs, 1, fast::add_n)),
    (&["Select"], |attrs| of(attrs, |[c, a, b], m| select_slices(c, a, b, m))),
    (&["SelectV2"], |attrs| owning(attrs, |[c, a, b], cx| fast::select(&c, &a, &b, cx))),
    (&["ClipByValue"], |attrs| of(attrs, |[x, low, high], m| clip_by_value(x, low, high, m))),
    (&["NextAfter"], |attrs| of(attrs, |[a, b], m| next_after(a, b, m))),
    (&["Complex"], |attrs| {
        let to = attrs.dtype("Tout")?;
        of(attrs, move |[re, im], m| typed(complex(re, im, m)?, to))
    }),
    (&["PopulationCount"], |attrs| of(attrs, |[x], m| population_count(x, m))),
    (&["L2Loss"], |attrs| of(attrs, |[x], m| l2_loss(x, m))),
    (&["LeakyRelu"], |attrs| {
        let alpha = attrs.float("alpha")? as f32;
        owning(attrs, move |[x], cx| fast::leaky_relu(x, alpha, cx))
    }),
    (&["LeakyReluGrad"], |attrs| {
        let alpha = attrs.float("alpha")? as f32;
        of(attrs, move |[dy, x], m| leaky_relu_grad(dy, x, alpha, m))
    }),
    (&["ApproximateEqual"], approximate_equal),
    (&["Cast"], |attrs| {
        let to = attrs.dtype("DstT")?;
        if attrs.bool("Truncate")? {
            return of(attrs, move |[x], m| cast_truncated(x, to, m));
        }
        owning(attrs, move |[x], cx| fast::cast(&x, to, cx))
    }),
    (&["Bitcast"], |attrs| {
        let to = attrs.dtype("type")?;
        of(attrs, move |[x], _| bitcast(x, to))
    }),
    (&["ArgMax", "ArgMin"], |attrs| {
        let (op, to) = (attrs.op(), attrs.dtype("output_type")?);
        of(attrs, move |[x, axis], m| arg_extreme(op == "ArgMax", x, int_in(op, "dimension", axis)?, to, m))
    }),
    (&["CheckNumerics", "CheckNumericsV2"], |attrs| {
        let (op, message) = (attrs.op(), attrs.string("message")?);
        of(attrs, move |[x], m| {
            for (question, what) in [(Test::IsNan, "NaN"), (Test::IsInf, "infinite")] {
                if test(question, x, m)?.read::<I1>()?.iter().any(|found| found.is_true()) {
                    return invalid(op, format!("{message}: {what} values in shape {}", x.shape()));
                }
            }
            Ok(x.clone())
        })
    }),
    (&["_UnaryOpsComposition"], |attrs| {
        let names = attrs.strings("op_names")?;
        let ops = names.iter().map(|name| match Unary::named(name) {
            Some(op) => Ok(op),
            None => invalid(attrs.op(), format!("`{name}` is no elementwise function")),
        });
        let ops = ops.collect::<Result<Vec<_>, _>>()?;
        owning(attrs, move |[x], cx| ops.iter().try_fold(x, |x, op| fast::unary(*op, x, cx)))
    }),
];

/// Closer than the tolerance, which is rounded to the dtype as TensorFlow does.
fn approximate_equal(attrs: &Attributes<'_>) -> Result<OwnedEval, TensorError> {
    let tolerance = attrs.float("tolerance")?;
    of(attrs, move |[a, b], m| {
        b.expect_shape("y", a.shape())?;
        let tolerance = HostTensor::from_slice(Shape::scalar(), &[tolerance], m)?;
        let difference = binary(Binary::Sub, a, b, m)?;
        let distance = match a.dtype() {
            DType::Complex64 | DType::Complex128 => part(Part::ComplexAbs, &difference, m)?,
            _ => unary(Unary::Abs, &difference, m)?,
        };
        compare(Compare::Less, &distance, &cast(&tolerance, distance.dtype(), m)?, m)
    })
}
