//! Products of matrices.

use crate::export::onnx::emit::{AttrValue, Name, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;

/// Operand `i`, its last two axes exchanged if wanted.
fn turned(w: &mut NodeWriter<'_>, n: &TfNode<'_>, i: usize, wanted: bool) -> Result<Name, WhyNot> {
    if !wanted {
        return Ok(n.input(i)?.to_owned());
    }
    let rank = n.rank(i)?;
    let mut perm: Vec<i64> = (0..rank as i64).collect();
    if rank < 2 {
        return Err("an operand is no matrix".to_owned());
    }
    perm.swap(rank - 2, rank - 1);
    Ok(w.transpose_value(n.value(i)?, n.input(i)?, &perm))
}

pub(super) fn matmul(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let has = |i: usize| {
        let names = [["transpose_a", "adj_x"], ["transpose_b", "adj_y"]][i];
        names.iter().any(|name| n.flag(name) == Ok(true))
    };
    if n.result_dtype(0)? != n.dtype(0)? {
        return Err("of another type than its operands".to_owned());
    }
    let (a, b) = (turned(w, n, 0, has(0))?, turned(w, n, 1, has(1))?);
    Ok(vec![w.op("MatMul", &[&a, &b])])
}

pub(super) fn einsum(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let equation = n.word("equation")?;
    Ok(vec![w.with("Einsum", &n.all(), vec![("equation", AttrValue::Str(&equation))])])
}

/// `MatrixBandPart`: first what is not above the band, then what is not below. A negative number keeps all.
pub(super) fn band_part(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (lower, upper) = (n.known_int(1)?, n.known_int(2)?);
    let mut x = n.input(0)?.to_owned();
    for (distance, k, is_upper) in [(upper, upper, 0), (lower, lower.saturating_neg(), 1)] {
        if distance >= 0 {
            let k = w.int(k);
            x = w.with("Trilu", &[&x, &k], vec![("upper", AttrValue::Int(is_upper))]);
        }
    }
    Ok(vec![x])
}
