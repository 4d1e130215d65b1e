//! ONNX's `NonMaxSuppression`: for each image and class, the boxes that do not overlap a better selected box.
//!
//! Of boxes with equal scores, the first is better. A box without area overlaps no other.

use super::super::fast::Cx;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, push};
use crate::{HostTensor, Shape, TensorError};

/// The limits of a selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The maximum number of boxes for a class of an image.
    pub most: usize,
    /// The maximum intersection over union of two selected boxes.
    pub iou: f32,
    /// Lower limit of the scores, exclusive.
    pub score: f32,
    /// True if boxes are given as center and size, false for two opposite corners.
    pub centered: bool,
}

/// The lower and the upper corner of a box.
type BoxEnds = ([f32; 2], [f32; 2]);

impl Limits {
    fn corners(&self, b: &[f32]) -> BoxEnds {
        if self.centered {
            let half = [b[2] / 2.0, b[3] / 2.0];
            return ([b[0] - half[0], b[1] - half[1]], [b[0] + half[0], b[1] + half[1]]);
        }
        ([b[1].min(b[3]), b[0].min(b[2])], [b[1].max(b[3]), b[0].max(b[2])])
    }

    fn are_alike(&self, (a_low, a_high): &BoxEnds, (b_low, b_high): &BoxEnds) -> bool {
        let side = |i: usize| a_high[i].min(b_high[i]) - a_low[i].max(b_low[i]);
        let (width, height) = (side(0), side(1));
        if width <= 0.0 || height <= 0.0 {
            return false;
        }
        let area = |low: &[f32; 2], high: &[f32; 2]| (high[0] - low[0]) * (high[1] - low[1]);
        let (both, a, b) = (width * height, area(a_low, a_high), area(b_low, b_high));
        let union = a + b - both;
        a > 0.0 && b > 0.0 && union > 0.0 && both / union > self.iou
    }
}

/// `_BatchedNonMaxSuppression` of boxes `[batch, n, 4]` and scores `[batch, classes, n]`: a row of image,
/// class and box number for each selected box.
pub fn batched_non_max_suppression(
    boxes: &HostTensor,
    scores: &HostTensor,
    limits: &Limits,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_BatchedNonMaxSuppression";
    let (batch, classes, n) = match (boxes.shape().dims(), scores.shape().dims()) {
        (&[batch, n, 4], &[b, classes, m]) if (b, m) == (batch, n) => (batch, classes, n),
        _ => {
            let (boxes, scores) = (boxes.shape(), scores.shape());
            let problem = format!(
                "boxes of shape {boxes} and scores of shape {scores}, expected [batch, n, 4] and [batch, classes, n]"
            );
            return invalid(op, problem);
        }
    };
    if !(0.0..=1.0).contains(&limits.iou) {
        return invalid(op, format!("`iou_threshold` must be in [0, 1], got {}", limits.iou));
    }
    let mut selected: Vec<i64> = Vec::new();
    let (boxes, scores) = (boxes.read_as::<f32>("boxes")?, scores.read_as::<f32>("scores")?);
    for (image, (boxes, scores)) in
        boxes.chunks_exact((4 * n).max(1)).zip(scores.chunks_exact((classes * n).max(1))).enumerate()
    {
        let corners = collected(boxes.chunks_exact(4).map(|b| limits.corners(b)))?;
        for (class, scores) in scores.chunks_exact(n).enumerate() {
            let mut best = collected((0..n).filter(|&i| scores[i] > limits.score))?;
            best.sort_unstable_by(|&a, &b| (scores[b] + 0.0).total_cmp(&(scores[a] + 0.0)).then(a.cmp(&b)));
            let mut kept: Vec<usize> = Vec::new();
            for at in best {
                if kept.len() >= limits.most || is_interrupted() {
                    break;
                }
                if !kept.iter().any(|&other| limits.are_alike(&corners[at], &corners[other])) {
                    push(&mut kept, at)?;
                }
            }
            for at in kept {
                for x in [image, class, at] {
                    push(&mut selected, x as i64)?;
                }
            }
        }
    }
    debug_assert!(selected.len() / 3 <= batch * classes * n, "each box at most once for a class");
    HostTensor::from_slice(Shape::new(&[selected.len() / 3, 3])?, &selected, cx.allocator)
}
