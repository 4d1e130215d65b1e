//! Selection of boxes that do not overlap: TensorFlow's `NonMaxSuppression` operators.
//!
//! ```text
//! queue by score ──best──▶ overlap with each selected box ─┬─▶ selected
//!       ▲                                                  ├─▶ excluded
//!       └───────────────── with a lower score ─────────────┘
//! ```
//!
//! Boxes are `[y1, x1, y2, x2]`, any two opposite corners. The overlap of two boxes is their intersection
//! over union (IoU): the area of the intersection divided by that of the union. Of boxes with equal scores,
//! the first is selected first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::fast::{self, Cx};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::mem::Allocator;
use crate::scratch::{collected, push, reserve};
use crate::sort::stable_sort;
use crate::{DType, HostTensor, Shape, TensorError};

/// The parameters of a selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suppression {
    /// The largest number of boxes to select.
    pub max_output_size: usize,
    /// A box whose IoU with a selected box, or whose given overlap, is larger is excluded.
    pub iou_threshold: f32,
    /// Boxes of at most this score are never selected.
    pub score_threshold: f32,
    /// If positive, overlaps exclude no box. Instead, each overlap multiplies the box's score by
    /// `exp(-iou^2 / (2 * soft_nms_sigma))`.
    pub soft_nms_sigma: f32,
}

type Corners = [f32; 4];

/// The intersection over union; 0 if a box has no area.
fn likeness(a: Corners, b: Corners) -> f32 {
    let sorted = |[y1, x1, y2, x2]: Corners| [y1.min(y2), x1.min(x2), y1.max(y2), x1.max(x2)];
    let (a, b) = (sorted(a), sorted(b));
    let area = |[y1, x1, y2, x2]: Corners| (y2 - y1) * (x2 - x1);
    if area(a) <= 0.0 || area(b) <= 0.0 {
        return 0.0;
    }
    let height = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
    let width = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    height * width / (area(a) + area(b) - height * width)
}

/// A box that may be selected; ordered by score, then by position.
#[derive(Clone, Copy, PartialEq)]
struct Candidate {
    score: f32,
    at: usize,
    /// The number of selected boxes that it was compared with.
    compared: usize,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.score.total_cmp(&other.score).then(other.at.cmp(&self.at))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Suppression {
    /// The selected boxes with their scores, best first. `likeness` is that of a candidate to a selected box.
    fn select(
        &self,
        likeness: &dyn Fn(usize, usize) -> f32,
        scores: &[f32],
    ) -> Result<Vec<(usize, f32)>, TensorError> {
        let is_soft = self.soft_nms_sigma > 0.0;
        let scale = if is_soft { -0.5 / self.soft_nms_sigma } else { 0.0 };
        let scores = scores.iter().enumerate().filter(|(_, score)| **score > self.score_threshold);
        // -0 and 0 are equal scores.
        let candidates = scores.map(|(at, &score)| Candidate { score: score + 0.0, at, compared: 0 });
        let mut queue = BinaryHeap::from(collected(candidates)?);
        let mut selected: Vec<(usize, f32)> = Vec::new();
        while selected.len() < self.max_output_size && !is_interrupted() {
            let Some(mut next) = queue.pop() else { break };
            let before = next.score;
            let mut is_excluded = false;
            // Boxes of similar scores are likely to overlap: the last selected ones come first.
            for &(other, _) in selected[next.compared..].iter().rev() {
                let alike = likeness(next.at, other);
                if is_soft {
                    next.score *= (scale * alike * alike).exp();
                }
                is_excluded = !is_soft && alike > self.iou_threshold;
                if is_excluded || next.score <= self.score_threshold {
                    break;
                }
            }
            next.compared = selected.len();
            if is_excluded {
                continue;
            }
            if next.score == before {
                push(&mut selected, (next.at, next.score))?;
            } else if next.score > self.score_threshold {
                queue.push(next); // allocates nothing: the entry was popped above
            }
        }
        Ok(selected)
    }
}

/// Boxes `[n, 4]` and scores `[n]` of floats, as f32.
fn operands(
    op: &'static str,
    boxes: &HostTensor,
    scores: &HostTensor,
    cx: &Cx<'_>,
) -> Result<(HostTensor, HostTensor), TensorError> {
    match (boxes.shape().dims(), scores.shape().dims()) {
        (&[n, 4], &[count]) if n == count => {}
        _ => {
            let (boxes, scores) = (boxes.shape(), scores.shape());
            return invalid(
                op,
                format!("boxes of shape {boxes} and scores of shape {scores}, expected [n, 4] and [n]"),
            );
        }
    }
    super::real::expect_float(op, boxes)?;
    super::real::expect_float(op, scores)?;
    Ok((fast::cast(boxes, DType::F32, cx)?, fast::cast(scores, DType::F32, cx)?))
}

/// Fails if `iou_threshold` is outside of [0, 1] or `soft_nms_sigma` is negative.
fn expect_thresholds(op: &'static str, by: &Suppression) -> Result<(), TensorError> {
    if !(0.0..=1.0).contains(&by.iou_threshold) {
        return invalid(op, format!("iou_threshold must be in [0, 1], got {}", by.iou_threshold));
    }
    if by.soft_nms_sigma < 0.0 {
        return invalid(op, format!("soft_nms_sigma must not be negative, got {}", by.soft_nms_sigma));
    }
    Ok(())
}

/// `NonMaxSuppression`, V2 to V5: the positions of the selected boxes, their scores in the dtype of `scores`,
/// and their number. If `is_padded`, zeros extend positions and scores to `max_output_size` elements.
pub fn non_max_suppression(
    op: &'static str,
    boxes: &HostTensor,
    scores: &HostTensor,
    by: &Suppression,
    is_padded: bool,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let dtype = scores.dtype();
    let (boxes, scores) = operands(op, boxes, scores, cx)?;
    expect_thresholds(op, by)?;
    if i32::try_from(scores.num_elements()).is_err() {
        return Err(TensorError::IndexRange { n: scores.num_elements() });
    }
    let selected = {
        let (boxes, scores) = (boxes.read::<f32>()?, scores.read::<f32>()?);
        let corners = |at: usize| [0, 1, 2, 3].map(|i| boxes[4 * at + i]);
        by.select(&|a, b| likeness(corners(a), corners(b)), &scores)?
    };
    let shape = Shape::new(&[if is_padded { by.max_output_size } else { selected.len() }])?;
    let positions = HostTensor::zeros(DType::I32, shape.clone(), cx.allocator)?;
    let found = HostTensor::zeros(DType::F32, shape, cx.allocator)?;
    {
        let (mut positions, mut found) = (positions.write::<i32>()?, found.write::<f32>()?);
        for (&(at, score), (position, found)) in
            selected.iter().zip(positions.iter_mut().zip(found.iter_mut()))
        {
            (*position, *found) = (at as i32, score); // below the number of scores
        }
    }
    let n = HostTensor::from_slice(Shape::scalar(), &[selected.len() as i32], cx.allocator)?;
    Ok([positions, fast::cast(&found, dtype, cx)?, n])
}

/// `NonMaxSuppressionWithOverlaps` of overlaps `[n, n]`, those of a candidate in its row: the positions of
/// the selected boxes.
pub fn non_max_suppression_with_overlaps(
    overlaps: &HostTensor,
    scores: &HostTensor,
    by: &Suppression,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let n = match (overlaps.shape().dims(), scores.shape().dims()) {
        (&[n, m], &[count]) if n == m && n == count => n,
        _ => {
            let (overlaps, scores) = (overlaps.shape(), scores.shape());
            let problem =
                format!("overlaps of shape {overlaps} and scores of shape {scores}, expected [n, n] and [n]");
            return invalid("NonMaxSuppressionWithOverlaps", problem);
        }
    };
    let selected = {
        let (overlaps, scores) = (overlaps.read_as::<f32>("overlaps")?, scores.read_as::<f32>("scores")?);
        by.select(&|a, b| overlaps[a * n + b], &scores)?
    };
    let positions = collected(selected.iter().map(|(at, _)| *at as i32))?; // fits, as there are n * n overlaps
    HostTensor::from_slice(Shape::new(&[positions.len()])?, &positions, allocator)
}

/// The parameters of `CombinedNonMaxSuppression`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combined {
    /// The selection within a class.
    pub per_class: Suppression,
    /// The largest number of boxes to select from an image, for all classes together.
    pub max_total_size: usize,
    /// The length of the results is at most `max_output_size` times the number of classes, instead of
    /// `max_total_size`.
    pub pad_per_class: bool,
    /// True if the corners in the result are clipped to [0, 1].
    pub clip_boxes: bool,
}

/// `CombinedNonMaxSuppression` of boxes `[batch, n, 1 or classes, 4]` and scores `[batch, n, classes]`: the
/// selected boxes, scores and classes of each image, padded with zeros, and the number of its boxes.
pub fn combined_non_max_suppression(
    boxes: &HostTensor,
    scores: &HostTensor,
    by: &Combined,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 4], TensorError> {
    let op = "CombinedNonMaxSuppression";
    let (batch, n, per_box, classes) = match (boxes.shape().dims(), scores.shape().dims()) {
        (&[batch, n, q, 4], &[b, m, classes]) if (b, m) == (batch, n) && (q == 1 || q == classes) => {
            (batch, n, q, classes)
        }
        _ => {
            let (boxes, scores) = (boxes.shape(), scores.shape());
            let problem = format!(
                "boxes of shape {boxes} and scores of shape {scores}, \
                 expected [batch, n, 1 or classes, 4] and [batch, n, classes]"
            );
            return invalid(op, problem);
        }
    };
    expect_thresholds(op, &by.per_class)?;
    if by.per_class.max_output_size == 0 || by.max_total_size == 0 {
        return invalid(op, "max_output_size_per_class and max_total_size must be positive".to_owned());
    }
    let of_classes = by.per_class.max_output_size.saturating_mul(classes);
    let room = if by.pad_per_class { by.max_total_size.min(of_classes) } else { by.max_total_size };
    let zeros = |dims: &[usize]| HostTensor::zeros(DType::F32, Shape::new(dims)?, allocator);
    let results = [zeros(&[batch, room, 4])?, zeros(&[batch, room])?, zeros(&[batch, room])?];
    let counts = HostTensor::zeros(DType::I32, Shape::new(&[batch])?, allocator)?;
    {
        let (boxes, scores) = (boxes.read_as::<f32>("boxes")?, scores.read_as::<f32>("scores")?);
        let (mut to_boxes, mut to_scores) = (results[0].write::<f32>()?, results[1].write::<f32>()?);
        let (mut to_classes, mut counts) = (results[2].write::<f32>()?, counts.write::<i32>()?);
        for image in 0..batch {
            let mut found: Vec<(f32, usize, Corners)> = Vec::new();
            for class in 0..if n > 0 { classes } else { 0 } {
                let corners = |at: usize| {
                    let position = (image * n + at) * per_box + if per_box > 1 { class } else { 0 };
                    [0, 1, 2, 3].map(|i| boxes[4 * position + i])
                };
                let of_class = collected((0..n).map(|at| scores[(image * n + at) * classes + class]))?;
                let alike = |a, b| likeness(corners(a), corners(b));
                let selected = by.per_class.select(&alike, &of_class)?;
                reserve(&mut found, selected.len())?;
                found.extend(selected.into_iter().map(|(at, score)| (score, class, corners(at))));
            }
            stable_sort(&mut found, |(a, ..), (b, ..)| b.total_cmp(a))?;
            found.truncate(room);
            counts[image] = i32::try_from(found.len()).map_err(|_| TensorError::TooLarge)?;
            for (i, (score, class, corners)) in found.into_iter().enumerate() {
                let at = image * room + i;
                #[allow(clippy::manual_clamp, reason = "a NaN becomes 1, as in TensorFlow")]
                let corners = corners.map(|x| if by.clip_boxes { x.min(1.0).max(0.0) } else { x });
                to_boxes[4 * at..][..4].copy_from_slice(&corners);
                (to_scores[at], to_classes[at]) = (score, class as f32);
            }
        }
    }
    let [boxes, scores, classes] = results;
    Ok([boxes, scores, classes, counts])
}
