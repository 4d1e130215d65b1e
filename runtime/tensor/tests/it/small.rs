//! Operators on small tensors, compared with the functions of their rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::op::{Class, Eval, OpRow, row, rows};
use befrost_tensor::tf::{Small, reference};
use befrost_tensor::{DType, HostTensor};

use crate::op::TextAttrs;
use crate::testing::own;

fn made(name: &str) -> (Small, Eval) {
    let (row, no) = (row(name).unwrap(), TextAttrs(BTreeMap::new()));
    (row.small(&no).unwrap(), row.prepare(&no).unwrap().unwrap())
}

fn check(name: &str, operands: &[&HostTensor], is_taken: bool) {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let (small, eval) = made(name);
    let found = small.call(operands, &allocator);
    assert_eq!(found.is_some(), is_taken, "{name}");
    let Some(found) = found else { return };
    let want = eval(operands, &allocator).unwrap().remove(0);
    let compare = |found: &HostTensor| {
        assert_eq!((found.dtype(), found.shape()), (want.dtype(), want.shape()));
        assert_eq!(*found.read_bytes().unwrap(), *want.read_bytes().unwrap(), "{name}");
    };
    compare(&found);
    // In place of each operand that has the shape of the result.
    for at in 0..operands.len() {
        let own = own(operands[at]);
        let mut operands = operands.to_vec();
        operands[at] = &own;
        match small.overwrite(&operands, &|i| i == at) {
            Some(overwritten) => {
                assert_eq!(overwritten, at);
                compare(&own);
            }
            None => assert_eq!(*own.read_bytes().unwrap(), *operands[at].read_bytes().unwrap()),
        }
    }
    assert_eq!(small.overwrite(operands, &|_| false), None);
    if small.may_overwrite() && operands.iter().all(|x| x.shape() == want.shape()) {
        let own: Vec<_> = operands.iter().map(|x| own(x)).collect();
        assert!(small.overwrite(&own.iter().collect::<Vec<_>>(), &|_| true).is_some());
    }
}

#[test]
fn results_are_those_of_the_functions() {
    let x = HostTensor::from_vec([2, 2], vec![1.5f32, -2.0, 0.0, 4.0]).unwrap();
    let y = HostTensor::from_vec([2, 2], vec![0.5f32, 2.0, -1.0, 4.0]).unwrap();
    let n = HostTensor::from_vec([2], vec![i32::MAX, 7]).unwrap();
    let long = HostTensor::from_vec([2], vec![1i64, 7]).unwrap();
    for name in ["AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Less", "Equal", "MatMul"] {
        check(name, &[&x, &y], true);
    }
    let doubles = HostTensor::from_vec([2, 2], vec![1.5f64, -2.0, 0.0, 4.0]).unwrap();
    for name in ["Neg", "Relu", "Exp", "Sin", "Lgamma"] {
        check(name, &[&x], true);
        check(name, &[&doubles], true);
    }
    check("MatMul", &[&doubles, &doubles], true);
    check("Neg", &[&n], true);
    check("Invert", &[&x], false);
    check("Invert", &[&n], true);
    check("FloorDiv", &[&n, &n], true);
    check("Mul", &[&n, &n], true);
    check("AddV2", &[&long, &long], true);
    check("GreaterEqual", &[&n, &n], true);
}

/// Numbers at the edges of a type, as far as it has them.
fn edges(dtype: DType) -> Vec<HostTensor> {
    let numbers = [0.0, 1.0, -1.0, 2.0, -7.0, 3.5, 64.0, -0.0, 1e19, f64::INFINITY, f64::NAN];
    let lows = [i64::MIN, i64::MAX, 1 << 31, 255].map(|x| HostTensor::from_vec([], vec![x]).unwrap());
    let doubles = numbers.map(|x| HostTensor::from_vec([], vec![x]).unwrap());
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    lows.iter().chain(&doubles).map(|x| reference::cast(x, dtype, &allocator).unwrap()).collect()
}

#[test]
fn numbers_are_taken_that_the_operator_takes() {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let is_elementwise =
        |row: &&OpRow| matches!(row.class(), Class::Unary(_) | Class::Binary(_) | Class::Compare(_));
    for (row, dtype) in rows().filter(is_elementwise).flat_map(|row| DType::ALL.map(|dtype| (row, dtype))) {
        let (small, eval) = made(row.name);
        let numbers = edges(dtype);
        let is_by_f32 = matches!(dtype, DType::F16 | DType::BF16)
            && (row.class().vector_function().is_some() || row.class().vector_arithmetic().is_some());
        let is_unary = matches!(row.class(), Class::Unary(_));
        for (x, y) in numbers.iter().flat_map(|x| numbers.iter().map(move |y| (x, y))) {
            let operands: &[&HostTensor] = if is_unary { &[x] } else { &[x, y] };
            let taken = small.call(operands, &allocator).is_some();
            assert_eq!(taken, eval(operands, &allocator).is_ok() && !is_by_f32, "{} {dtype}", row.name);
            check(row.name, operands, taken);
        }
    }
}

#[test]
fn conversions_are_those_of_the_function() {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    for (from, to) in DType::ALL.iter().flat_map(|from| DType::ALL.map(|to| (*from, to))) {
        let (from_name, name) = (from.to_string(), to.to_string());
        let attrs = TextAttrs(BTreeMap::from([("DstT", &*name), ("SrcT", &*from_name)]));
        for x in edges(from) {
            let found = row("Cast").unwrap().small(&attrs).unwrap().call(&[&x], &allocator).unwrap();
            let want = reference::cast(&x, to, &allocator).unwrap();
            assert_eq!((found.dtype(), found.shape()), (want.dtype(), want.shape()));
            assert_eq!(*found.read_bytes().unwrap(), *want.read_bytes().unwrap(), "{from} to {to}");
        }
    }
}

#[test]
fn numbers_have_a_way_of_their_own() {
    let number = |x: f32| HostTensor::from_vec([], vec![x]).unwrap();
    for (a, b) in [(1.5, -2.0), (f32::MAX, f32::MAX), (0.0, 0.0), (f32::NAN, 1.0)] {
        let names = ["AddV2", "Sub", "Mul", "RealDiv", "Minimum"];
        names.iter().for_each(|name| check(name, &[&number(a), &number(b)], true));
    }
}

#[test]
fn a_single_element_meets_all_others() {
    let x = HostTensor::from_vec([2, 2], vec![1.5f32, -2.0, f32::NAN, 4.0]).unwrap();
    let doubles = HostTensor::from_vec([2, 2], vec![1.5f64, -2.0, f64::NAN, 4.0]).unwrap();
    let longs = HostTensor::from_vec([2, 2], vec![1i64, -2, i64::MIN, 4]).unwrap();
    for sizes in [&[][..], &[1], &[1, 1]] {
        let single = HostTensor::from_vec(sizes, vec![0.5f32]).unwrap();
        let double = HostTensor::from_vec(sizes, vec![0.5f64]).unwrap();
        let long = HostTensor::from_vec(sizes, vec![i64::MAX]).unwrap();
        for name in ["AddV2", "Sub", "Mul"] {
            for (a, b) in [(&x, &single), (&doubles, &double), (&longs, &long)] {
                check(name, &[a, b], true);
                check(name, &[b, a], true);
            }
        }
        for name in ["RealDiv", "Minimum", "SquaredDifference"] {
            check(name, &[&x, &single], true);
            check(name, &[&single, &x], true);
        }
    }
    let deep = HostTensor::from_vec([1, 1, 1], vec![0.5f32]).unwrap();
    check("AddV2", &[&x, &deep], false);
}

#[test]
fn other_operands_are_declined() {
    let x = HostTensor::from_vec([2, 2], vec![1.0f32; 4]).unwrap();
    let row = HostTensor::from_vec([2], vec![1.0f32; 2]).unwrap();
    let n = HostTensor::from_vec([2, 2], vec![1i32; 4]).unwrap();
    let empty = HostTensor::from_vec([0], Vec::<f32>::new()).unwrap();
    let number = HostTensor::from_vec([], vec![1.0f32]).unwrap();
    let large = HostTensor::from_vec([4097], vec![1.0f32; 4097]).unwrap();
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    for (name, operands) in [
        ("AddV2", vec![&x, &row]),
        ("AddV2", vec![&number, &empty]),
        ("AddV2", vec![&x, &n]),
        ("AddV2", vec![&x]),
        ("AddV2", vec![&empty, &empty]),
        ("AddV2", vec![&large, &large]),
        ("MatMul", vec![&x, &row]),
        ("MatMul", vec![&x, &n]),
        ("FloorMod", vec![&n, &HostTensor::from_vec([], vec![0i32]).unwrap()]),
    ] {
        assert!(made(name).0.call(&operands, &allocator).is_none(), "{name}");
    }
}
