//! `math` on scalars.

use befrost_kernel_api::{KernelError, Registry, kernel};

use super::scalars::{Float, Int, mixed};
use super::typed::typed;

macro_rules! unary {
    ($registry:ident; $($name:literal => $($function:ident)::*;)*) => {$(
        $registry.add(kernel!(concat!("math.", $name), |x: Float| x.map(
            |x: f32| x.$($function)::*(),
            |x: f64| x.$($function)::*(),
        )));
    )*};
}

macro_rules! tests {
    ($registry:ident; $($name:literal => $function:expr;)*) => {$(
        $registry.add(kernel!(concat!("math.", $name), |x: Float| {
            let test: fn(Float) -> bool = $function;
            test(x)
        }));
    )*};
}

pub(super) fn kernels(registry: &mut Registry) {
    unary! { registry;
        "absf" => abs;
        "acos" => acos;
        "acosh" => acosh;
        "asin" => asin;
        "asinh" => asinh;
        "atan" => atan;
        "atanh" => atanh;
        "cbrt" => cbrt;
        "ceil" => ceil;
        "cos" => cos;
        "cosh" => cosh;
        "exp" => exp;
        "exp2" => exp2;
        "expm1" => exp_m1;
        "floor" => floor;
        "log" => ln;
        "log10" => log10;
        "log1p" => ln_1p;
        "log2" => log2;
        "round" => round;
        "roundeven" => round_ties_even;
        "sin" => sin;
        "sinh" => sinh;
        "sqrt" => sqrt;
        "tan" => tan;
        "tanh" => tanh;
        "trunc" => trunc;
    }
    registry.add(kernel!("math.erf", |x: Float| x.map(libm::erff, libm::erf)));
    registry.add(kernel!("math.rsqrt", |x: Float| x.map(|x| x.sqrt().recip(), |x| x.sqrt().recip())));
    registry.add(kernel!("math.atan2", |a: Float, b: Float| a.zip(b, f32::atan2, f64::atan2)));
    registry.add(kernel!("math.copysign", |a: Float, b: Float| a.zip(b, f32::copysign, f64::copysign)));
    registry.add(kernel!("math.powf", |a: Float, b: Float| a.zip(b, f32::powf, f64::powf)));
    registry.add(kernel!("math.fma", fma));
    registry.add(kernel!("math.fpowi", fpowi));
    registry.add(kernel!("math.ipowi", ipowi));
    registry.add(typed(kernel!("math.absi", |x: Int| Int::new(x.width, x.value.wrapping_abs()))));
    registry.add(kernel!("math.ctpop", |x: Int| Int::new(x.width, x.unsigned().count_ones().into())));
    registry.add(kernel!("math.ctlz", |x: Int| {
        let zeros = x.unsigned().leading_zeros() - (64 - x.width.bits());
        Int::new(x.width, zeros.into())
    }));
    registry.add(kernel!("math.cttz", |x: Int| {
        Int::new(x.width, x.unsigned().trailing_zeros().min(x.width.bits()).into())
    }));
    tests! { registry;
        "isfinite" => |x| x.wide().is_finite();
        "isinf" => |x| x.wide().is_infinite();
        "isnan" => |x| x.wide().is_nan();
        "isnormal" => |x| match x {
            Float::F16(x) => x.is_normal(),
            Float::BF16(x) => x.is_normal(),
            Float::F32(x) => x.is_normal(),
            Float::F64(x) => x.is_normal(),
        };
    }
}

/// `a * b + c`, rounded once.
fn fma(a: Float, b: Float, c: Float) -> Result<Float, KernelError> {
    match (a, b, c) {
        (Float::F32(a), Float::F32(b), Float::F32(c)) => Ok(Float::F32(a.mul_add(b, c))),
        (Float::F64(a), Float::F64(b), Float::F64(c)) => Ok(Float::F64(a.mul_add(b, c))),
        _ if a.format() == b.format() && b.format() == c.format() => {
            // Products of the narrow formats are exact in `f64`.
            Ok(a.format().nearest(a.wide().mul_add(b.wide(), c.wide())))
        }
        _ => Err(mixed()),
    }
}

/// A float to the power of an integer, which is saturated to 32 bits.
fn fpowi(a: Float, n: Int) -> Float {
    let n = n.value.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    a.map(|a| a.powi(n), |a| a.powi(n))
}

/// An integer to the power of an integer, wrapping around; an error for zero to a negative power.
fn ipowi(a: Int, n: Int) -> Result<Int, KernelError> {
    if a.width != n.width {
        return Err(mixed());
    }
    let (mut base, mut exponent) = (a.value, n.value);
    if exponent < 0 {
        let inverse = match a.value {
            0 => return Err(KernelError::invalid("Divide by zero")),
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
        return Ok(Int::new(a.width, inverse));
    }
    let mut power = 1i64;
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = power.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent /= 2;
    }
    Ok(Int::new(a.width, power))
}
