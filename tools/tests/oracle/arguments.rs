//! Random arguments for random programs.

use std::rc::Rc;

use befrost::mem::Malloc;
use befrost::{HostTensor, Shape};
use befrost_tensor::Dims;
use befrost_testing::oracle::{Code, OracleError, Value};

use crate::generate::{Tape, Ty};

/// A random argument.
pub(crate) fn argument(tape: &mut Tape<'_>, ty: Ty) -> Value {
    if tape.chance(4) {
        let trace = if tape.chance(50) { vec!["caller:1:1".to_owned()] } else { Vec::new() };
        return Value::Error(Rc::new(OracleError {
            code: Code::OutOfRange,
            message: "bad argument".to_owned(),
            trace,
        }));
    }
    if tape.chance(2) {
        return Value::Dead;
    }
    match ty {
        Ty::Chain => Value::Chain,
        Ty::I1 => Value::I1(tape.pick(2) == 0),
        Ty::I32 => Value::I32(tape.of(&[1, 2, -1, 0, 17, i32::MIN, i32::MAX])),
        Ty::I64 => Value::I64(tape.of(&[1, 2, -1, 0, 17, i64::MIN, i64::MAX])),
        Ty::F32 => Value::F32(tape.of(&[1.0, -2.5, 0.0, -0.0, 1e30, 1e-40, f32::NAN, f32::INFINITY])),
        Ty::F64 => Value::F64(tape.of(&[1.0, -2.5, 0.0, -0.0, 1e300, f64::NAN, f64::NEG_INFINITY])),
        Ty::Shape => Value::Shape(Dims::from(&shape(tape))),
        Ty::Tensor => {
            let shape = shape(tape);
            let n = shape.num_elements();
            let tensor = if tape.chance(70) {
                let values: Vec<f32> = (0..n).map(|_| tape.of(&[1.0, 0.5, -2.0, 0.0, 3.5])).collect();
                HostTensor::from_slice(shape, &values, &Malloc::shared())
            } else {
                let values: Vec<i32> = (0..n).map(|_| tape.of(&[1, 0, 2])).collect();
                HostTensor::from_slice(shape, &values, &Malloc::shared())
            };
            Value::Tensor(tensor.expect("memory for a small tensor").into())
        }
    }
}

fn shape(tape: &mut Tape<'_>) -> Shape {
    let rank = tape.of(&[2, 2, 2, 1, 3, 0]);
    let dims: Vec<usize> = (0..rank).map(|_| tape.of(&[2, 3, 1, 4, 0])).collect();
    Shape::new(&dims).expect("a small shape")
}
