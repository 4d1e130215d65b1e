//! Chains of elementwise operators as one program: block by block, the operands are read, all steps run in
//! the L1 cache, and the results are written.
//!
//! ```text
//! steps: s0 = Mul(x, scale)   s1 = Add(s0, bias)   s2 = Map(Tanh, s1)     results: s1, s2
//! x has the results' shape, scale is a number, bias a row
//!
//! for each block (parallel)
//!   bias's elements for the block ─▶ a register     x: read in place        scale: one number
//!   s0 ─▶ a register            s1 ─▶ the first result           s2 ─▶ the second result
//! ```
//!
//! Operands broadcast as in NumPy, and all results have the shape to which they broadcast. Values are f32 or
//! i32, in registers of 4-byte elements; a comparison gives an i32, 0 or 1. A register is used again when its
//! value is dead. An operand of a result's type and shape without other handles becomes that result: each of
//! its blocks is copied to a register before the block is written.

use smallvec::SmallVec;

use crate::cache::CACHE;
use crate::error::invalid;
use crate::simd::{Arithmetic, Comparison, Function, IntArithmetic, Isa, Zip, fill};
use crate::tf::Compare;
use crate::tf::fast::Cx;
use crate::tf::walk::{Axis, broadcast_axes, broadcast_shape};
use crate::{DType, HostTensor, Ref, Shape, TensorError};

const OP: &str = "chain";

/// The largest number of elements in a block: eight registers fit the L1 cache.
const BLOCK: usize = CACHE.l1_floats(8);

/// The largest number of steps, and of operands, of a program.
const MOST: usize = 1024;

/// The integers that a number of a program may be: floats represent them exactly.
const EXACT: f32 = (1 << 24) as f32;

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An operand of the program.
    Operand(usize),
    /// The result of an earlier step.
    Step(usize),
    /// A constant; an integer where the step takes i32.
    Number(f32),
}

/// A step of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A function of one f32.
    Map(Function, Value),
    /// Arithmetic of two f32.
    Arithmetic(Arithmetic, Value, Value),
    /// Arithmetic of two i32, which wraps.
    Ints(IntArithmetic, Value, Value),
    /// 1 where a comparison of two f32 holds, else 0: an i32.
    Compare(Comparison, Value, Value),
    /// An i32 as f32.
    ToFloat(Value),
    /// The second value where the first, an i32, is not 0, else the third. Both are f32.
    Choose(Value, Value, Value),
}

/// A step without its values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the steps")]
pub enum StepKind {
    Map(Function),
    Arithmetic(Arithmetic),
    Ints(IntArithmetic),
    Compare(Compare),
    ToFloat,
    Choose,
}

impl StepKind {
    /// The step of these values, if they are as many as it has.
    pub fn of(self, values: &[Value]) -> Option<Step> {
        Some(match (self, values) {
            (StepKind::Map(function), &[x]) => Step::Map(function, x),
            (StepKind::Arithmetic(op), &[a, b]) => Step::Arithmetic(op, a, b),
            (StepKind::Ints(op), &[a, b]) => Step::Ints(op, a, b),
            (StepKind::Compare(op), &[a, b]) => match op {
                Compare::Less => Step::Compare(Comparison::Less, a, b),
                Compare::LessEqual => Step::Compare(Comparison::LessEqual, a, b),
                Compare::Greater => Step::Compare(Comparison::Less, b, a),
                Compare::GreaterEqual => Step::Compare(Comparison::LessEqual, b, a),
                Compare::Equal => Step::Compare(Comparison::Equal, a, b),
                Compare::NotEqual => Step::Compare(Comparison::NotEqual, a, b),
            },
            (StepKind::ToFloat, &[x]) => Step::ToFloat(x),
            (StepKind::Choose, &[flag, a, b]) => Step::Choose(flag, a, b),
            _ => return None,
        })
    }
}

impl Step {
    /// The values, and their types.
    fn values(&self) -> SmallVec<[(Value, DType); 3]> {
        use DType::{F32, I32};
        match *self {
            Step::Map(_, x) => SmallVec::from_slice(&[(x, F32)]),
            Step::ToFloat(x) => SmallVec::from_slice(&[(x, I32)]),
            Step::Arithmetic(_, a, b) | Step::Compare(_, a, b) => SmallVec::from_slice(&[(a, F32), (b, F32)]),
            Step::Ints(_, a, b) => SmallVec::from_slice(&[(a, I32), (b, I32)]),
            Step::Choose(flag, a, b) => SmallVec::from_buf([(flag, I32), (a, F32), (b, F32)]),
        }
    }

    /// The type of the result.
    pub fn dtype(&self) -> DType {
        match self {
            Step::Map(..) | Step::Arithmetic(..) | Step::ToFloat(_) | Step::Choose(..) => DType::F32,
            Step::Ints(..) | Step::Compare(..) => DType::I32,
        }
    }

    /// The step with integers as their bits.
    fn encoded(self) -> Step {
        let bits = |value| match value {
            Value::Number(x) => Value::Number(f32::from_bits((x as i32).cast_unsigned())),
            value => value,
        };
        match self {
            Step::Ints(op, a, b) => Step::Ints(op, bits(a), bits(b)),
            Step::ToFloat(x) => Step::ToFloat(bits(x)),
            Step::Choose(flag, a, b) => Step::Choose(bits(flag), a, b),
            Step::Map(..) | Step::Arithmetic(..) | Step::Compare(..) => self,
        }
    }
}

/// A chain of elementwise operators of f32 and i32.
#[derive(Clone, Debug)]
pub struct Program {
    operands: Vec<DType>,
    steps: Vec<Step>,
    /// The steps that are results.
    results: Vec<usize>,
    /// The place of each step's result: a register, or one of the results behind the registers.
    places: Vec<usize>,
    /// The number of registers.
    n_registers: usize,
}

impl Program {
    /// A program with operands of these types, f32 or i32. Fails if there are no steps or no results, if
    /// there are too many steps or operands, if a step is a result twice, or if a step uses a missing
    /// operand, a value of another type, or the result of a step that does not precede it.
    pub fn new(operands: &[DType], steps: Vec<Step>, results: &[usize]) -> Result<Program, TensorError> {
        if steps.is_empty() || steps.len() > MOST || operands.len() > MOST {
            return invalid(OP, format!("{} steps with {} operands", steps.len(), operands.len()));
        }
        if let Some(dtype) = operands.iter().find(|dtype| !matches!(dtype, DType::F32 | DType::I32)) {
            return invalid(OP, format!("an operand of type {dtype}, expected f32 or i32"));
        }
        let mut result_of = vec![None; steps.len()];
        for (i, &step) in results.iter().enumerate() {
            match result_of.get_mut(step) {
                Some(place @ None) => *place = Some(i),
                _ => return invalid(OP, format!("the results {results:?} of {} steps", steps.len())),
            }
        }
        if results.is_empty() {
            return invalid(OP, "no results".to_owned());
        }
        let mut last_use = vec![0; steps.len()];
        for (i, step) in steps.iter().enumerate() {
            for (value, dtype) in step.values() {
                let found = match value {
                    Value::Operand(at) => operands.get(at).copied(),
                    Value::Step(at) if at < i => {
                        last_use[at] = i;
                        Some(steps[at].dtype())
                    }
                    Value::Number(x) if dtype == DType::F32 || (x.fract() == 0.0 && x.abs() <= EXACT) => {
                        Some(dtype)
                    }
                    Value::Step(_) | Value::Number(_) => None,
                };
                if found != Some(dtype) {
                    return invalid(OP, format!("step {i} has {value:?}, expected a value of type {dtype}"));
                }
            }
        }
        let (mut places, mut free, mut n_registers) = (Vec::with_capacity(steps.len()), Vec::new(), 0);
        for (i, step) in steps.iter().enumerate() {
            let ended = step.values().into_iter().filter_map(|(value, _)| match value {
                Value::Step(at) if last_use[at] == i && result_of[at].is_none() => places[at],
                _ => None,
            });
            let mut ended: SmallVec<[usize; 3]> = ended.collect();
            ended.sort_unstable();
            ended.dedup();
            // A function works in place; all other steps read their operands while they write.
            if let Step::Map(..) = step {
                free.extend(ended.drain(..));
            }
            let place: Option<usize> = match result_of[i] {
                Some(_) => None,
                None => Some(free.pop().unwrap_or_else(|| {
                    n_registers += 1;
                    n_registers - 1
                })),
            };
            free.extend(ended);
            if last_use[i] == 0 {
                free.extend(place); // no step uses the result
            }
            places.push(place);
        }
        let places = places.iter().zip(&result_of);
        let places = places.map(|(place, result)| place.unwrap_or(n_registers + result.unwrap_or(0)));
        Ok(Program {
            operands: operands.to_vec(),
            results: results.to_vec(),
            places: places.collect(),
            n_registers,
            steps: steps.into_iter().map(Step::encoded).collect(),
        })
    }

    /// The results, of the shape to which the operands broadcast. Operands without other handles may be
    /// overwritten.
    pub fn run(&self, operands: Vec<HostTensor>, cx: &Cx<'_>) -> Result<Vec<HostTensor>, TensorError> {
        if operands.len() != self.operands.len() {
            return invalid(OP, format!("{} operands, expected {}", operands.len(), self.operands.len()));
        }
        let mut shape = Shape::scalar();
        for (x, &dtype) in operands.iter().zip(&self.operands) {
            x.expect_dtype("operand", dtype)?;
            shape = broadcast_shape(&shape, x.shape())?;
        }
        // For each operand the result that it becomes.
        let mut becomes = vec![None; operands.len()];
        let mut outs = Vec::with_capacity(self.results.len());
        for (i, &step) in self.results.iter().enumerate() {
            let dtype = self.steps[step].dtype();
            let fits = |x: &HostTensor| x.is_unique() && x.dtype() == dtype && *x.shape() == shape;
            let free = operands.iter().zip(&mut becomes).find(|(x, becomes)| becomes.is_none() && fits(x));
            outs.push(match free {
                Some((x, becomes)) => {
                    *becomes = Some(i);
                    x.clone()
                }
                None => HostTensor::allocate(dtype, shape.clone(), cx.allocator)?,
            });
        }
        if shape.num_elements() == 0 {
            return Ok(outs);
        }
        {
            // All operands are borrowed for reading, except those that become results, which are borrowed for
            // writing.
            let mut borrowed = Vec::with_capacity(operands.len());
            for (x, becomes) in operands.iter().zip(becomes) {
                borrowed.push(match becomes {
                    Some(result) => Err(result),
                    None => Ok(Floats::read(x)?),
                });
            }
            let sources: Vec<Source<'_>> = borrowed
                .iter()
                .zip(&operands)
                .map(|(numbers, x)| match numbers {
                    Ok(numbers) => Source::new(numbers, x.shape(), &shape),
                    Err(result) => Source::Result(*result),
                })
                .collect();
            let mut written = outs.iter().map(HostTensor::write_bytes).collect::<Result<Vec<_>, _>>()?;
            let block = self.block_size(&sources);
            let mut parts: Vec<_> = written
                .iter_mut()
                .map(|bytes| bytemuck::cast_slice_mut::<u8, f32>(bytes).chunks_mut(block))
                .collect();
            let blocks = 0..shape.num_elements().div_ceil(block);
            let mut blocks: Vec<BlockRows<'_>> =
                blocks.map(|_| parts.iter_mut().filter_map(Iterator::next).collect()).collect();
            let cost = block.saturating_mul(2 * self.steps.len());
            cx.parts(&mut blocks, (1, cost), &|first, blocks| self.part(&sources, first * block, blocks));
        }
        Ok(outs)
    }

    /// The elements of a block: registers and results fit the L1 cache together.
    fn block_size(&self, sources: &[Source<'_>]) -> usize {
        let streams = sources.iter().filter(|source| !matches!(source, Source::Single(_))).count();
        let all = self.n_registers + self.results.len() + streams;
        (BLOCK * 8 / all.max(8)).max(128).next_multiple_of(16)
    }

    /// Computes some blocks of the results, from element `first` on.
    fn part(&self, sources: &[Source<'_>], mut first: usize, blocks: &mut [BlockRows<'_>]) {
        let longest = blocks.iter().flatten().map(|part| part.len()).max().unwrap_or(0);
        let mut loaded: Vec<Vec<f32>> =
            sources.iter().map(|source| vec![0.0; if source.is_loaded() { longest } else { 0 }]).collect();
        let mut registers = vec![vec![0.0; longest]; self.n_registers];
        for results in blocks {
            let len = results.first().map_or(0, |result| result.len());
            for (source, register) in sources.iter().zip(&mut loaded) {
                source.load(first, results, register.get_mut(..len).unwrap_or_default());
            }
            let registers = registers.iter_mut().map(|register| &mut register[..len]);
            let mut places: SmallVec<[&mut [f32]; 16]> =
                registers.chain(results.iter_mut().map(|result| &mut **result)).collect();
            let operands: SmallVec<[&[f32]; 8]> = sources
                .iter()
                .zip(&loaded)
                .map(|(source, register)| source.block(first, len, register.get(..len).unwrap_or_default()))
                .collect();
            for (step, &place) in self.steps.iter().zip(&self.places) {
                let to = std::mem::take(&mut places[place]);
                self.step(step, place, &operands, &places, to);
                places[place] = to;
            }
            first += len;
        }
    }

    /// The elements of a value in a block: all of them, or one that stands for all.
    fn numbers<'n>(
        &self,
        value: &'n Value,
        operands: &'n [&'n [f32]],
        places: &'n [&mut [f32]],
    ) -> &'n [f32] {
        match value {
            Value::Operand(at) => operands[*at],
            Value::Step(at) => &*places[self.places[*at]],
            Value::Number(x) => std::slice::from_ref(x),
        }
    }

    /// Computes a step into `to`, which was taken out of its place.
    fn step(&self, step: &Step, place: usize, operands: &[&[f32]], places: &[&mut [f32]], to: &mut [f32]) {
        let isa = Isa::detect();
        let of = |value| self.numbers(value, operands, places);
        match step {
            Step::Map(function, x) => {
                let is_there = matches!(x, Value::Step(at) if self.places[*at] == place);
                if is_there {
                    isa.map(*function, to);
                } else {
                    isa.map_to(*function, of(x), to);
                }
            }
            Step::Arithmetic(op, a, b) => isa.zip(Zip::Floats(*op), of(a), of(b), to),
            Step::Ints(op, a, b) => isa.zip(Zip::Ints(*op), of(a), of(b), to),
            Step::Compare(op, a, b) => isa.zip(Zip::Compare(*op), of(a), of(b), to),
            Step::ToFloat(x) => isa.to_floats(of(x), to),
            Step::Choose(flag, a, b) => {
                fill(of(b), to);
                isa.choose(of(flag), of(a), to);
            }
        }
    }
}

/// A block of each result.
type BlockRows<'a> = SmallVec<[&'a mut [f32]; 2]>;

/// The elements of an operand; those of i32 as their bits.
enum Floats<'a> {
    F32(Ref<'a, f32>),
    I32(Ref<'a, i32>),
}

impl Floats<'_> {
    fn read(x: &HostTensor) -> Result<Floats<'_>, TensorError> {
        Ok(match x.dtype() {
            DType::I32 => Floats::I32(x.read::<i32>()?),
            _ => Floats::F32(x.read::<f32>()?),
        })
    }
}

impl std::ops::Deref for Floats<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Floats::F32(x) => x,
            Floats::I32(x) => bytemuck::cast_slice(x),
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
    /// The operand becomes the result of this number: each block is copied to a register before it is
    /// overwritten.
    Result(usize),
    /// The operand is read in place: it has as many elements as the result.
    Even(&'a [f32]),
    /// The operand has one element.
    Single(f32),
    /// The elements of a block are copied to a register, run by run along the last axis.
    Walked { numbers: &'a [f32], outer: Vec<Axis>, last: Axis },
}

impl<'a> Source<'a> {
    /// The source of an operand with these elements.
    fn new(numbers: &'a [f32], shape: &Shape, result: &Shape) -> Source<'a> {
        if let &[x] = numbers {
            return Source::Single(x);
        }
        let mut outer = broadcast_axes(shape, result, result);
        match outer.pop() {
            Some(last) if !outer.is_empty() || last.a == 0 => Source::Walked { numbers, outer, last },
            _ => Source::Even(numbers),
        }
    }

    /// True if its elements are read from a register.
    fn is_loaded(&self) -> bool {
        matches!(self, Source::Result(_) | Source::Walked { .. })
    }

    /// Copies the elements of a block, from `first` on, to the register, for sources that need one.
    fn load(&self, first: usize, results: &[&mut [f32]], register: &mut [f32]) {
        match self {
            Source::Even(_) | Source::Single(_) => {}
            Source::Result(i) => register.copy_from_slice(results[*i]),
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
            Source::Result(_) | Source::Walked { .. } => register,
        }
    }
}
