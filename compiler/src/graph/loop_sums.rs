//! `tf-sink-loop-sums`: a sum of matrix products over the iterations of a `tf.While` becomes one product
//! behind it.
//!
//! ```text
//! %s = tf.While(%zero)                           %as, %bs = tf.While([], [])
//!   @body(%sum):                                   @body(%as, %bs):
//!     %p = MatMul(%a, %b) {transpose_a}    ──▶       return push(%as, %a), push(%bs, %b)
//!     return AddN(%p, %sum)                      %p = MatMul(concat(%as), concat(%bs)) {transpose_a}
//!                                                %s = AddN(%p, %zero)
//! ```
//!
//! The backward loop of a recurrent layer adds the gradient of the weights in each iteration: a product with
//! an inner dimension of one batch, as large as the weights. Such a product spends its time on reading and
//! writing the sum. One product has all steps as its inner dimension. The rows of `%a` and `%b` are kept
//! until then, as the forward loop has kept those of `%a`; so the pass leaves products of many rows alone.
//!
//! Sums of the rows of a kept operand, the gradient of a bias, become one sum as well.
//!
//! Sums on devices stay. Additions have another order, which depends on the number of iterations only.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use super::licm::{WhileLoop, each_loop};
use crate::build::Builder;
use crate::build::query::{data_format, dims, dtype, flag, has_no_edges, ints, is_used_once, producer_if};
use crate::device::device_of;
use crate::dialects::tf;
use crate::ir::{DYNAMIC, Module, OpId, TypeId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::signatures;

pub(crate) const PASS: Pass = Pass {
    name: "tf-sink-loop-sums",
    title: "TFSinkLoopSums",
    summary: "makes one product behind a loop of the products that its iterations add up",
    options: &[],
    statistics: &[("num-sunk", "Number of sums that left loops")],
    run,
};

/// The most rows of a product's operands: the larger it is, the less time the sum takes, and the more memory
/// the rows.
const MOST_ROWS: i64 = 64;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    each_loop(r, |r, of| {
        let sums = LoopSum::all(r.ir(), of);
        if !sums.is_empty() && sink(r, of, &sums).is_some() {
            cx.count("num-sunk", sums.len() as u64);
        }
    });
    signatures::refresh(r);
    r.change()
}

/// The matrix or vector that an iteration adds to a sum.
#[derive(Clone, Copy, PartialEq)]
enum Addend {
    /// The product of the transpose of one matrix with another.
    Product(ValueId, ValueId),
    /// The sum of the rows of a matrix.
    Rows(ValueId),
}

/// A value that a loop carries for nothing but adding to it.
struct LoopSum {
    /// The number of the carried value.
    at: usize,
    addend: Addend,
}

impl LoopSum {
    /// The products, and the sums of rows of their operands.
    fn all(m: &Module, of: &WhileLoop) -> Vec<LoopSum> {
        let all: Vec<LoopSum> = (0..of.n).filter_map(|at| LoopSum::of(m, of, at)).collect();
        let is_product = |sum: &&LoopSum| matches!(sum.addend, Addend::Product(..));
        let factors: Vec<ValueId> = all.iter().filter(is_product).flat_map(LoopSum::kept).collect();
        all.into_iter().filter(|sum| sum.kept().iter().all(|value| factors.contains(value))).collect()
    }

    fn of(m: &Module, of: &WhileLoop, at: usize) -> Option<LoopSum> {
        let (arg, tested) = (m.args(of.body)[at], m.args(of.cond)[at]);
        let returned = m.operand(of.end, at);
        if !m.is_unused(tested) || !is_used_once(m, arg) || !is_used_once(m, returned) {
            return None;
        }
        let add = producer_if(m, returned, &[Op::AddN, Op::AddV2, Op::Add])?;
        let operands: Vec<ValueId> = m.operands(add).collect();
        let addend = match operands[..] {
            [x, other] if other == arg => x,
            [other, x] if other == arg => x,
            _ => return None,
        };
        let is_f32 = |value| dtype(m, value) == Some(DType::F32);
        let is_here = |op: OpId| has_no_edges(m, op) && device_of(m, op).is_none();
        if !is_here(add) || !is_used_once(m, addend) || !is_f32(addend) || dims(m, addend)? != dims(m, arg)? {
            return None;
        }
        let is_matrix = |x: ValueId| {
            dims(m, x).is_some_and(|dims| matches!(*dims, [rows, _] if (1..=MOST_ROWS).contains(&rows)))
        };
        let made = producer_if(m, addend, &[Op::MatMul, Op::Sum, Op::BiasAddGrad])?;
        let x = m.operand(made, 0);
        let addend = match tf::operator(m, made)? {
            Op::MatMul => {
                let y = m.operand(made, 1);
                let fits = flag(m, made, "transpose_a") && !flag(m, made, "transpose_b") && is_matrix(y);
                fits.then_some(Addend::Product(x, y))?
            }
            Op::Sum => {
                let over_rows = ints(m, m.operand(made, 1))? == [0] && !flag(m, made, "keep_dims");
                over_rows.then_some(Addend::Rows(x))?
            }
            _ => (data_format(m, made) == "NHWC").then_some(Addend::Rows(x))?,
        };
        (is_here(made) && is_matrix(x)).then_some(LoopSum { at, addend })
    }

    /// The values whose rows are kept.
    fn kept(&self) -> Vec<ValueId> {
        match self.addend {
            Addend::Product(a, b) if a == b => vec![a],
            Addend::Product(a, b) => vec![a, b],
            Addend::Rows(x) => vec![x],
        }
    }
}

/// The ops that a loop of sums needs, made before the loop is changed. Until then the empty lists stand for
/// those of an iteration and for the results.
struct Sunk {
    /// In front of the loop: a list for each value that is kept.
    empty: Vec<ValueId>,
    /// In the body: one more element of each.
    pushed: Vec<OpId>,
    /// Behind the loop: the rows of all iterations, and the sums.
    joined: Vec<OpId>,
    totals: Vec<ValueId>,
}

impl Sunk {
    fn build(
        r: &mut Rewriter<'_>,
        of: &WhileLoop,
        sums: &[LoopSum],
        kept: &[ValueId],
        next: OpId,
    ) -> Option<Sunk> {
        let m = r.ir();
        let shapes: Vec<Vec<i64>> =
            kept.iter().map(|&value| dims(m, value).map(<[i64]>::to_vec)).collect::<Option<_>>()?;
        let firsts: Vec<ValueId> = m.operands(of.op).collect();
        let old: Vec<ValueId> = m.results(of.op).collect();
        let mut b = Builder::before(r, of.op);
        let most = b.scalar(-1.0, DType::I32).ok()?;
        let mut empty = Vec::with_capacity(kept.len());
        for shape in &shapes {
            let shape = b.ints(shape, DType::I64).ok()?;
            let element = Type::Dense(DType::F32);
            let list = b.op(Op::EmptyTensorList, &[shape, most]).ty("element_dtype", element).one();
            empty.push(list.ok()?);
        }
        let mut b = Builder::before(r, of.end);
        let mut pushed = Vec::with_capacity(kept.len());
        for (&list, &value) in empty.iter().zip(kept) {
            let push = b.op(Op::TensorListPushBack, &[list, value]).like(list).one().ok()?;
            pushed.push(b.ir().defining_op(push)?);
        }
        let mut b = Builder::before(r, next);
        let no_lengths = b.ints(&[], DType::I64).ok()?;
        let (mut joined, mut rows) = (Vec::with_capacity(kept.len()), Vec::with_capacity(kept.len()));
        for (&list, shape) in empty.iter().zip(&shapes) {
            let element = b.ints(shape, DType::I64).ok()?;
            let f32 = tf::element(b.cx(), Type::Dense(DType::F32), false);
            let i64 = tf::element(b.cx(), Type::Dense(DType::I64), false);
            let all = tf::tensor(b.cx(), Some(&[DYNAMIC, shape[1]]), f32);
            let lengths = tf::tensor(b.cx(), Some(&[DYNAMIC]), i64);
            let operands = [list, element, no_lengths];
            let concat = b.op(Op::TensorListConcatV2, &operands).results(&[all, lengths]).build().ok()?;
            rows.push(b.ir().result(concat, 0));
            joined.push(concat);
        }
        let all = |value: ValueId| kept.iter().position(|&other| other == value).map(|i| rows[i]);
        let axis = b.ints(&[0], DType::I32).ok()?;
        let mut totals = Vec::with_capacity(sums.len());
        for sum in sums {
            let total = match sum.addend {
                Addend::Product(x, y) => b
                    .op(Op::MatMul, &[all(x)?, all(y)?])
                    .bool("transpose_a", true)
                    .bool("transpose_b", false)
                    .one(),
                Addend::Rows(x) => b.op(Op::Sum, &[all(x)?, axis]).bool("keep_dims", false).one(),
            };
            let total = b.op(Op::AddN, &[total.ok()?, firsts[sum.at]]).like(old[sum.at]).one();
            totals.push(total.ok()?);
        }
        Some(Sunk { empty, pushed, joined, totals })
    }
}

/// Computes sums behind a loop, which keeps their operands in lists.
fn sink(r: &mut Rewriter<'_>, of: &WhileLoop, sums: &[LoopSum]) -> Option<()> {
    let mut kept: Vec<ValueId> = Vec::new();
    for value in sums.iter().flat_map(LoopSum::kept) {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    let next = r.ir().next_op(of.op)?;
    let before = r.checkpoint();
    let Some(Sunk { empty, pushed, joined, totals }) = Sunk::build(r, of, sums, &kept, next) else {
        r.rollback(before);
        return None;
    };
    let types: Vec<TypeId> = empty.iter().map(|&list| r.ir().value_type(list)).collect();
    let (new, args) = of.grown(r, &empty, &types);
    for ((&push, &list), &value) in pushed.iter().zip(&args).zip(&kept) {
        r.set_operands(push, &[list, value]);
    }
    let longer: Vec<ValueId> = pushed.iter().map(|&push| r.ir().result(push, 0)).collect();
    of.returns_also(r, &longer);
    // The sums stay what they were.
    let m = r.ir();
    let mut returned: Vec<ValueId> = m.operands(of.end).collect();
    for sum in sums {
        returned[sum.at] = m.args(of.body)[sum.at];
    }
    let made: Vec<OpId> = sums.iter().filter_map(|sum| m.defining_op(m.operand(of.end, sum.at))).collect();
    r.set_operands(of.end, &returned);
    for add in made {
        let before: Vec<OpId> = r.ir().operands(add).filter_map(|value| r.ir().defining_op(value)).collect();
        r.erase_if_unused(add);
        before.into_iter().for_each(|op| r.erase_if_unused(op));
    }
    let results: Vec<ValueId> = r.ir().results(new).collect();
    for (&concat, &list) in joined.iter().zip(&results[of.n..]) {
        let mut operands: Vec<ValueId> = r.ir().operands(concat).collect();
        operands[0] = list;
        r.set_operands(concat, &operands);
    }
    let mut replaced = results[..of.n].to_vec();
    replaced.extend(&results[of.n + kept.len()..]);
    for (sum, &total) in sums.iter().zip(&totals) {
        replaced[sum.at] = total;
    }
    r.replace_op(of.op, &replaced);
    Some(())
}
