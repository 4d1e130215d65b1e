//! Products of matrices and tensors.

use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::MatMul => Rule(|g| {
            products(g, ["transpose_a", "transpose_b"], |a, b, turned| {
                let attrs = [("transpose_a", At::Bool(turned[0])), ("transpose_b", At::Bool(turned[1]))];
                a.op(Op::MatMul, &[a, b], &attrs)
            });
        }),
        Op::BatchMatMul | Op::BatchMatMulV2 | Op::BatchMatMulV3 => Rule(|g| {
            products(g, ["adj_x", "adj_y"], |a, b, turned| a.matmul(b, turned[0], turned[1]));
        }),
        Op::Einsum => Rule(einsum),
        _ => return None,
    })
}

/// The gradients of a product: for x y they are d yᴴ and xᴴ d; of transposed factors they are transposed.
///
/// `MatMul` transposes without conjugation, so that its operands are conjugated separately. `product` takes
/// two factors and, for each, whether it is transposed.
fn products<'g>(
    g: &'g Vjp<'_, '_>,
    flags: [&str; 2],
    product: impl Fn(Val<'g>, Val<'g>, [bool; 2]) -> Val<'g>,
) {
    let [x_turned, y_turned] = flags.map(|flag| g.flag(flag));
    let is_plain = g.is("MatMul");
    let factor = |i: usize| if is_plain { g.x(i).conj() } else { g.x(i) };
    let d = g.d();
    let sum = |i: usize, value: Val<'g>| {
        // Only the axes of the batch broadcast.
        if is_plain { g.dx(i, value) } else { g.dx_sum(i, value) }
    };
    if g.wants(0) {
        let y = factor(1);
        let d = d.cast_like(y);
        sum(
            0,
            match (x_turned, y_turned) {
                (false, false) => product(d, y, [false, true]),
                (false, true) => product(d, y, [false, false]),
                (true, false) => product(y, d, [false, true]),
                (true, true) => product(y, d, [true, true]),
            }
            .cast_like(g.x(0)),
        );
    }
    if g.wants(1) {
        let x = factor(0);
        let d = d.cast_like(x);
        sum(
            1,
            match (x_turned, y_turned) {
                (false, false) => product(x, d, [true, false]),
                (false, true) => product(d, x, [true, false]),
                (true, false) => product(x, d, [false, false]),
                (true, true) => product(d, x, [true, true]),
            }
            .cast_like(g.x(1)),
        );
    }
}

/// The labels of the operands and of the result in an equation such as `ab...,bc->ac...`.
struct Equation {
    inputs: Vec<String>,
    output: String,
}

impl Equation {
    fn parse(text: &str) -> Option<Equation> {
        let (inputs, output) = text.split_once("->")?;
        let clean = |part: &str| part.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        Some(Equation { inputs: inputs.split(',').map(clean).collect(), output: clean(output) })
    }
}

/// The letters of a label, without the ellipsis.
fn letters(label: &str) -> impl Iterator<Item = char> + '_ {
    label.chars().filter(|c| *c != '.')
}

/// The gradient by each operand is the product of the result's gradient and the other operand, with the
/// operand's labels as result. Labels that only this operand has were summed over: the gradient is broadcast
/// along them. A label that occurs twice in an operand reads a diagonal.
fn einsum(g: &Vjp<'_, '_>) {
    let Some(equation) = g.text("equation").as_deref().and_then(Equation::parse) else {
        return g.refuse("the equation is not explicit");
    };
    let Equation { inputs, output } = &equation;
    if inputs.len() != g.n_x() || inputs.len() > 2 {
        return g.refuse("the equation has more than two operands");
    }
    for (i, label) in inputs.iter().enumerate().filter(|&(i, _)| g.wants(i)) {
        let other = inputs.iter().enumerate().find(|&(j, _)| j != i);
        operand(g, i, label, other.map(|(j, label)| (g.x(j).conj(), label.as_str())), output);
    }
}

fn operand(g: &Vjp<'_, '_>, i: usize, label: &str, other: Option<(Val<'_>, &str)>, output: &str) {
    let x = g.x(i);
    let in_others =
        |c: char| letters(output).chain(other.iter().flat_map(|(_, l)| letters(l))).any(|o| o == c);
    // Each label once, and without those that only this operand has.
    let mut kept = String::new();
    for c in label.chars() {
        if c == '.' || in_others(c) && !kept.contains(c) {
            kept.push(c);
        }
    }
    let dots = "...";
    let has_dots = label.contains(dots);
    // The axes of an ellipsis that this operand has not are summed over at the end.
    let gets_dots = !has_dots && (output.contains(dots) || other.is_some_and(|(_, l)| l.contains(dots)));
    if gets_dots && output.contains(dots) != other.is_some_and(|(_, l)| l.contains(dots)) {
        return g.refuse("the equation's ellipsis is in the result or in one operand only");
    }
    let target = if gets_dots { format!("{dots}{kept}") } else { kept.clone() };
    let found = match other {
        Some((other, other_label)) => {
            let equation = format!("{output},{other_label}->{target}");
            g.op(Op::Einsum, &[g.d(), other], &[("equation", At::Str(&equation))])
        }
        None => {
            let equation = format!("{output}->{target}");
            g.op(Op::Einsum, &[g.d()], &[("equation", At::Str(&equation))])
        }
    };
    if kept == *label {
        return if has_dots || gets_dots { g.dx_sum(i, found) } else { g.dx(i, found) };
    }
    if has_dots || gets_dots {
        return match has_dots && letters(label).all(|c| letters(label).filter(|&o| o == c).count() == 1) {
            true => g.dx_sum(i, summed(x, found, label, &kept)),
            false => g.refuse("the equation repeats a label beside an ellipsis"),
        };
    }
    // The missing labels as new axes, in place.
    let all: Vec<char> = label.chars().collect();
    let mut once: Vec<char> = Vec::new();
    for &c in &all {
        if !once.contains(&c) {
            once.push(c);
        }
    }
    let missing = once.iter().enumerate().filter(|&(_, &c)| !kept.contains(c));
    let value = missing.fold(found, |value, (axis, _)| value.expand(axis as i64));
    let size = |c: char| x.size(all.iter().position(|&o| o == c).unwrap_or(0) as i64).expand(0);
    let sizes: Vec<Val<'_>> = once.iter().map(|&c| size(c)).collect();
    let mut value = value.broadcast(Val::concat(&sizes, 0));
    if once.len() < all.len() {
        value = diagonals(g, value, &all, size);
    }
    g.dx(i, value);
}

/// The gradient of a sum over the labels that are not in `kept`, beside an ellipsis: broadcast along them.
fn summed<'g>(x: Val<'_>, found: Val<'g>, label: &str, kept: &str) -> Val<'g> {
    let (before, after) = label.split_once("...").unwrap_or((label, ""));
    let missing = |c: char| !kept.contains(c);
    let value = before.chars().enumerate().filter(|&(_, c)| missing(c));
    let value = value.fold(found, |value, (axis, _)| value.expand(axis as i64));
    let from_end = after.chars().rev().enumerate().filter(|&(_, c)| missing(c));
    let value = from_end.fold(value, |value, (axis, _)| value.expand(-1 - axis as i64));
    value.broadcast(value.shape().bin(Op::BroadcastArgs, x.shape()))
}

/// Expands a value with distinct labels to the repeated labels `all`, zero outside the diagonals: a product
/// with an identity matrix per repetition.
fn diagonals<'g>(
    g: &'g Vjp<'_, '_>,
    mut value: Val<'g>,
    all: &[char],
    size: impl Fn(char) -> Val<'g>,
) -> Val<'g> {
    let mut fresh = ('A'..='Z').chain('a'..='z').filter(|c| !all.contains(c));
    let mut target: Vec<char> = Vec::new();
    let mut labels: String = String::new();
    let mut repeats = Vec::new();
    for &c in all {
        if target.contains(&c) {
            let other = fresh.next().unwrap_or(c);
            repeats.push((c, other));
            target.push(other);
        } else {
            target.push(c);
            labels.push(c);
        }
    }
    for (c, other) in repeats {
        let ones = value.op(Op::Fill, &[size(c), value.number(1.0)], &[]).un(Op::MatrixDiag);
        let equation = format!("{labels},{c}{other}->{labels}{other}");
        value = g.op(Op::Einsum, &[value, ones], &[("equation", At::Str(&equation))]);
        labels.push(other);
    }
    let equation = format!("{labels}->{}", target.iter().collect::<String>());
    g.op(Op::Einsum, &[value], &[("equation", At::Str(&equation))])
}
