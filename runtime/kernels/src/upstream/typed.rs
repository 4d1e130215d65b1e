//! Code for uses whose operands have one of the common types: `i32`, `i64` and `index`, `f32`, `f64`, `i1`.
//!
//! The kernels of `arith` serve all widths by the tags of their operands, which costs more than the
//! arithmetic. When a program is loaded, [`typed`] selects code for the types of each use, with equal results
//! and errors (`tools/tests/typed_kernels.rs`). The code still compares the operands' tags.

use bef_format::AttrView;
use befrost_kernel_api::kernel::{IntoKernel, Kernel, KernelFn, KernelUse};

use super::integers::{divisor, floor_quotient, too_far};
use super::scalars::{Int, Width};

/// The kernel with code for the common types.
pub(super) fn typed(kernel: Kernel) -> Kernel {
    kernel.with_typed_code(select)
}

/// Code of a kernel that takes and gives scalars of these types.
macro_rules! code {
    (|$($arg:ident: $ty:ty),*| $body:expr) => {{
        let run: KernelFn = |frame| IntoKernel::invoke(&|$($arg: $ty),*| $body, frame);
        run
    }};
}

fn select(site: &KernelUse<'_>) -> Option<KernelFn> {
    let name = site.name();
    let to = site.result_types().next()?;
    if name == "arith.select" {
        let mut operands = site.operand_types();
        return if operands.next()? == "i1" { selection(to) } else { None };
    }
    let from = site.operand_types().next()?;
    // Behind `fastmath` for floats.
    let predicate = |i: usize| match site.attr(i)?.view {
        AttrView::Int { value, .. } => Some(value),
        _ => None,
    };
    match from {
        "i1" => i1_code(name),
        "i32" => i32_code(name, || predicate(0)).or_else(|| cast_of_i32(name, to)),
        "i64" | "index" => i64_code(name, || predicate(0)).or_else(|| cast_of_i64(name, to)),
        "f32" if (name, to) == ("arith.extf", "f64") => Some(code!(|x: f32| f64::from(x))),
        "f64" if (name, to) == ("arith.truncf", "f32") => Some(code!(|x: f64| x as f32)),
        "f32" => f32_code(name, || predicate(1)),
        "f64" => f64_code(name, || predicate(1)),
        _ => None,
    }
}

fn selection(ty: &str) -> Option<KernelFn> {
    Some(match ty {
        "i1" => code!(|condition: bool, a: bool, b: bool| if condition { a } else { b }),
        "i32" => code!(|condition: bool, a: i32, b: i32| if condition { a } else { b }),
        "i64" | "index" => code!(|condition: bool, a: i64, b: i64| if condition { a } else { b }),
        "f32" => code!(|condition: bool, a: f32, b: f32| if condition { a } else { b }),
        "f64" => code!(|condition: bool, a: f64, b: f64| if condition { a } else { b }),
        _ => return None,
    })
}

fn i1_code(name: &str) -> Option<KernelFn> {
    Some(match name {
        "arith.andi" => code!(|a: bool, b: bool| a & b),
        "arith.ori" => code!(|a: bool, b: bool| a | b),
        "arith.xori" => code!(|a: bool, b: bool| a ^ b),
        _ => return None,
    })
}

fn cast_of_i32(name: &str, to: &str) -> Option<KernelFn> {
    Some(match (name, to) {
        ("arith.extsi" | "arith.index_cast" | "index.casts", "i64" | "index") => code!(|x: i32| i64::from(x)),
        ("arith.sitofp", "f32") => code!(|x: i32| x as f32),
        ("arith.sitofp", "f64") => code!(|x: i32| f64::from(x)),
        _ => return None,
    })
}

fn cast_of_i64(name: &str, to: &str) -> Option<KernelFn> {
    Some(match (name, to) {
        ("arith.trunci" | "arith.index_cast" | "index.casts", "i32") => code!(|x: i64| x as i32),
        ("arith.sitofp", "f32") => code!(|x: i64| x as f32),
        ("arith.sitofp", "f64") => code!(|x: i64| x as f64),
        _ => return None,
    })
}

macro_rules! integer_code {
    ($function:ident, $ty:ty, $width:expr) => {
        fn $function(name: &str, predicate: impl Fn() -> Option<i64>) -> Option<KernelFn> {
            const BITS: u32 = <$ty>::BITS;
            #[inline(always)]
            fn int(value: $ty) -> Int {
                Int { width: $width, value: value.into() }
            }
            Some(match name {
                "arith.addi" | "index.add" => code!(|a: $ty, b: $ty| a.wrapping_add(b)),
                "arith.subi" | "index.sub" => code!(|a: $ty, b: $ty| a.wrapping_sub(b)),
                "arith.muli" | "index.mul" => code!(|a: $ty, b: $ty| a.wrapping_mul(b)),
                "arith.andi" | "index.and" => code!(|a: $ty, b: $ty| a & b),
                "arith.ori" | "index.or" => code!(|a: $ty, b: $ty| a | b),
                "arith.xori" | "index.xor" => code!(|a: $ty, b: $ty| a ^ b),
                "arith.maxsi" | "index.maxs" => code!(|a: $ty, b: $ty| a.max(b)),
                "arith.minsi" | "index.mins" => code!(|a: $ty, b: $ty| a.min(b)),
                "arith.remsi" | "index.rems" => {
                    // The remainder of a division by -1 is 0, although the quotient may overflow.
                    code!(|a: $ty, b: $ty| divisor(int(b)).map(|_| a.wrapping_rem(b)))
                }
                "arith.floordivsi" | "index.floordivs" => code!(|a: $ty, b: $ty| match b {
                    // The remainder of such a division is not negative.
                    1.. => Ok(a.div_euclid(b)),
                    _ => floor_quotient(int(a), int(b)).map(|quotient| quotient as $ty),
                }),
                "arith.shli" | "index.shl" => code!(|a: $ty, b: $ty| match int(b).unsigned() {
                    distance if distance < u64::from(BITS) => Ok(a << distance),
                    distance => Err(too_far(distance, BITS)),
                }),
                "arith.shrsi" | "index.shrs" => code!(|a: $ty, b: $ty| match int(b).unsigned() {
                    distance if distance < u64::from(BITS) => Ok(a >> distance),
                    distance => Err(too_far(distance, BITS)),
                }),
                "math.absi" => code!(|x: $ty| x.wrapping_abs()),
                "arith.cmpi" | "index.cmp" => match predicate()? {
                    0 => code!(|a: $ty, b: $ty| a == b),
                    1 => code!(|a: $ty, b: $ty| a != b),
                    2 => code!(|a: $ty, b: $ty| a < b),
                    3 => code!(|a: $ty, b: $ty| a <= b),
                    4 => code!(|a: $ty, b: $ty| a > b),
                    5 => code!(|a: $ty, b: $ty| a >= b),
                    _ => return None,
                },
                _ => return None,
            })
        }
    };
}

integer_code!(i32_code, i32, Width::W32);
integer_code!(i64_code, i64, Width::W64);

macro_rules! float_code {
    ($function:ident, $ty:ty) => {
        fn $function(name: &str, predicate: impl Fn() -> Option<i64>) -> Option<KernelFn> {
            Some(match name {
                "arith.addf" => code!(|a: $ty, b: $ty| a + b),
                "arith.subf" => code!(|a: $ty, b: $ty| a - b),
                "arith.mulf" => code!(|a: $ty, b: $ty| a * b),
                "arith.divf" => code!(|a: $ty, b: $ty| a / b),
                "arith.negf" => code!(|x: $ty| -x),
                "math.absf" => code!(|x: $ty| x.abs()),
                "arith.cmpf" => match predicate()? {
                    1 => code!(|a: $ty, b: $ty| a == b),
                    2 => code!(|a: $ty, b: $ty| a > b),
                    3 => code!(|a: $ty, b: $ty| a >= b),
                    4 => code!(|a: $ty, b: $ty| a < b),
                    5 => code!(|a: $ty, b: $ty| a <= b),
                    13 => code!(|a: $ty, b: $ty| a != b),
                    _ => return None,
                },
                _ => return None,
            })
        }
    };
}

float_code!(f32_code, f32);
float_code!(f64_code, f64);
