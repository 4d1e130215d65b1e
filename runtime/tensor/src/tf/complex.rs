//! Functions of complex numbers, and the parts of complex tensors.
//!
//! The formulas use real functions that keep precision where the textbook formula cancels digits. Branch cuts
//! are those of C.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use super::binary::{Binary, BinaryTable, zip};
use super::numeric::{Domain, named_ops};
use super::unary::{Unary, UnaryTable, map};
use crate::mem::Allocator;
use crate::{Complex64, Complex128, DType, HostTensor, TensorError};

named_ops! {
    /// A real-valued function of a complex number.
    Part { Real = "Real"; Imag = "Imag"; ComplexAbs = "ComplexAbs"; Angle = "Angle"; }
}

/// The real tensor of a complex one: f32 of complex64, f64 of complex128.
pub fn part(op: Part, x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    macro_rules! of {
        ($complex:ident, $real:ident) => {
            map::<$complex, $real>(x, allocator, |z| match op {
                Part::Real => z.re,
                Part::Imag => z.im,
                Part::ComplexAbs => z.re.hypot(z.im),
                Part::Angle => z.im.atan2(z.re),
            })
        };
    }
    match x.dtype() {
        DType::Complex64 => of!(Complex64, f32),
        DType::Complex128 => of!(Complex128, f64),
        dtype => Err(TensorError::Unsupported { op: op.name(), dtype }),
    }
}

/// `Complex`: complex64 of two f32 tensors, complex128 of two of f64, broadcast.
pub fn complex(
    re: &HostTensor,
    im: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    im.expect_dtype("imag", re.dtype())?;
    let shape = super::walk::broadcast_shape(re.shape(), im.shape())?;
    match re.dtype() {
        DType::F32 => zip::<f32, Complex64>(re, im, shape, allocator, |re, im| Complex64 { re, im }),
        DType::F64 => zip::<f64, Complex128>(re, im, shape, allocator, |re, im| Complex128 { re, im }),
        dtype => Err(TensorError::Unsupported { op: "Complex", dtype }),
    }
}

impl BinaryTable for Complex128 {
    fn binary(op: Binary) -> Option<fn(Complex128, Complex128) -> Complex128> {
        Some(match op {
            Binary::Add => Domain::plus,
            Binary::Sub => minus,
            Binary::Mul => Domain::times,
            Binary::RealDiv | Binary::Div => complex_div,
            Binary::DivNoNan => |a, b| if b == Complex128::ZERO { b } else { complex_div(a, b) },
            Binary::Pow => |a, b| {
                if b == Complex128::ZERO {
                    Complex128::ONE
                } else if a == Complex128::ZERO {
                    a
                } else {
                    complex_exp(b.times(complex_log(a)))
                }
            },
            Binary::SquaredDifference => |a, b| {
                let d = minus(a, b);
                d.conjugated().times(d)
            },
            Binary::MulNoNan => |a, b| if b == Complex128::ZERO { b } else { a.times(b) },
            Binary::Xdivy => |a, b| if a == Complex128::ZERO { a } else { complex_div(a, b) },
            Binary::Xlogy => |a, b| if a == Complex128::ZERO { a } else { a.times(complex_log(b)) },
            Binary::Xlog1py => |a, b| if a == Complex128::ZERO { a } else { a.times(log_1p(b)) },
            // TensorFlow conjugates the operand of these two in the graph, before the operator.
            Binary::SigmoidGrad => |y, dy| dy.times(y).times(minus(Complex128::ONE, y)),
            Binary::TanhGrad => |y, dy| dy.times(minus(Complex128::ONE, y.times(y))),
            Binary::SqrtGrad => |y, dy| of_gradient(dy, complex_div(dy.times(real(0.5)), y.conjugated())),
            Binary::RsqrtGrad => {
                |y, dy| of_gradient(dy, dy.times(real(-0.5)).times(y.times(y).times(y).conjugated()))
            }
            Binary::ReciprocalGrad => |y, dy| of_gradient(dy, dy.times(y.times(y).conjugated()).negated()),
            _ => return None,
        })
    }
}

impl UnaryTable for Complex128 {
    fn unary(op: Unary) -> Option<fn(Complex128) -> Complex128> {
        Some(match op {
            Unary::Neg => |x| Complex128 { re: -x.re, im: -x.im },
            Unary::Conj => |x| Complex128 { re: x.re, im: -x.im },
            Unary::Square => |x| x.times(x),
            Unary::Reciprocal => |x| complex_div(Complex128::ONE, x),
            Unary::Exp => complex_exp,
            Unary::Log => complex_log,
            Unary::Sqrt => complex_sqrt,
            Unary::Rsqrt => |x| complex_div(Complex128::ONE, complex_sqrt(x)),
            Unary::Sign => |x| {
                let r = x.re.hypot(x.im);
                if r == 0.0 { Complex128::ZERO } else { Complex128 { re: x.re / r, im: x.im / r } }
            },
            Unary::Sin => |x| Complex128 { re: x.re.sin() * x.im.cosh(), im: x.re.cos() * x.im.sinh() },
            Unary::Cos => |x| Complex128 { re: x.re.cos() * x.im.cosh(), im: -x.re.sin() * x.im.sinh() },
            Unary::Sinh => |x| Complex128 { re: x.re.sinh() * x.im.cos(), im: x.re.cosh() * x.im.sin() },
            Unary::Cosh => |x| Complex128 { re: x.re.cosh() * x.im.cos(), im: x.re.sinh() * x.im.sin() },
            Unary::Tanh => tanh,
            Unary::Tan => |x| over_i(tanh(times_i(x))),
            Unary::Asinh => asinh,
            Unary::Asin => |x| over_i(asinh(times_i(x))),
            Unary::Acos => |x| {
                let asin = over_i(asinh(times_i(x)));
                Complex128 { re: FRAC_PI_2 - asin.re, im: -asin.im }
            },
            Unary::Acosh => |x| {
                let roots =
                    complex_sqrt(x.plus(Complex128::ONE)).times(complex_sqrt(minus(x, Complex128::ONE)));
                complex_log(x.plus(roots))
            },
            Unary::Atanh => atanh,
            Unary::Atan => |x| over_i(atanh(times_i(x))),
            Unary::Sigmoid => {
                |x| complex_div(Complex128::ONE, complex_exp(x.negated()).plus(Complex128::ONE))
            }
            Unary::Expm1 => |x| {
                let half = (x.im / 2.0).sin();
                Complex128 { re: x.re.exp_m1() * x.im.cos() - 2.0 * half * half, im: x.re.exp() * x.im.sin() }
            },
            Unary::Log1p => log_1p,
            _ => return None,
        })
    }
}

/// A product with the gradient `dy`; 0 if the gradient is 0, even for a factor that is NaN or infinite.
fn of_gradient(dy: Complex128, product: Complex128) -> Complex128 {
    if dy == Complex128::ZERO { Complex128::ZERO } else { product }
}

/// The quotient, scaled by the larger part of the divisor so that its square cannot overflow.
pub(super) fn complex_div(a: Complex128, b: Complex128) -> Complex128 {
    if b.re.abs() >= b.im.abs() {
        let ratio = b.im / b.re;
        let den = b.re + b.im * ratio;
        Complex128 { re: (a.re + a.im * ratio) / den, im: (a.im - a.re * ratio) / den }
    } else {
        let ratio = b.re / b.im;
        let den = b.re * ratio + b.im;
        Complex128 { re: (a.re * ratio + a.im) / den, im: (a.im * ratio - a.re) / den }
    }
}

pub(super) fn complex_exp(x: Complex128) -> Complex128 {
    let r = x.re.exp();
    Complex128 { re: r * x.im.cos(), im: if x.im == 0.0 { x.im } else { r * x.im.sin() } }
}

pub(super) fn complex_log(x: Complex128) -> Complex128 {
    Complex128 { re: x.re.hypot(x.im).ln(), im: x.im.atan2(x.re) }
}

pub(super) fn complex_sqrt(x: Complex128) -> Complex128 {
    if x.re == 0.0 && x.im == 0.0 {
        return Complex128 { re: 0.0, im: x.im };
    }
    let t = ((x.re.abs() + x.re.hypot(x.im)) / 2.0).sqrt();
    if x.re >= 0.0 {
        Complex128 { re: t, im: x.im / (2.0 * t) }
    } else {
        Complex128 { re: x.im.abs() / (2.0 * t), im: t.copysign(x.im) }
    }
}

fn minus(a: Complex128, b: Complex128) -> Complex128 {
    Complex128 { re: a.re - b.re, im: a.im - b.im }
}

fn real(re: f64) -> Complex128 {
    Complex128 { re, im: 0.0 }
}

fn times_i(x: Complex128) -> Complex128 {
    Complex128 { re: -x.im, im: x.re }
}

fn over_i(x: Complex128) -> Complex128 {
    Complex128 { re: x.im, im: -x.re }
}

fn tanh(x: Complex128) -> Complex128 {
    let (a, b) = (x.re.tanh(), x.im.tan());
    complex_div(Complex128 { re: a, im: b }, Complex128 { re: 1.0, im: a * b })
}

fn asinh(x: Complex128) -> Complex128 {
    if x.re < 0.0 {
        return asinh_right(x.negated()).negated();
    }
    asinh_right(x)
}

fn asinh_right(x: Complex128) -> Complex128 {
    // log(x + sqrt(1 + x^2)), with sqrt(1 + y) - 1 as y / (1 + sqrt(1 + y)).
    let square = x.times(x);
    let root = complex_sqrt(square.plus(Complex128::ONE));
    log_1p(x.plus(complex_div(square, root.plus(Complex128::ONE))))
}

fn atanh(x: Complex128) -> Complex128 {
    let twice = minus(log_1p(x), log_1p(x.negated()));
    Complex128 { re: twice.re / 2.0, im: twice.im / 2.0 }
}

fn log_1p(x: Complex128) -> Complex128 {
    Complex128 { re: (x.re * (2.0 + x.re) + x.im * x.im).ln_1p() / 2.0, im: x.im.atan2(1.0 + x.re) }
}
