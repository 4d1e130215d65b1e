//! `arith`'s integers and `index`.

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::Attr;
use befrost_kernel_api::{KernelError, Registry, kernel};

use super::scalars::{Int, Width, mixed};
use super::typed::typed;

type Result<T> = std::result::Result<T, KernelError>;

macro_rules! binary {
    ($registry:ident; $($name:literal $($more:literal)* => $function:expr;)*) => {$(
        $registry.add(typed(kernel!($name, |a: Int, b: Int| binary(a, b, $function))));
        $($registry.add(typed(kernel!($more, |a: Int, b: Int| binary(a, b, $function))));)*
    )*};
}

pub(super) fn kernels(registry: &mut Registry) {
    binary! { registry;
        "arith.addi" "index.add" => |a, b| Ok(a.value.wrapping_add(b.value));
        "arith.subi" "index.sub" => |a, b| Ok(a.value.wrapping_sub(b.value));
        "arith.muli" "index.mul" => |a, b| Ok(a.value.wrapping_mul(b.value));
        "arith.divsi" "index.divs" => |a, b| quotient(a, b).map(|(quotient, _)| quotient);
        "arith.divui" "index.divu" => |a, b| Ok((a.unsigned() / divisor(b)?) as i64);
        "arith.ceildivsi" "index.ceildivs" => |a, b| {
            let (quotient, remainder) = quotient(a, b)?;
            Ok(quotient + i64::from(remainder != 0 && (remainder < 0) == (b.value < 0)))
        };
        "arith.ceildivui" "index.ceildivu" => |a, b| Ok(a.unsigned().div_ceil(divisor(b)?) as i64);
        "arith.floordivsi" "index.floordivs" => floor_quotient;
        "arith.remsi" "index.rems" => |a, b| match divisor(b) {
            // The remainder of a division by -1 is 0, although the quotient may overflow.
            Ok(_) => Ok(a.value.wrapping_rem(b.value)),
            Err(error) => Err(error),
        };
        "arith.remui" "index.remu" => |a, b| Ok((a.unsigned() % divisor(b)?) as i64);
        "arith.andi" "index.and" => |a, b| Ok(a.value & b.value);
        "arith.ori" "index.or" => |a, b| Ok(a.value | b.value);
        "arith.xori" "index.xor" => |a, b| Ok(a.value ^ b.value);
        "arith.shli" "index.shl" => |a, b| Ok(a.value << distance(a, b)?);
        "arith.shrsi" "index.shrs" => |a, b| Ok(a.value >> distance(a, b)?);
        "arith.shrui" "index.shru" => |a, b| Ok((a.unsigned() >> distance(a, b)?) as i64);
        "arith.maxsi" "index.maxs" => |a, b| Ok(a.value.max(b.value));
        "arith.maxui" "index.maxu" => |a, b| Ok(a.unsigned().max(b.unsigned()) as i64);
        "arith.minsi" "index.mins" => |a, b| Ok(a.value.min(b.value));
        "arith.minui" "index.minu" => |a, b| Ok(a.unsigned().min(b.unsigned()) as i64);
    }
    registry.add(typed(kernel!("arith.cmpi", compare)));
    registry.add(typed(kernel!("index.cmp", compare)));
    registry.add(kernel!("arith.addui_extended", |a: Int, b: Int| {
        let sum = binary(a, b, |a, b| Ok(a.value.wrapping_add(b.value)))?;
        Ok::<_, KernelError>((sum, sum.unsigned() < a.unsigned()))
    }));
    registry.add(kernel!("arith.mulsi_extended", |a: Int, b: Int| {
        halves(a, b, i128::from(a.value) * i128::from(b.value))
    }));
    registry.add(kernel!("arith.mului_extended", |a: Int, b: Int| {
        halves(a, b, (u128::from(a.unsigned()) * u128::from(b.unsigned())) as i128)
    }));
}

/// An operation on two numbers of one width. The result is the low bits of what `function` returns.
#[inline(always)]
fn binary(a: Int, b: Int, function: impl Fn(Int, Int) -> Result<i64>) -> Result<Int> {
    if a.width != b.width {
        return Err(mixed());
    }
    function(a, b).map(|value| Int::new(a.width, value))
}

/// The low and the high half of a product.
fn halves(a: Int, b: Int, product: i128) -> Result<(Int, Int)> {
    let half = |shift: u32| binary(a, b, |_, _| Ok((product >> shift) as i64));
    Ok((half(0)?, half(a.width.bits())?))
}

/// The signed quotient, rounded down.
pub(super) fn floor_quotient(a: Int, b: Int) -> Result<i64> {
    let (quotient, remainder) = quotient(a, b)?;
    Ok(quotient - i64::from(remainder != 0 && (remainder < 0) != (b.value < 0)))
}

/// The divisor as an unsigned number.
#[inline]
pub(super) fn divisor(b: Int) -> Result<u64> {
    if b.value == 0 { Err(KernelError::invalid("Divide by zero")) } else { Ok(b.unsigned()) }
}

/// Quotient and remainder of the signed division.
#[inline]
fn quotient(a: Int, b: Int) -> Result<(i64, i64)> {
    divisor(b)?;
    let quotient = a.value.checked_div(b.value).filter(|&quotient| fits(a.width, quotient));
    match quotient {
        Some(quotient) => Ok((quotient, a.value.wrapping_rem(b.value))),
        None => Err(overflow(a, b)),
    }
}

/// True if a number is one of the width's signed numbers.
#[inline]
fn fits(width: Width, value: i64) -> bool {
    Int::new(width, value).value == value
}

#[cold]
fn overflow(a: Int, b: Int) -> KernelError {
    let message = format!("the quotient of {} and {} does not fit {} bits", a.value, b.value, a.width.bits());
    KernelError::new(ErrorCode::OutOfRange, message)
}

/// The distance of a shift.
#[inline]
fn distance(a: Int, b: Int) -> Result<u32> {
    let (distance, width) = (b.unsigned(), a.width.bits());
    if distance < u64::from(width) { Ok(distance as u32) } else { Err(too_far(distance, width)) }
}

#[cold]
pub(super) fn too_far(distance: u64, width: u32) -> KernelError {
    KernelError::new(ErrorCode::OutOfRange, format!("a shift of {width} bits by {distance}"))
}

/// The comparison with the number `predicate` in the compiler's enumeration.
fn compare(a: Int, b: Int, predicate: Attr<i64>) -> Result<bool> {
    if a.width != b.width {
        return Err(mixed());
    }
    Ok(match predicate.0 {
        0 => a.value == b.value,
        1 => a.value != b.value,
        2 => a.value < b.value,
        3 => a.value <= b.value,
        4 => a.value > b.value,
        5 => a.value >= b.value,
        6 => a.unsigned() < b.unsigned(),
        7 => a.unsigned() <= b.unsigned(),
        8 => a.unsigned() > b.unsigned(),
        9 => a.unsigned() >= b.unsigned(),
        other => return Err(KernelError::invalid(format!("there is no comparison number {other}"))),
    })
}
