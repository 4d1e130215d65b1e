//! Check of parts: what the parts of a divided program send each other fits together.
//!
//! ```text
//! dev.step ─┬─▶ call @main.A(%x, %step) ─ calls, loops, frames ─▶ sends and recvs by channel and frame:
//!           └─▶ call @main.B(%step)     ─ calls, loops, frames ─▶ both or none, of one type
//! ```
//!
//! All parts that share a step which several calls take are in the file. A function that takes its step from
//! outside is a part alone: the other ends of its channels are in other files.
//!
//! Functions are walked once for each call that leads to them, a loop's body as one iteration. Inlining
//! copies ends: a loop's condition is called in front of it and in its body, and branches may run one
//! function. So an end may be there more than once; if it is sent or received twice in one iteration, that
//! fails when it runs. Inside of a recursion a channel may lack an end, since its parts need not be unrolled
//! alike.
//!
//! Not here: branches and circles, which the compiler's `verify-parts` checks. In files that were made
//! otherwise, what can only wait fails when it runs.

use std::collections::BTreeMap;

use bef_format::{AttrView, FunctionKind, FunctionView, Image, KernelView};
use rustc_hash::{FxHashMap, FxHashSet};

use super::check::{MAX_ERRORS, n_passed};
use super::error::KernelUseError;
use super::kernels::Kernels;
use befrost_kernel_api::executor::location_of;
use befrost_kernel_api::kernel::{CallResults, CallShape, Form, StepUse};

/// Limit of what is walked: operands of kernels, and registers of functions.
const MAX_WALKED: usize = 1 << 24;
/// The deepest nest of calls that is walked.
const MAX_DEPTH: usize = 256;

/// The frame of a step in a register; 0 is the step itself.
type FrameIndex = usize;

/// A send or a recv.
#[derive(Clone, Copy)]
struct PartEnd {
    function: u32,
    kernel: u32,
    call: usize,
}

/// The sends and the recvs of a channel in a frame.
type PartEnds = [Vec<PartEnd>; 2];

/// A fault of parts: the end where it is reported, the rule, and the other end.
type Misfit = (PartEnd, String, Option<PartEnd>);

/// Checks the parts of all steps that begin in the file.
pub(super) fn check(image: &Image<'_>, kernels: &Kernels) -> Result<(), Vec<KernelUseError>> {
    let mut errors = Vec::new();
    if !kernels.all().any(|kernel| kernel.signature.step == Some(StepUse::Begins)) {
        return Ok(());
    }
    for function in image.functions() {
        for kernel in function.kernels() {
            let begins = kernels.of(&kernel).signature.step == Some(StepUse::Begins);
            let step = kernel.first_result();
            if !begins || n_parts(&function, step, kernels) < 2 {
                continue;
            }
            let mut walk = PartWalk::new(image, kernels);
            match walk.step(&function, step) {
                Ok(()) => errors.extend(walk.misfits().into_iter().map(|misfit| walk.error(misfit))),
                Err(why) => errors.push(error_at(image, &function, &kernel, why)),
            }
            if errors.len() >= MAX_ERRORS {
                errors.truncate(MAX_ERRORS);
                return Err(errors);
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The number of calls that take a step.
fn n_parts(function: &FunctionView<'_, '_>, step: u32, kernels: &Kernels) -> usize {
    let is_part = |kernel: &KernelView<'_, '_>| {
        kernel.operands().contains(&step)
            && kernels.of(kernel).signature.calls.is_some_and(|shape| shape.form == Form::Call)
    };
    function.kernels().filter(is_part).count()
}

fn error_at(
    image: &Image<'_>,
    function: &FunctionView<'_, '_>,
    kernel: &KernelView<'_, '_>,
    what: &str,
) -> KernelUseError {
    let message = format!("the parts do not fit together: {what}");
    KernelUseError { location: location_of(image, kernel), function: function.name().to_owned(), message }
}

/// The walk through the parts of one step.
struct PartWalk<'w> {
    image: &'w Image<'w>,
    kernels: &'w Kernels,
    n_walked: usize,
    /// The frames: by that around and the name, the number.
    frames: FxHashMap<(usize, &'w str), usize>,
    ends: BTreeMap<(i64, usize), PartEnds>,
    /// Each call: that around it, and its function.
    calls: Vec<(usize, u32)>,
    /// The functions on the way to the current one.
    open: FxHashSet<u32>,
    /// The functions that call themselves, or are too deep.
    recursive: FxHashSet<u32>,
}

impl<'w> PartWalk<'w> {
    fn new(image: &'w Image<'w>, kernels: &'w Kernels) -> PartWalk<'w> {
        let (frames, ends, calls, open, recursive) = Default::default();
        PartWalk { image, kernels, n_walked: 0, frames, ends, calls, open, recursive }
    }

    /// Walks the function in which the step begins.
    fn step(&mut self, function: &FunctionView<'w, 'w>, step: u32) -> Result<(), &'static str> {
        let mut steps = vec![None; function.n_registers() as usize];
        steps[step as usize] = Some(0);
        self.function(function, steps, 0).map(|_| ())
    }

    /// Walks a function with these steps in its registers; returns those that it returns.
    fn function(
        &mut self,
        function: &FunctionView<'w, 'w>,
        mut steps: Vec<Option<FrameIndex>>,
        around: usize,
    ) -> Result<Vec<Option<FrameIndex>>, &'static str> {
        self.n_walked += steps.len();
        self.open.insert(function.index());
        self.calls.push((around, function.index()));
        let call = self.calls.len() - 1;
        for (k, kernel) in (0..).zip(function.kernels()) {
            self.n_walked += 1 + kernel.operands().len();
            if self.n_walked > MAX_WALKED {
                return Err("they are too large to be checked");
            }
            let taken = kernel.operands().iter().find_map(|&register| steps[register as usize]);
            let Some(at) = taken else { continue };
            let signature = &self.kernels.of(&kernel).signature;
            let given = match signature.step {
                Some(StepUse::Enters) => Some(self.enter(at, &kernel)),
                Some(StepUse::Advances) => Some(at),
                Some(StepUse::Sends | StepUse::Receives) => {
                    let is_recv = signature.step == Some(StepUse::Receives);
                    let AttrView::Int { value: channel, .. } = kernel.attr(0) else { continue };
                    let end = PartEnd { function: function.index(), kernel: k, call };
                    let ends = self.ends.entry((channel, at)).or_default();
                    ends[usize::from(is_recv)].push(end);
                    None
                }
                Some(StepUse::Begins) => None,
                None => {
                    if let Some(shape) = signature.calls {
                        self.callees(&kernel, shape, &mut steps, call)?;
                        continue;
                    }
                    // What passes a step on, such as a switch.
                    Some(at)
                }
            };
            for i in 0..kernel.n_results() {
                let register = kernel.first_result() + i;
                let is_step = self.image.type_name(function.register_type(register)) == "!dev.step";
                steps[register as usize] = given.filter(|_| is_step);
            }
        }
        self.open.remove(&function.index());
        Ok(function.results().iter().map(|&register| steps[register as usize]).collect())
    }

    /// The frame that a kernel enters from that of a step.
    fn enter(&mut self, at: FrameIndex, kernel: &KernelView<'w, 'w>) -> usize {
        let AttrView::Str(name) = kernel.attr(0) else { return at };
        let next = self.frames.len() + 1;
        *self.frames.entry((at, name)).or_insert(next)
    }

    /// Walks the functions that a kernel calls with steps.
    fn callees(
        &mut self,
        kernel: &KernelView<'w, 'w>,
        shape: CallShape,
        steps: &mut [Option<FrameIndex>],
        call: usize,
    ) -> Result<(), &'static str> {
        if shape.results == CallResults::Free {
            return Ok(());
        }
        let first = shape.first_operand as usize;
        let n_bounds = if shape.results == CallResults::OfBlock { 2 } else { 0 };
        let is_loop = matches!(shape.form, Form::While | Form::Repeat | Form::Own);
        let passed: Vec<Option<FrameIndex>> = std::iter::repeat_n(None, n_bounds)
            .chain(kernel.operands().iter().skip(first).map(|&register| steps[register as usize]))
            .collect();
        if passed.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut given = Vec::new();
        let mut seen = FxHashSet::default();
        // What two branches run sends in one of them only.
        for id in kernel.functions().iter().filter(|id| seen.insert(id.0)) {
            let function = self.image.function(id.0);
            if function.kind() == FunctionKind::Native {
                continue;
            }
            if self.open.contains(&id.0) || self.open.len() >= MAX_DEPTH {
                self.recursive.insert(id.0);
                continue;
            }
            let mut inside = vec![None; function.n_registers() as usize];
            inside
                .iter_mut()
                .zip(&passed)
                .take(function.n_args() as usize)
                .for_each(|(to, &from)| *to = from);
            given = self.function(&function, inside, call)?;
        }
        for (i, register) in (kernel.first_result()..).take(kernel.n_results() as usize).enumerate() {
            // A loop gives what it carries, in some iteration.
            let carried = || kernel.operands().get(first + i).and_then(|&operand| steps[operand as usize]);
            steps[register as usize] = if is_loop { carried() } else { given.get(i).copied().flatten() };
        }
        Ok(())
    }

    /// Whether an end is inside of a recursion.
    fn is_recursive(&self, end: &PartEnd) -> bool {
        let mut at = Some(end.call);
        while let Some((around, function)) = at.map(|call| self.calls[call]) {
            if self.recursive.contains(&function) {
                return true;
            }
            at = (around != at.unwrap_or(around)).then_some(around);
        }
        false
    }

    /// The faults of all channels.
    fn misfits(&self) -> Vec<Misfit> {
        let mut elsewhere: BTreeMap<i64, [Option<PartEnd>; 2]> = BTreeMap::new();
        let mut recursive = FxHashSet::default();
        for (&(channel, _), ends) in &self.ends {
            let known = elsewhere.entry(channel).or_default();
            for (known, ends) in known.iter_mut().zip(ends) {
                *known = known.or(ends.first().copied());
            }
            if !self.recursive.is_empty() && ends.iter().flatten().any(|end| self.is_recursive(end)) {
                recursive.insert(channel);
            }
        }
        let mut found = Vec::new();
        for (&(channel, _), ends) in &self.ends {
            let [sends, recvs] = ends;
            match (sends.first(), recvs.first()) {
                (Some(&send), Some(&recv)) => {
                    let [sent, received] = [self.types_of(&send), self.types_of(&recv)];
                    let mut pairs = sent.iter().zip(&received).map(|(&sent, &received)| [sent, received]);
                    if sent.len() != received.len() || !pairs.all(is_one_type) {
                        let [sent, received] = [sent, received].map(|types| types.join(", "));
                        let what = format!("channel {channel} is sent as {sent} and received as {received}");
                        found.push((recv, what, Some(send)));
                    }
                }
                _ if recursive.contains(&channel) => {}
                (None, Some(&recv)) => match elsewhere[&channel][0] {
                    Some(send) => {
                        let what =
                            format!("channel {channel} is received in another frame than it is sent in");
                        found.push((recv, what, Some(send)));
                    }
                    None => found.push((recv, format!("channel {channel} is received and never sent"), None)),
                },
                // With a recv in another frame that is the error.
                (Some(&send), None) if elsewhere[&channel][1].is_none() => {
                    found.push((send, format!("channel {channel} is sent and never received"), None));
                }
                _ => {}
            }
        }
        found
    }

    fn kernel(&self, end: &PartEnd) -> (FunctionView<'w, 'w>, KernelView<'w, 'w>) {
        let function = self.image.function(end.function);
        (function, function.kernel(end.kernel))
    }

    /// The types of what an end sends or receives.
    fn types_of(&self, end: &PartEnd) -> Vec<&'w str> {
        let (function, kernel) = self.kernel(end);
        let type_of = |register: u32| self.image.type_name(function.register_type(register));
        let signature = &self.kernels.of(&kernel).signature;
        if signature.step == Some(StepUse::Receives) {
            return (kernel.first_result()..).take(kernel.n_results() as usize).map(type_of).collect();
        }
        // All but the step, and the order edges that the kernel does not see.
        let operands = kernel.operands();
        let n = n_passed(&kernel, signature, |i| type_of(operands[i]));
        let sent = operands.iter().take(n).enumerate().filter(|&(i, _)| i != 1);
        sent.map(|(_, &register)| type_of(register)).collect()
    }

    fn error(&self, (end, what, other): Misfit) -> KernelUseError {
        let (function, kernel) = self.kernel(&end);
        let other = other.map_or_else(String::new, |other| {
            let (function, kernel) = self.kernel(&other);
            let at = location_of(self.image, &kernel).map_or_else(String::new, |at| format!(" ({at})"));
            format!("; the other end is in '{}'{at}", function.name())
        });
        error_at(self.image, &function, &kernel, &format!("{what}{other}"))
    }
}

/// Whether a value may be sent and received as these types: optimizations may know more of a tensor's shape
/// in one part than in another.
fn is_one_type([sent, received]: [&str; 2]) -> bool {
    match (tensor_type(sent), tensor_type(received)) {
        (Some((sent, element)), Some((received, other))) => {
            let is_unknown = |size: &str| size.starts_with('?');
            let fits = |(a, b): (&&str, &&str)| a == b || is_unknown(a) || is_unknown(b);
            let is_any = sent == ["*"] || received == ["*"];
            element == other
                && (is_any || sent.len() == received.len() && sent.iter().zip(&received).all(fits))
        }
        _ => sent == received,
    }
}

/// The sizes and the element type of a tensor type.
fn tensor_type(ty: &str) -> Option<(Vec<&str>, &str)> {
    let mut rest = ty.strip_prefix("tensor<")?.strip_suffix('>')?;
    let mut sizes = Vec::new();
    let is_size = |text: &str| text == "?" || text == "*" || text.bytes().all(|c| c.is_ascii_digit());
    while let Some((size, inner)) = rest.split_once('x').filter(|&(size, _)| is_size(size)) {
        sizes.push(size);
        rest = inner;
    }
    Some((sizes, rest))
}
