//! Ops on numbers and chains: one arm each.
//!
//! Integers are computed in a wider type and truncated: they wrap around.

use super::attrs::Attrs;
use super::frames::{Done, Stop, fails};
use super::value::{Code, Value};

/// The results of an op on concrete operands (a lenient operand may also be dead or an error). `None` if
/// the op is not one of these, or is not defined for such operands.
pub(super) fn evaluate(name: &str, operands: &[Value], attrs: Attrs<'_>) -> Result<Option<Done>, Stop> {
    use Value::{Chain, F32, F64, I1, I32, I64};
    let result = match (name, operands) {
        ("tfrt.constant.i1", []) => I1(attrs.bool("value")?),
        ("tfrt.constant.i32", []) => I32(attrs.int("value")? as i32),
        ("tfrt.constant.i64", []) => I64(attrs.int("value")?),
        ("tfrt.constant.f32", []) => F32(f32::from_bits(attrs.bits("value")? as u32)),
        ("tfrt.constant.f64", []) => F64(f64::from_bits(attrs.bits("value")?)),

        ("tfrt.add.i32", [I32(a), I32(b)]) => I32((i64::from(*a) + i64::from(*b)) as i32),
        ("tfrt.add.i64", [I64(a), I64(b)]) => I64((i128::from(*a) + i128::from(*b)) as i64),
        ("tfrt.add.f32", [F32(a), F32(b)]) => F32(a + b),
        ("tfrt.add.f64", [F64(a), F64(b)]) => F64(a + b),
        ("tfrt.minus.i32", [I32(a), I32(b)]) => I32((i64::from(*a) - i64::from(*b)) as i32),
        ("tfrt.minus.i64", [I64(a), I64(b)]) => I64((i128::from(*a) - i128::from(*b)) as i64),
        ("tfrt.mul.i32", [I32(a), I32(b)]) => I32((i64::from(*a) * i64::from(*b)) as i32),
        ("tfrt.mul.i64", [I64(a), I64(b)]) => I64((i128::from(*a) * i128::from(*b)) as i64),
        ("tfrt.multiply.f32", [F32(a), F32(b)]) => F32(a * b),
        ("tfrt.multiply.f64", [F64(a), F64(b)]) => F64(a * b),
        ("tfrt.minimum.i32", [I32(a), I32(b)]) => I32(if b < a { *b } else { *a }),
        ("tfrt.minimum.i64", [I64(a), I64(b)]) => I64(if b < a { *b } else { *a }),
        ("tfrt.minimum.f32", [F32(a), F32(b)]) => F32(if b < a { *b } else { *a }),
        ("tfrt.minimum.f64", [F64(a), F64(b)]) => F64(if b < a { *b } else { *a }),

        ("tfrt.div.i32", [I32(_), I32(0)]) | ("tfrt.div.i64", [I64(_), I64(0)]) => return divide_by_zero(),
        ("tfrt.div.f32", [F32(_), F32(0.0)]) | ("tfrt.div.f64", [F64(_), F64(0.0)]) => {
            return divide_by_zero();
        }
        ("tfrt.div.i32", [I32(a), I32(b)]) => {
            let (a, b) = (i64::from(*a), i64::from(*b));
            return Ok(Some(Done::values([I32((a / b) as i32), I32((a % b) as i32)])));
        }
        ("tfrt.div.i64", [I64(a), I64(b)]) => {
            let (a, b) = (i128::from(*a), i128::from(*b));
            return Ok(Some(Done::values([I64((a / b) as i64), I64((a % b) as i64)])));
        }
        ("tfrt.div.f32", [F32(a), F32(b)]) => F32(a / b),
        ("tfrt.div.f64", [F64(a), F64(b)]) => F64(a / b),

        ("tfrt.equal.i32", [I32(a), I32(b)]) => I1(a == b),
        ("tfrt.equal.i64", [I64(a), I64(b)]) => I1(a == b),
        ("tfrt.lessequal.i32", [I32(a), I32(b)]) => I1(a <= b),
        ("tfrt.lessequal.i64", [I64(a), I64(b)]) => I1(a <= b),
        ("tfrt.and.i1", [I1(a), I1(b)]) => I1(*a && *b),

        ("tfrt.new.chain", []) | ("tfrt.merge.chains", _) => Chain,
        ("tfrt.print.i1", [I1(value), Chain]) => return print(format!("int1 = {}\n", i32::from(*value))),
        ("tfrt.print.i32", [I32(value), Chain]) => return print(format!("int32 = {value}\n")),
        ("tfrt.print.i64", [I64(value), Chain]) => return print(format!("int64 = {value}\n")),
        ("tfrt.print.f32", [F32(value), Chain]) => {
            return print(format!("f32 = {}\n", decimal(f64::from(*value))));
        }
        ("tfrt.print.f64", [F64(value), Chain]) => return print(format!("f64 = {}\n", decimal(*value))),

        ("tfrt_test.fail", []) => return Err(something_bad()),
        ("tfrt_test.partial_fail", []) => match something_bad() {
            Stop::Fails { code, message, .. } => {
                return Err(Stop::Fails { code, message, first: vec![I32(1)] });
            }
            refused @ Stop::Refused(_) => return Err(refused),
        },
        ("tfrt_test.sum", terms) => {
            let mut sum = 0;
            for term in terms {
                let I32(term) = term else { return Ok(None) };
                sum = (i64::from(sum) + i64::from(*term)) as i32;
            }
            I32(sum)
        }
        ("tfrt_test.async_add.i32", [I32(a), I32(b)]) => I32((i64::from(*a) + i64::from(*b)) as i32),
        ("tfrt_test.async_constant.i1", []) => I1(attrs.bool("value")?),
        ("tfrt_test.async_constant.i32", []) => I32(attrs.int("value")? as i32),
        ("tfrt_test.async_copy.i32", [I32(value)]) => I32(*value),
        ("tfrt_test.select.i32", [I1(true), value, _] | [I1(false), _, value]) => value.clone(),
        ("tfrt_test.print_hello", []) => return print("hello host executor!\n".to_owned()),
        ("tfrt_test.cancel", [Chain]) => {
            return Ok(Some(Done { cancels: true, ..Done::values([I32(0), Chain]) }));
        }
        _ => return Ok(None),
    };
    Ok(Some(Done::values([result])))
}

fn divide_by_zero() -> Result<Option<Done>, Stop> {
    Err(fails(Code::InvalidArgument, "Divide by zero"))
}

fn something_bad() -> Stop {
    fails(Code::Unknown, "something bad happened")
}

fn print(line: String) -> Result<Option<Done>, Stop> {
    Ok(Some(Done::printed(line)))
}

/// C's `%f`.
fn decimal(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:.6}") }
}
