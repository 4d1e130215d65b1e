//! Connectionist temporal classification.

use super::owning;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{self, CtcLossAttrs};

pub(in crate::tf::op) fn greedy(attrs: &Attributes<'_>) -> Made {
    let (blank, merges) = (attrs.int("blank_index")?, attrs.bool("merge_repeated")?);
    owning(attrs, move |[inputs, lengths], cx| tf::ctc_greedy(&inputs, &lengths, blank, merges, cx))
}

pub(in crate::tf::op) fn beam_search(attrs: &Attributes<'_>) -> Made {
    let (sizes, merges) =
        ((attrs.count("beam_width")?, attrs.count("top_paths")?), attrs.bool("merge_repeated")?);
    owning(attrs, move |[inputs, lengths], cx| tf::ctc_beam_search(&inputs, &lengths, sizes, merges, cx))
}

pub(in crate::tf::op) fn loss(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let by = CtcLossAttrs {
        blank_is_first: op == "CTCLossV2",
        collapses_labels: attrs.bool("preprocess_collapse_repeated")?,
        merges_paths: attrs.bool("ctc_merge_repeated")?,
        ignores_longer: attrs.bool("ignore_longer_outputs_than_inputs")?,
    };
    owning(attrs, move |[inputs, places, values, lengths], cx| {
        tf::ctc_loss(op, [&inputs, &places, &values, &lengths], &by, cx)
    })
}
