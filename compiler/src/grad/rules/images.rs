//! Resizing of images, and boxes in them.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Expands, Rule};
use crate::grad::vjp::{At, Vjp};

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
        Op::ImageProjectiveTransformV2 => Rule(|g| turned_back(g, &[])),
        Op::ImageProjectiveTransformV3 => Rule(|g| turned_back(g, &[g.x(3).zeros()])),
        Op::ResizeArea => Rule(|g| g.dx(0, g.same(Op::_ResizeAreaGrad, &[g.d(), g.x(0)]))),
        Op::_ResizeAreaGrad => Rule(|g| again(g, Op::ResizeArea)),
        Op::ScaleAndTranslate => Rule(|g| {
            // The kernel of the gradient has f32 only.
            let x = g.x(0).cast(DType::F32);
            g.dx(0, g.same(Op::ScaleAndTranslateGrad, &[g.d(), x, g.x(2), g.x(3)]).cast_like(g.x(0)));
        }),
        Op::ScaleAndTranslateGrad => Rule(|g| {
            g.dx(0, g.same(Op::ScaleAndTranslate, &[g.d(), size(g.x(0)), g.x(2), g.x(3)]));
            g.dx(1, g.x(1).zeros());
        }),
        // The contrast is a sum of the image and of the means of its channels.
        Op::AdjustContrastv2 => Rule(|g| {
            let (d, factor) = (g.d(), g.x(1));
            g.dx(0, g.same(Op::AdjustContrastv2, &[d, factor]));
            // With a factor of 0 the pixels are the means.
            let means = g.same(Op::AdjustContrastv2, &[g.x(0), factor.zeros()]);
            g.dx(1, (d * (g.x(0) - means)).sum_all().cast_like(factor));
        }),
        // The patches are products with the unit matrix.
        Op::ExtractImagePatches => Rule(|g| {
            let (x, ksizes) = (g.x(0), g.ints("ksizes"));
            let [_, height, width, _] = ksizes[..] else { return g.refuse("the windows are not known") };
            let channels = x.size(3);
            let depth = channels * channels.int(height.saturating_mul(width));
            let ones = g.d().op(Op::Fill, &[depth.expand(0), g.d().number(1.0)], &[]);
            let sizes = [g.ints_value(&[height, width]), channels.expand(0), depth.expand(0)];
            let filter = ones.un(Op::MatrixDiag).reshape(Val::concat(&sizes, 0));
            let (strides, rates) = (g.ints("strides"), g.ints("rates"));
            let attrs = [
                ("strides", At::Ints(&strides)),
                ("dilations", At::Ints(&rates)),
                ("padding", At::Of("padding")),
            ];
            g.dx(0, g.op(Op::Conv2DBackpropInput, &[x.shape(), filter, g.d()], &attrs));
        }),
        Op::ExtractVolumePatches => Rule(|g| {
            let (x, ksizes) = (g.x(0), g.ints("ksizes"));
            let [_, a, b, c, _] = ksizes[..] else { return g.refuse("the windows are not known") };
            let channels = x.size(4);
            let depth = channels * channels.int(a.saturating_mul(b).saturating_mul(c));
            let ones = g.d().op(Op::Fill, &[depth.expand(0), g.d().number(1.0)], &[]);
            let sizes = [g.ints_value(&[a, b, c]), channels.expand(0), depth.expand(0)];
            let filter = ones.un(Op::MatrixDiag).reshape(Val::concat(&sizes, 0));
            g.dx(0, g.same(Op::Conv3DBackpropInputV2, &[x.shape(), filter, g.d()]));
        }),
        Op::FractionalAvgPool => Rule(|g| {
            let shape = g.x(0).shape_as(DType::I64);
            g.dx(0, g.same(Op::FractionalAvgPoolGrad, &[shape, g.d(), g.y(1), g.y(2)]));
        }),
        Op::FractionalMaxPool => Rule(|g| {
            g.dx(0, g.same(Op::FractionalMaxPoolGrad, &[g.x(0), g.y(0), g.d(), g.y(1), g.y(2)]));
        }),
        Op::MaxPoolWithArgmax => Rule(|g| {
            g.dx(0, g.same(Op::MaxPoolGradWithArgmax, &[g.x(0), g.d(), g.y(1)]));
        }),
        Op::MaxPoolGradWithArgmax => Rule(|g| {
            g.dx(0, g.x(0).zeros());
            g.dx(1, g.same(Op::MaxPoolGradGradWithArgmax, &[g.x(0), g.d(), g.x(2)]));
        }),
        Op::MaxPoolGradGradWithArgmax => Rule(|g| {
            g.dx(0, g.x(0).zeros());
            g.dx(1, g.same(Op::MaxPoolGradWithArgmax, &[g.x(0), g.d(), g.x(2)]));
        }),
        Op::RGBToHSV => Expands(|g| vec![hsv(g.x(0))]),
        Op::AdjustSaturation => Expands(|g| {
            let [hue, saturation, value] = channels(hsv(g.x(0)));
            vec![rgb([hue, limited(saturation * g.x(1).cast_like(saturation)), value])]
        }),
        Op::AdjustHue => Expands(|g| {
            let [hue, saturation, value] = channels(hsv(g.x(0)));
            let hue = hue + g.x(1).cast_like(hue);
            vec![rgb([hue - hue.un(Op::Floor), saturation, value])]
        }),
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
            images.ints(&[height, width], DType::I32)
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

/// The channels of images of colors, each with an axis of size 1.
fn channels(images: Val<'_>) -> [Val<'_>; 3] {
    [0, 1, 2].map(|i| images.op(Op::GatherV2, &[images, images.ints(&[i], DType::I32), images.int(-1)], &[]))
}

/// A number limited to [0, 1].
fn limited(x: Val<'_>) -> Val<'_> {
    x.bin(Op::Maximum, x.number(0.0)).bin(Op::Minimum, x.number(1.0))
}

/// `RGBToHSV` of plain operators.
fn hsv<'g>(images: Val<'g>) -> Val<'g> {
    let [r, g, b] = channels(images);
    let (zero, one) = (images.number(0.0), images.number(1.0));
    let value = r.bin(Op::Maximum, g).bin(Op::Maximum, b);
    let range = value - r.bin(Op::Minimum, g).bin(Op::Minimum, b);
    // Where a divisor is 0, the quotient does not count.
    let positive = |x: Val<'g>| x.bin(Op::Greater, zero);
    let divisor = |x: Val<'g>| positive(x).select(x, one);
    let sixths = |x: Val<'g>, y: Val<'g>, sixth| (x - y) / divisor(range) + images.number(sixth);
    let of_others = g.bin(Op::Equal, value).select(sixths(b, r, 2.0), sixths(r, g, 4.0));
    let hue = r.bin(Op::Equal, value).select(sixths(g, b, 0.0), of_others) / images.number(6.0);
    let hue = hue.bin(Op::Less, zero).select(hue + one, hue);
    let hue = positive(range).select(hue, zero);
    let saturation = positive(value).select(range / divisor(value), zero);
    Val::concat(&[hue, saturation, value], -1)
}

/// `HSVToRGB` of plain operators.
fn rgb<'g>([hue, saturation, value]: [Val<'g>; 3]) -> Val<'g> {
    let (one, two) = (hue.number(1.0), hue.number(2.0));
    let distance = |from: f64| (hue * hue.number(6.0) - hue.number(from)).un(Op::Abs);
    let parts = [limited(distance(3.0) - one), limited(two - distance(2.0)), limited(two - distance(4.0))];
    Val::concat(&parts.map(|part| (one - saturation + saturation * part) * value), -1)
}

/// The gradient of transformed images, transformed by the inverses, as TensorFlow has it: the adjoint if
/// pixels lie on pixels.
fn turned_back(g: &Vjp<'_, '_>, fill: &[Val<'_>]) {
    let (images, flat) = (g.x(0), g.x(1));
    if !g.wants(0) {
        return;
    }
    let ints = |numbers: &[i64]| flat.ints(numbers, DType::I32);
    let ones = flat.slice(ints(&[0, 0]), ints(&[-1, 1])).ones();
    let matrices = Val::concat(&[flat, ones], 1).reshape(ints(&[-1, 3, 3]));
    let inverses = matrices.un(Op::MatrixInverse).reshape(ints(&[-1, 9]));
    let last = inverses.slice(ints(&[0, 8]), ints(&[-1, 1]));
    let inverses = inverses.slice(ints(&[0, 0]), ints(&[-1, 8])).bin(Op::RealDiv, last);
    let operands = [&[g.d(), inverses, size(images)], fill].concat();
    let op = if fill.is_empty() { Op::ImageProjectiveTransformV2 } else { Op::ImageProjectiveTransformV3 };
    g.dx(0, g.same(op, &operands));
}
