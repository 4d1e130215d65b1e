//! Histograms, n-th elements, distances of sequences, the incomplete beta function.

use super::{count_in, ints_in, owning};
use crate::tf;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;

pub(in crate::tf::op) fn histogram(attrs: &Attributes<'_>) -> Made {
    let (op, to) = (attrs.op(), attrs.dtype("dtype")?);
    owning(attrs, move |[x, range, n], cx| tf::histogram(&x, &range, count_in(op, "nbins", &n)?, to, cx))
}

pub(in crate::tf::op) fn nth_element(attrs: &Attributes<'_>) -> Made {
    let (op, is_reverse) = (attrs.op(), attrs.bool("reverse")?);
    owning(attrs, move |[x, n], cx| tf::nth_element(&x, count_in(op, "n", &n)?, is_reverse, cx))
}

pub(in crate::tf::op) fn edit_distance(attrs: &Attributes<'_>) -> Made {
    let (op, normalize) = (attrs.op(), attrs.bool("normalize")?);
    owning(attrs, move |[indices, values, shape, truth_indices, truth_values, truth_shape], cx| {
        let shapes = [ints_in(op, "hypothesis_shape", &shape)?, ints_in(op, "truth_shape", &truth_shape)?];
        let (ours, theirs) = ([&indices, &values], [&truth_indices, &truth_values]);
        tf::edit_distance(ours, theirs, [&shapes[0], &shapes[1]], normalize, cx)
    })
}

pub(in crate::tf::op) fn betainc(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[a, b, x], cx| tf::betainc([&a, &b, &x], cx))
}
