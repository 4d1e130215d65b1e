//! Affine maps and sets as text, with no more parentheses than upstream.

use super::text::{put, write_list};
use crate::ir::{AffineExpr, AffineId, AffineMap, AffineOp, Context, IntegerSet};

pub(super) fn write_map(cx: &Context, map: &AffineMap, out: &mut String) {
    let AffineMap { dims, symbols, results } = map;
    out.push_str("affine_map<");
    write_variables(*dims, *symbols, out);
    out.push_str(" -> (");
    write_list(results, out, |e, out| write_expr(cx, *e, false, out));
    out.push_str(")>");
}

pub(super) fn write_set(cx: &Context, set: &IntegerSet, out: &mut String) {
    let IntegerSet { dims, symbols, constraints } = set;
    out.push_str("affine_set<");
    write_variables(*dims, *symbols, out);
    out.push_str(" : (");
    write_list(constraints, out, |(e, equal), out| {
        write_expr(cx, *e, false, out);
        out.push_str(if *equal { " == 0" } else { " >= 0" });
    });
    out.push_str(")>");
}

/// `(d0, d1)[s0]`.
fn write_variables(dims: u32, symbols: u32, out: &mut String) {
    let list = |letter: char, n: u32, out: &mut String| {
        for i in 0..n {
            put!(out, "{}{letter}{i}", if i == 0 { "" } else { ", " });
        }
    };
    out.push('(');
    list('d', dims, out);
    out.push(')');
    if symbols > 0 {
        out.push('[');
        list('s', symbols, out);
        out.push(']');
    }
}

/// `tight`: the operand of an operator with higher precedence than `+`.
fn write_expr(cx: &Context, id: AffineId, tight: bool, out: &mut String) {
    let (op, a, b) = match cx.affine_expr(id) {
        AffineExpr::Dim(i) => return put!(out, "d{i}"),
        AffineExpr::Symbol(i) => return put!(out, "s{i}"),
        AffineExpr::Constant(value) => return put!(out, "{value}"),
        AffineExpr::Binary(op, a, b) => (op, a, b),
    };
    if tight {
        out.push('(');
    }
    let sign = match op {
        AffineOp::Add => {
            write_expr(cx, a, false, out);
            write_addend(cx, b, out);
            None
        }
        AffineOp::Mul => match cx.affine_expr(b) {
            AffineExpr::Constant(-1) => {
                out.push('-');
                write_expr(cx, a, true, out);
                None
            }
            _ => Some(" * "),
        },
        AffineOp::Mod => Some(" mod "),
        AffineOp::FloorDiv => Some(" floordiv "),
        AffineOp::CeilDiv => Some(" ceildiv "),
    };
    if let Some(sign) = sign {
        write_expr(cx, a, true, out);
        out.push_str(sign);
        write_expr(cx, b, true, out);
    }
    if tight {
        out.push(')');
    }
}

/// An addend with its sign: ` + d0`, ` - d0 * 2`, ` - 3`.
fn write_addend(cx: &Context, id: AffineId, out: &mut String) {
    match cx.affine_expr(id) {
        // The least number has no negation.
        AffineExpr::Constant(value) if value < 0 && value != i64::MIN => put!(out, " - {}", -value),
        AffineExpr::Binary(AffineOp::Mul, a, factor) => match cx.affine_expr(factor) {
            AffineExpr::Constant(-1) => {
                out.push_str(" - ");
                let sum = matches!(cx.affine_expr(a), AffineExpr::Binary(AffineOp::Add, ..));
                write_expr(cx, a, sum, out);
            }
            AffineExpr::Constant(value) if value < -1 && value != i64::MIN => {
                out.push_str(" - ");
                write_expr(cx, a, true, out);
                put!(out, " * {}", -value);
            }
            _ => {
                out.push_str(" + ");
                write_expr(cx, id, false, out);
            }
        },
        _ => {
            out.push_str(" + ");
            write_expr(cx, id, false, out);
        }
    }
}
