//! Resizing of images, and boxes in them.

use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::Vjp;

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::ResizeBicubic => Rule(|g| g.dx(0, g.same(Op::ResizeBicubicGrad, &[g.d(), g.x(0)]))),
        Op::ResizeBilinear => Rule(|g| g.dx(0, g.same(Op::ResizeBilinearGrad, &[g.d(), g.x(0)]))),
        Op::ResizeNearestNeighbor => {
            Rule(|g| g.dx(0, g.same(Op::ResizeNearestNeighborGrad, &[g.d(), size(g.x(0))])))
        }
        Op::ResizeBicubicGrad => Rule(|g| again(g, Op::ResizeBicubic)),
        Op::ResizeBilinearGrad => Rule(|g| again(g, Op::ResizeBilinear)),
        Op::ResizeNearestNeighborGrad => {
            Rule(|g| g.dx(0, g.same(Op::ResizeNearestNeighbor, &[g.d(), size(g.x(0))])))
        }
        Op::CropAndResize => Rule(|g| {
            let (image, boxes, of) = (g.x(0), g.x(1), g.x(2));
            if g.wants(0) {
                let types = [image.ty()];
                let attrs = g.common(Op::CropAndResizeGradImage, &[]);
                let operands = [g.d(), boxes, of, image.shape()];
                g.dx(0, g.typed(Op::CropAndResizeGradImage, &operands, &attrs, &types)[0]);
            }
            if g.wants(1) {
                g.dx(1, g.same(Op::CropAndResizeGradBoxes, &[g.d(), image, boxes, of]));
            }
        }),
        _ => return None,
    })
}

/// Height and width.
fn size(images: Val<'_>) -> Val<'_> {
    match images.sizes().as_deref() {
        Some(&[_, height, width, _]) if height >= 0 && width >= 0 => {
            images.ints(&[height, width], befrost_tensor::DType::I32)
        }
        _ => images.shape().slice(images.int(1).expand(0), images.int(2).expand(0)),
    }
}

/// The gradient of a resizing's gradient is the resizing. The second operand, read for its size, is a
/// constant.
fn again(g: &Vjp<'_, '_>, resize: Op) {
    g.dx(0, g.same(resize, &[g.d(), size(g.x(0))]));
    g.dx(1, g.x(1).zeros());
}
