//! Chains of elementwise operators as one program: block by block, the operands are read, all steps run in
//! the L1 cache, and the result is written.
//!
//! ```text
//! steps: s0 = Mul(x, scale)   s1 = Add(s0, bias)   s2 = Map(Tanh, s1)
//! x has the result's shape, scale is a number, bias a row
//!
//! for each block (parallel)
//!   bias's elements for the block ─▶ a register     x: read in place        scale: one number
//!   s0 ─▶ register 0    s1 ─▶ register 0, free after s1               s2, the last ─▶ the result
//! ```
//!
//! Operands broadcast as in NumPy. Registers are blocks of floats; the last user of a register overwrites it.
//! An operand of the result's shape without other handles becomes the result: each of its blocks is copied to
//! a register before the block is written.

use crate::cache::CACHE;
use crate::error::invalid;
use crate::simd::{Arithmetic, Function, Isa, Over};
use crate::tf::fast::Cx;
use crate::tf::walk::{Axis, broadcast_axes, broadcast_shape};
use crate::{DType, HostTensor, Ref, Shape, TensorError};

const OP: &str = "chain";

/// The number of elements in a block: eight registers fit the L1 cache.
const BLOCK: usize = CACHE.l1_floats(8);

/// The largest number of steps, and of operands, of a program.
const MOST: usize = 256;

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An operand of the program.
    Operand(usize),
    /// The result of an earlier step.
    Step(usize),
    /// A constant.
    Number(f32),
}

/// A step of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A function of one value.
    Map(Function, Value),
    /// Arithmetic of two values.
    Arithmetic(Arithmetic, Value, Value),
}

impl Step {
    fn values(&self) -> [Option<Value>; 2] {
        match *self {
            Step::Map(_, x) => [Some(x), None],
            Step::Arithmetic(_, a, b) => [Some(a), Some(b)],
        }
    }
}

/// A chain of elementwise operators of f32. Its result is that of the last step.
#[derive(Clone, Debug)]
pub struct Program {
    operands: usize,
    steps: Vec<Step>,
    /// The result register of each step except the last.
    registers: Vec<usize>,
    /// The number of registers.
    count: usize,
}

impl Program {
    /// A program of `operands` operands. Fails if there are no steps, if there are too many steps or
    /// operands, or if a step uses a missing operand or the result of a step that does not precede it.
    pub fn new(operands: usize, steps: Vec<Step>) -> Result<Program, TensorError> {
        if steps.is_empty() || steps.len() > MOST || operands > MOST {
            return invalid(OP, format!("{} steps with {operands} operands", steps.len()));
        }
        let mut last_use = vec![0; steps.len()];
        for (i, step) in steps.iter().enumerate() {
            for value in step.values().into_iter().flatten() {
                match value {
                    Value::Operand(at) if at < operands => {}
                    Value::Step(at) if at < i => last_use[at] = i,
                    Value::Number(_) => {}
                    _ => return invalid(OP, format!("step {i} has {value:?}, with {operands} operands")),
                }
            }
        }
        let (mut registers, mut free, mut count) = (Vec::with_capacity(steps.len()), Vec::new(), 0);
        for (i, step) in steps.iter().enumerate() {
            let mut ended: Vec<usize> = step
                .values()
                .into_iter()
                .flatten()
                .filter_map(|value| match value {
                    Value::Step(at) if last_use[at] == i => Some(registers[at]),
                    _ => None,
                })
                .collect();
            ended.dedup();
            free.extend(ended);
            let register = free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            registers.push(register);
            if last_use[i] == 0 {
                free.push(register); // no step uses the result
            }
        }
        Ok(Program { operands, steps, registers, count })
    }

    /// The result, of the shape to which the operands broadcast. An operand without other handles may be
    /// overwritten.
    pub fn run(&self, operands: Vec<HostTensor>, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
        if operands.len() != self.operands {
            return invalid(OP, format!("{} operands, expected {}", operands.len(), self.operands));
        }
        let mut shape = Shape::scalar();
        for x in &operands {
            x.expect_dtype("operand", DType::F32)?;
            shape = broadcast_shape(&shape, x.shape())?;
        }
        let reused = operands.iter().position(|x| x.is_unique() && *x.shape() == shape);
        let out = match reused {
            Some(at) => operands[at].clone(),
            None => HostTensor::allocate(DType::F32, shape, cx.allocator)?,
        };
        if out.num_elements() == 0 {
            return Ok(out);
        }
        {
            // All operands are borrowed for reading, except the operand that becomes the result, which is
            // borrowed for writing.
            let mut borrowed: Vec<Option<Ref<'_, f32>>> = Vec::with_capacity(operands.len());
            for (at, x) in operands.iter().enumerate() {
                borrowed.push(if reused == Some(at) { None } else { Some(x.read::<f32>()?) });
            }
            let sources: Vec<Source<'_>> = borrowed
                .iter()
                .zip(&operands)
                .map(|(numbers, x)| Source::new(numbers.as_deref(), x.shape(), out.shape()))
                .collect();
            cx.parts(&mut out.write::<f32>()?, (BLOCK, 2 * self.steps.len()), &|first, out| {
                self.part(&sources, first, out);
            });
        }
        Ok(out)
    }

    /// Computes some blocks of the result, from element `first` on.
    fn part(&self, sources: &[Source<'_>], first: usize, out: &mut [f32]) {
        let mut registers = vec![vec![0.0; BLOCK.min(out.len())]; self.count + sources.len()];
        for (i, out) in out.chunks_mut(BLOCK).enumerate() {
            let first = first + i * BLOCK;
            for (source, register) in sources.iter().zip(&mut registers[self.count..]) {
                source.load(first, out, &mut register[..out.len()]);
            }
            self.block(sources, first, &mut registers, out);
        }
    }

    fn block(&self, sources: &[Source<'_>], first: usize, registers: &mut [Vec<f32>], out: &mut [f32]) {
        let last = self.steps.len() - 1;
        let len = out.len();
        for (i, step) in self.steps[..last].iter().enumerate() {
            let mut to = std::mem::take(&mut registers[self.registers[i]]);
            self.step(step, Some(self.registers[i]), (sources, first), registers, &mut to[..len]);
            registers[self.registers[i]] = to;
        }
        self.step(&self.steps[last], None, (sources, first), registers, out);
    }

    /// Computes a step into `to`: register `own`, which was taken out of `registers`, or the result if `own`
    /// is `None`.
    fn step(
        &self,
        step: &Step,
        own: Option<usize>,
        (sources, first): (&[Source<'_>], usize),
        registers: &[Vec<f32>],
        to: &mut [f32],
    ) {
        let isa = Isa::detect();
        let len = to.len();
        let is_there = |value: &Value| matches!(value, Value::Step(at) if Some(self.registers[*at]) == own);
        let numbers = |value: &Value| -> &[f32] {
            match value {
                Value::Operand(at) => sources[*at].block(first, len, &registers[self.count + at]),
                Value::Step(at) => &registers[self.registers[*at]][..len],
                Value::Number(_) => &[],
            }
        };
        let fill = |value: &Value, to: &mut [f32]| match (value, numbers(value)) {
            (Value::Number(x), _) => to.fill(*x),
            (_, &[x]) => to.fill(x),
            (_, x) => to.copy_from_slice(x),
        };
        match step {
            Step::Map(function, x) => {
                if !is_there(x) {
                    fill(x, to);
                }
                isa.map(*function, to);
            }
            Step::Arithmetic(op, a, b) => {
                let is_single = |value: &Value| match value {
                    Value::Number(_) => true,
                    Value::Operand(at) => matches!(sources[*at], Source::Single(_)),
                    Value::Step(_) => false,
                };
                let over = if is_there(a) || (!is_there(b) && !is_single(a)) || is_single(b) {
                    Over::Left
                } else {
                    Over::Right
                };
                let (x, y) = if over == Over::Left { (a, b) } else { (b, a) };
                let both = is_there(x) && is_there(y);
                if !is_there(x) {
                    fill(x, to);
                }
                match y {
                    Value::Number(y) => isa.arithmetic(*op, over, to, &[*y]),
                    _ if both => self.with_itself(isa, *op, to),
                    _ => isa.arithmetic(*op, over, to, numbers(y)),
                }
            }
        }
    }

    /// Arithmetic of a register with itself.
    fn with_itself(&self, isa: Isa, op: Arithmetic, to: &mut [f32]) {
        let mut copy = [0.0; 64];
        for to in to.chunks_mut(64) {
            let copy = &mut copy[..to.len()];
            copy.copy_from_slice(to);
            isa.arithmetic(op, Over::Left, to, copy);
        }
    }
}

/// Fills `to` with repetitions of a row, which start at its element `at`.
fn repeat(row: &[f32], at: usize, to: &mut [f32]) {
    for (to, x) in to.iter_mut().zip(row[at..].iter().chain(&row[..at])) {
        *to = *x;
    }
    let mut done = row.len();
    while done < to.len() {
        let more = done.min(to.len() - done);
        to.copy_within(..more, done);
        done += more;
    }
}

/// The location of an operand's elements.
enum Source<'a> {
    /// The operand becomes the result: each block is copied to a register before it is overwritten.
    Result,
    /// The operand is read in place: it has as many elements as the result.
    Even(&'a [f32]),
    /// The operand has one element.
    Single(f32),
    /// The elements of a block are copied to a register, run by run along the last axis.
    Walked { numbers: &'a [f32], outer: Vec<Axis>, last: Axis },
}

impl<'a> Source<'a> {
    /// The source of an operand; `numbers` is `None` for the operand that becomes the result.
    fn new(numbers: Option<&'a [f32]>, shape: &Shape, result: &Shape) -> Source<'a> {
        let Some(numbers) = numbers else { return Source::Result };
        if let &[x] = numbers {
            return Source::Single(x);
        }
        let mut outer = broadcast_axes(shape, result, result);
        match outer.pop() {
            Some(last) if !outer.is_empty() || last.a == 0 => Source::Walked { numbers, outer, last },
            _ => Source::Even(numbers),
        }
    }

    /// Copies the elements of a block, from `first` on, to the register, for sources that need one.
    fn load(&self, first: usize, result: &[f32], register: &mut [f32]) {
        match self {
            Source::Even(_) | Source::Single(_) => {}
            Source::Result => register.copy_from_slice(result),
            Source::Walked { numbers, outer, last }
                if outer.iter().all(|axis| axis.a == 0) && last.a == 1 =>
            {
                repeat(numbers, first % last.len, register);
            }
            Source::Walked { numbers, outer, last } => {
                let (mut i, mut at, mut rest) = (first / last.len, first % last.len, register);
                while !rest.is_empty() {
                    let (run, behind) = rest.split_at_mut((last.len - at).min(rest.len()));
                    let mut row = i;
                    let mut start = 0;
                    for axis in outer.iter().rev() {
                        start += row % axis.len * axis.a;
                        row /= axis.len;
                    }
                    match last.a {
                        0 => run.fill(numbers[start]),
                        _ => run.copy_from_slice(&numbers[start + at..][..run.len()]),
                    }
                    (i, at, rest) = (i + 1, 0, behind);
                }
            }
        }
    }

    /// The elements of a block of `len` elements, from `first` on; a slice of one element stands for all.
    fn block<'s>(&'s self, first: usize, len: usize, register: &'s [f32]) -> &'s [f32] {
        match self {
            Source::Even(numbers) => &numbers[first..][..len],
            Source::Single(x) => std::slice::from_ref(x),
            Source::Result | Source::Walked { .. } => &register[..len],
        }
    }
}
