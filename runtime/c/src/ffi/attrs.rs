//! Attributes of operators.

use std::ffi::c_char;

use befrost::eager::AttrValue;
use befrost::{DType, Error, PartialShape};

use super::{bf_error, bf_op, bf_tensor, guard, invalid, items, names, text, value_of};
use crate::dtype;

/// Sets an attribute of an operator.
fn set(
    op: *const bf_op,
    name: *const c_char,
    value: impl FnOnce() -> Result<AttrValue, Error>,
) -> *mut bf_error {
    guard(|| value_of(op)?.set(text("the name", name)?, value()?))
}

/// Sets an attribute that is a list.
fn set_list<T>(
    op: *const bf_op,
    name: *const c_char,
    (values, n_values): (*const T, usize),
    of: impl Fn(&T) -> Result<AttrValue, Error>,
) -> *mut bf_error {
    set(op, name, || {
        let values = items("the values", values, n_values)?.iter().map(of);
        Ok(AttrValue::List(values.collect::<Result<Vec<AttrValue>, Error>>()?.into()))
    })
}

fn dtype_of(number: i32) -> Result<AttrValue, Error> {
    let ty = dtype::type_of_number(number).ok_or_else(|| invalid(format!("{number} is no dtype")))?;
    Ok(ty.into())
}

/// The shape of this rank, whose sizes begin at `dims`.
fn shape_of(rank: i32, dims: &[i64]) -> Result<AttrValue, Error> {
    let size = |&dim: &i64| match usize::try_from(dim) {
        Ok(size) => Ok(Some(size)),
        Err(_) if dim == -1 => Ok(None),
        Err(_) => Err(invalid(format!("{dim} is no size"))),
    };
    Ok(AttrValue::Shape(match rank {
        -1 => PartialShape::unknown(),
        _ => PartialShape::new(dims.iter().map(size).collect::<Result<Vec<_>, Error>>()?),
    }))
}

/// The number of sizes of a shape of this rank, of which -1 is the unknown one.
fn n_sizes(rank: i32) -> Result<usize, Error> {
    match usize::try_from(rank) {
        Ok(n) => Ok(n),
        Err(_) if rank == -1 => Ok(0),
        Err(_) => Err(invalid(format!("{rank} is no rank"))),
    }
}

/// Sets an attribute that is an integer. Each attribute is set once; those that follow from operands need not
/// be set.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_int(op: *const bf_op, name: *const c_char, value: i64) -> *mut bf_error {
    set(op, name, || Ok(value.into()))
}

/// Sets an attribute that is a number.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_float(op: *const bf_op, name: *const c_char, value: f32) -> *mut bf_error {
    set(op, name, || Ok(value.into()))
}

/// Sets an attribute that is true or false: 0 is false.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_bool(op: *const bf_op, name: *const c_char, value: i32) -> *mut bf_error {
    set(op, name, || Ok((value != 0).into()))
}

/// Sets an attribute that is an element type, `BF_F32` or another.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_dtype(op: *const bf_op, name: *const c_char, value: i32) -> *mut bf_error {
    set(op, name, || dtype_of(value))
}

/// Sets an attribute that is a text.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_string(
    op: *const bf_op,
    name: *const c_char,
    value: *const c_char,
) -> *mut bf_error {
    set(op, name, || Ok(text("the value", value)?.into()))
}

/// Sets an attribute that is a shape. The rank -1 is an unknown one, the size -1 an unknown one.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_shape(
    op: *const bf_op,
    name: *const c_char,
    rank: i32,
    dims: *const i64,
) -> *mut bf_error {
    set(op, name, || shape_of(rank, items("the sizes", dims, n_sizes(rank)?)?))
}

/// Sets an attribute that is a tensor of numbers, such as the value of `Const`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_tensor(
    op: *const bf_op,
    name: *const c_char,
    value: *const bf_tensor,
) -> *mut bf_error {
    set(op, name, || Ok(value_of(value)?.value.tensor()?.clone().into()))
}

/// Sets an attribute that is a function, by its name in the text of the runtime's functions.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_function(
    op: *const bf_op,
    name: *const c_char,
    function: *const c_char,
) -> *mut bf_error {
    set(op, name, || Ok(AttrValue::Func(text("the function", function)?.into())))
}

/// Sets an attribute that is a list of integers.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_ints(
    op: *const bf_op,
    name: *const c_char,
    values: *const i64,
    n_values: usize,
) -> *mut bf_error {
    set(op, name, || Ok(items("the values", values, n_values)?.into()))
}

/// Sets an attribute that is a list of numbers.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_floats(
    op: *const bf_op,
    name: *const c_char,
    values: *const f32,
    n_values: usize,
) -> *mut bf_error {
    set(op, name, || {
        let values = items("the values", values, n_values)?;
        Ok(AttrValue::Floats(DType::F32, values.iter().map(|&value| f64::from(value)).collect()))
    })
}

/// Sets an attribute that is a list of truth values: 0 is false.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_bools(
    op: *const bf_op,
    name: *const c_char,
    values: *const i32,
    n_values: usize,
) -> *mut bf_error {
    set_list(op, name, (values, n_values), |&value| Ok((value != 0).into()))
}

/// Sets an attribute that is a list of element types.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_dtypes(
    op: *const bf_op,
    name: *const c_char,
    values: *const i32,
    n_values: usize,
) -> *mut bf_error {
    set_list(op, name, (values, n_values), |&value| dtype_of(value))
}

/// Sets an attribute that is a list of texts.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_strings(
    op: *const bf_op,
    name: *const c_char,
    values: *const *const c_char,
    n_values: usize,
) -> *mut bf_error {
    set_list(op, name, (values, n_values), |&value| Ok(text("a value", value)?.into()))
}

/// Sets an attribute that is a list of shapes, whose sizes lie one after the other in `dims`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_shapes(
    op: *const bf_op,
    name: *const c_char,
    ranks: *const i32,
    n_shapes: usize,
    dims: *const i64,
) -> *mut bf_error {
    set(op, name, || {
        let ranks = items("the ranks", ranks, n_shapes)?;
        let counts = ranks.iter().map(|&rank| n_sizes(rank)).collect::<Result<Vec<usize>, Error>>()?;
        let n = counts.iter().try_fold(0usize, |sum, &n| sum.checked_add(n));
        let mut dims = items("the sizes", dims, n.ok_or_else(|| invalid("there are too many sizes"))?)?;
        let mut shapes = Vec::with_capacity(ranks.len());
        for (&rank, n) in ranks.iter().zip(counts) {
            let (own, others) = dims.split_at(n);
            shapes.push(shape_of(rank, own)?);
            dims = others;
        }
        Ok(AttrValue::List(shapes.into()))
    })
}

/// Sets an attribute that is a list of functions, by their names in the text of the runtime's functions.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bf_op_set_functions(
    op: *const bf_op,
    name: *const c_char,
    functions: *const *const c_char,
    n_functions: usize,
) -> *mut bf_error {
    set(op, name, || {
        let functions = names("a function", functions, n_functions)?.into_iter();
        Ok(AttrValue::List(functions.map(|function| AttrValue::Func(function.into())).collect()))
    })
}
