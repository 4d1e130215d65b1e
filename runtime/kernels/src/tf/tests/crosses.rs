//! Crosses of features from untrusted operands: rows and columns that do not fit, and very many rows or
//! crosses.

use super::*;

const ATTRS: [(&str, &str); 3] = [("sparse_types", "i64"), ("dense_types", ""), ("N", "1")];

fn crossed(operands: &[&str]) -> Result<Vec<Value>, KernelError> {
    let mut operands: Vec<Value> = operands.iter().map(|text| value(text)).collect();
    operands.push(text("-"));
    Caller(context()).with("SparseCrossV2", &ATTRS, &operands)
}

#[test]
fn rows_without_features_cost_nothing() {
    let results = crossed(&["i64[3x2]:0,0,5,0,4,0", "i64[3]:7,8,9", "i64[2]:4611686018427387904,1"]).unwrap();
    let dense = |shape: &str, values: &str| {
        format!("DenseHostTensor dtype = i64, shape = [{shape}], values = [{values}]")
    };
    assert_eq!(shown(&results[0]), dense("2, 2", "0, 0, 5, 0"));
    assert_eq!(shown(&results[2]), dense("2", "4611686018427387904, 1"));
    let results = crossed(&["i64[2x2]:-1,0,0,0", "i64[2]:7,8", "i64[2]:4,1"]).unwrap();
    assert_eq!(shown(&results[0]), dense("0, 2", ""));
}

#[test]
fn wrong_columns_are_refused() {
    for (operands, words) in [
        (["i64[1x3]:0,0,0", "i64[1]:7", "i64[2]:1,1"], "indices of shape [1, 3]"),
        (["i64[1x2]:0,0", "i64[2]:7,8", "i64[2]:1,1"], "1 indices of 2 features"),
        (["i64[1x2]:0,0", "i64[1x1]:7", "i64[2]:1,1"], "expected rank 1"),
        (["i64[1x2]:0,0", "i64[1]:7", "i64[3]:1,1,1"], "a shape of shape [3]"),
        (["i64[1x2]:0,0", "i64[1]:7", "i64[2]:-1,1"], "a column of -1 rows"),
    ] {
        let error = crossed(&operands).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // Four columns with 2^16 features in one row: more crosses than can be counted.
    let n = 1 << 16;
    let indices = HostTensor::zeros(DType::I64, Shape::new(&[n, 2]).unwrap(), &Malloc::shared()).unwrap();
    let features = HostTensor::zeros(DType::I64, Shape::new(&[n]).unwrap(), &Malloc::shared()).unwrap();
    let shape = value("i64[2]:1,65536");
    let of = |x: &HostTensor| vec![tensor(x.clone()); 4];
    let operands = [of(&indices), of(&features), vec![shape; 4], vec![text("-")]].concat();
    let attrs = [("sparse_types", "i64,i64,i64,i64"), ("dense_types", ""), ("N", "4")];
    let error = Caller(context()).with("SparseCrossV2", &attrs, &operands).unwrap_err().to_string();
    assert!(!error.is_empty());
}
