//! Constants, casts and `arith.select`.

use bef_format::AttrView;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{
    AttrSpec, Cursor, Kernel, KernelFrame, KernelUse, MakePrepared, Outcome, Param, Prepare, Prepared,
    Signature, Types,
};
use befrost_kernel_api::value::{Scalar as _, State};
use befrost_kernel_api::{KernelError, Registry, Value, kernel};
use half::{bf16, f16};

use super::scalars::{Float, Format, Int, Scalar, Width};
use super::typed::typed;

pub(super) fn kernels(registry: &mut Registry) {
    registry.add(kernel!("arith.constant", |constant: ConstantAttr| Scalar(constant.0)).constant());
    registry.add(kernel!("index.constant", |constant: ConstantAttr| Scalar(constant.0)).constant());
    registry.add(kernel!("index.bool.constant", |constant: ConstantAttr| Scalar(constant.0)).constant());
    registry.add(typed(select()));
    for name in ["arith.extsi", "arith.trunci", "arith.index_cast", "index.casts"] {
        registry.add(typed(kernel!(name, |x: Int, to: Prepared<'_, Width>| Int::new(*to.0, x.value))));
    }
    for name in ["arith.extui", "arith.index_castui", "index.castu"] {
        registry
            .add(kernel!(name, |x: Int, to: Prepared<'_, Width>| { Int::new(*to.0, x.unsigned() as i64) }));
    }
    for name in ["arith.extf", "arith.truncf"] {
        registry.add(typed(kernel!(name, |x: Float, to: Prepared<'_, Format>| to.0.nearest(x.wide()))));
    }
    registry
        .add(typed(kernel!("arith.sitofp", |x: Int, to: Prepared<'_, Format>| from_signed(x.value, *to.0))));
    registry.add(kernel!("arith.uitofp", |x: Int, to: Prepared<'_, Format>| {
        from_unsigned(x.unsigned(), *to.0)
    }));
    registry.add(kernel!("arith.fptosi", |x: Float, to: Prepared<'_, Width>| {
        let number = x.wide().trunc();
        let limit = 2f64.powi(to.0.bits() as i32 - 1);
        match number >= -limit && number < limit {
            true => Ok(Int::new(*to.0, number as i64)),
            false => Err(does_not_fit(x, *to.0)),
        }
    }));
    registry.add(kernel!("arith.fptoui", |x: Float, to: Prepared<'_, Width>| {
        let number = x.wide().trunc();
        match number >= 0.0 && number < 2f64.powi(to.0.bits() as i32) {
            true => Ok(Int::new(*to.0, number as u64 as i64)),
            false => Err(does_not_fit(x, *to.0)),
        }
    }));
    registry.add(kernel!("arith.bitcast", |x: Bits, to: Prepared<'_, Target>| Scalar(to.0.value(x.0))));
}

/// The nearest float to an integer, rounded once.
fn from_signed(value: i64, format: Format) -> Float {
    match format {
        Format::F32 => Float::F32(value as f32),
        Format::F64 => Float::F64(value as f64),
        Format::F16 | Format::BF16 => {
            let magnitude = rounded_to_odd(value.unsigned_abs());
            format.nearest(if value < 0 { -magnitude } else { magnitude })
        }
    }
}

fn from_unsigned(value: u64, format: Format) -> Float {
    match format {
        Format::F32 => Float::F32(value as f32),
        Format::F64 => Float::F64(value as f64),
        Format::F16 | Format::BF16 => format.nearest(rounded_to_odd(value)),
    }
}

/// An integer rounded to odd: truncated to the bits of an f64, the last of which is set if bits are lost. The
/// result lies on a tie of a shorter format only if the integer does, so rounding it again equals rounding
/// the integer.
fn rounded_to_odd(value: u64) -> f64 {
    let lost = (u64::BITS - value.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS);
    let kept = value >> lost;
    let is_inexact = kept << lost != value;
    ((kept | u64::from(is_inexact)) << lost) as f64
}

#[cold]
fn does_not_fit(x: Float, to: Width) -> KernelError {
    KernelError::new(ErrorCode::OutOfRange, format!("{} does not fit {} bits", x.wide(), to.bits()))
}

impl Prepare for Width {
    /// The width of the result.
    fn prepare(site: &KernelUse<'_>) -> Result<Width, String> {
        result_type(site).and_then(|ty| Width::of_type(ty).ok_or_else(|| no_kernel(site, ty)))
    }
}

impl Prepare for Format {
    /// The format of the result.
    fn prepare(site: &KernelUse<'_>) -> Result<Format, String> {
        result_type(site).and_then(|ty| Format::of_type(ty).ok_or_else(|| no_kernel(site, ty)))
    }
}

fn result_type<'p>(site: &KernelUse<'p>) -> Result<&'p str, String> {
    site.result_types().next().ok_or_else(|| format!("'{}' has no result", site.name()))
}

fn no_kernel(site: &KernelUse<'_>, ty: &str) -> String {
    format!("'{}' has no kernel for results of type {ty}", site.name())
}

/// The attribute `value` as a value of the result's type.
struct ConstantAttr(Value);

/// The decoded attribute of a use.
struct DecodedConstant(Value);

impl Param for ConstantAttr {
    type Item<'f> = ConstantAttr;
    fn declare(signature: &mut Signature) {
        signature.attrs.push(AttrSpec { kind: "an attribute", accepts: |_| true });
        signature.prepare = Some(MakePrepared::new(DecodedConstant::prepare));
    }
    #[inline]
    fn extract(frame: &KernelFrame<'_>, _: &mut Cursor) -> Result<ConstantAttr, Outcome> {
        frame.prepared::<DecodedConstant>().map(|constant| ConstantAttr(constant.0.0.clone()))
    }
}

impl Prepare for DecodedConstant {
    fn prepare(site: &KernelUse<'_>) -> Result<DecodedConstant, String> {
        let ty = result_type(site)?;
        let target = Target::of_type(ty).ok_or_else(|| no_kernel(site, ty))?;
        let bits = match site.attr(0).map(|attr| attr.view) {
            Some(AttrView::Bool(value)) => u64::from(value),
            Some(AttrView::Int { value, .. }) => value as u64,
            Some(AttrView::Float { bits, .. }) => bits,
            _ => return Err(format!("'{}' needs a number as its attribute", site.name())),
        };
        Ok(DecodedConstant(target.value(bits)))
    }
}

/// Scalar type of a result.
enum Target {
    Int(Width),
    Float(Format),
}

impl Target {
    fn of_type(ty: &str) -> Option<Target> {
        Width::of_type(ty).map(Target::Int).or_else(|| Format::of_type(ty).map(Target::Float))
    }

    /// The value with these bits.
    fn value(&self, bits: u64) -> Value {
        use befrost_kernel_api::kernel::ResultValue;
        match self {
            Target::Int(width) => Int::new(*width, bits as i64).into_value(),
            Target::Float(Format::F16) => Value::F16(f16::from_bits(bits as u16)),
            Target::Float(Format::BF16) => Value::BF16(bf16::from_bits(bits as u16)),
            Target::Float(Format::F32) => Value::F32(f32::from_bits(bits as u32)),
            Target::Float(Format::F64) => Value::F64(f64::from_bits(bits)),
        }
    }
}

impl Prepare for Target {
    fn prepare(site: &KernelUse<'_>) -> Result<Target, String> {
        let ty = result_type(site)?;
        Target::of_type(ty).ok_or_else(|| no_kernel(site, ty))
    }
}

/// The bits of an integer or a float.
struct Bits(u64);

impl Bits {
    /// The types of both.
    const TYPES: Types = &["i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64"];
}

impl Param for Bits {
    type Item<'f> = Bits;
    fn declare(signature: &mut Signature) {
        signature.operands.push(Bits::TYPES);
    }
    fn extract(frame: &KernelFrame<'_>, cursor: &mut Cursor) -> Result<Bits, Outcome> {
        let value = cursor.next_operand(frame).ok_or(Outcome::Operand)?;
        Ok(Bits(match value {
            Value::F16(value) => u64::from(value.to_bits()),
            Value::BF16(value) => u64::from(value.to_bits()),
            Value::F32(value) => u64::from(value.to_bits()),
            Value::F64(value) => value.to_bits(),
            other => Int::of(other).ok_or(Outcome::Operand)?.unsigned(),
        }))
    }
}

/// The second operand if the first is true, else the third, of any type.
fn select() -> Kernel {
    let signature = Signature {
        operands: vec![bool::TYPES, &[], &[]],
        results: vec![&[]],
        stores_all: true,
        ..Signature::default()
    };
    Kernel::new("arith.select", signature, |frame| {
        let concrete = |i: usize| frame.operand(i).filter(|value| value.state() == State::Concrete);
        let (Some(Value::I1(condition)), Some(on_true), Some(on_false)) =
            (concrete(0), concrete(1), concrete(2))
        else {
            return Outcome::Operand;
        };
        let value = if *condition { on_true } else { on_false }.clone();
        frame.set_result(0, value);
        Outcome::Done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_floats_are_rounded_once() {
        // A number beside a tie of bf16. As an f64 it is the tie.
        let beside = (1i64 << 60) + (1 << 52) + 1;
        let above = 2f64.powi(60) + 2f64.powi(53);
        assert_eq!(from_signed(beside, Format::BF16).wide(), above);
        assert_eq!(from_signed(-beside, Format::BF16).wide(), -above);
        assert_eq!(from_signed(beside - 1, Format::BF16).wide(), 2f64.powi(60));
        assert_eq!(
            from_unsigned((1 << 63) + (1 << 55) + 1, Format::BF16).wide(),
            2f64.powi(63) + 2f64.powi(56)
        );
        assert_eq!(from_unsigned(u64::MAX, Format::BF16).wide(), 2f64.powi(64));
        assert_eq!(from_unsigned(65_519, Format::F16).wide(), 65_504.0);
        assert!(from_unsigned(65_520, Format::F16).wide().is_infinite());
        // Beside a tie of f16, by a digit that an f32 does not have.
        let beside = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(Format::F16.nearest(beside).wide(), 1.0 + 2f64.powi(-10));
    }
}
