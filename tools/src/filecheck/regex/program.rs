//! A regular expression compiled to instructions, and linear-time walks over them.
//!
//! A [`RegexProgram`] is a non-deterministic automaton. It is walked with a set of threads, one per
//! instruction, so a walk costs at most `text * instructions` steps for any expression.
//! [`RegexProgram::search`] finds the leftmost-longest match, [`RegexProgram::ends`] every end of a match
//! that starts at one position, and [`RegexProgram::starts`], on a program compiled backwards, every position
//! from which the tail of a concatenation leads to a given end.
//!
//! Such a walk cannot decide back-references. Here they stand for *any* text that their group could match, so
//! a walk finds a superset of the matches; `search.rs` then looks for a true one.

use super::parse::{Assertion, ByteSet, Node};

/// One instruction.
#[derive(Debug)]
pub(super) enum Inst {
    Set(ByteSet),
    /// Both; the first is preferred by the backtracking walk.
    Split(usize, usize),
    Jump(usize),
    Assert(Assertion),
    /// Beginning and end of a group.
    Open(usize),
    Close(usize),
    /// Records the beginning of an iteration of loop number `.0`.
    LoopEnter(usize),
    /// Again from `body` unless the iteration of loop `slot` was empty.
    LoopAgain {
        slot: usize,
        body: usize,
    },
    BackReference(usize),
    /// Boundary number `.0` (backward programs only).
    Mark(usize),
    Match,
}

/// The compilation of back-references.
#[derive(Clone, Copy)]
pub(super) enum BackReferences<'a> {
    /// As themselves, for the backtracking walk.
    Exact,
    /// As a copy of the group: `.0[n]` is group `n`.
    Superset(&'a [Option<Node>]),
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct RegexProgram {
    pub(super) insts: Vec<Inst>,
    pub(super) n_loops: usize,
    /// The possible first bytes of a match; `None` if it may be empty.
    first: Option<ByteSet>,
}

/// Threads of one position: the instruction and where the match began, earliest beginning first.
struct Threads {
    list: Vec<(usize, usize)>,
    /// The round in which an instruction was last reached.
    seen: Vec<usize>,
    round: usize,
    stack: Vec<usize>,
}

impl Threads {
    fn new(n_insts: usize) -> Threads {
        Threads { list: Vec::new(), seen: vec![0; n_insts], round: 1, stack: Vec::new() }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.round += 1;
    }
}

/// True if `assertion` holds between the bytes before and after `at`. The text's two ends are line ends.
pub(super) fn holds(assertion: Assertion, text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|i| text.get(i)).copied();
    let after = text.get(at).copied();
    match assertion {
        Assertion::LineStart => before.is_none_or(|b| b == b'\n'),
        Assertion::LineEnd => after.is_none_or(|b| b == b'\n'),
    }
}

struct Compiler<'a> {
    insts: Vec<Inst>,
    n_loops: usize,
    references: BackReferences<'a>,
    backward: bool,
}

impl Compiler<'_> {
    fn emit(&mut self, inst: Inst) -> usize {
        self.insts.push(inst);
        self.insts.len() - 1
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Set(set) => {
                self.emit(Inst::Set(*set));
            }
            Node::Assert(assertion) => {
                self.emit(Inst::Assert(*assertion));
            }
            Node::Concat(nodes) if self.backward => nodes.iter().rev().for_each(|n| self.node(n)),
            Node::Concat(nodes) => nodes.iter().for_each(|n| self.node(n)),
            Node::Alternation(branches) => {
                let mut to_end = Vec::new();
                for (i, branch) in branches.iter().enumerate() {
                    if i + 1 == branches.len() {
                        self.node(branch);
                    } else {
                        let split = self.emit(Inst::Split(0, 0));
                        self.node(branch);
                        to_end.push(self.emit(Inst::Jump(0)));
                        self.insts[split] = Inst::Split(split + 1, self.insts.len());
                    }
                }
                let end = self.insts.len();
                for jump in to_end {
                    self.insts[jump] = Inst::Jump(end);
                }
            }
            Node::Plus(inner) => {
                let slot = self.n_loops;
                self.n_loops += 1;
                self.emit(Inst::LoopEnter(slot));
                let body = self.insts.len();
                self.node(inner);
                self.emit(Inst::LoopAgain { slot, body });
            }
            Node::Optional(inner) => {
                let split = self.emit(Inst::Split(0, 0));
                self.node(inner);
                self.insts[split] = Inst::Split(split + 1, self.insts.len());
            }
            Node::Group(number, inner) => {
                let number = *number as usize;
                self.emit(Inst::Open(number));
                self.node(inner);
                self.emit(Inst::Close(number));
            }
            Node::BackReference(number) => match self.references {
                BackReferences::Exact => {
                    self.emit(Inst::BackReference(*number as usize));
                }
                BackReferences::Superset(groups) => {
                    if let Some(Some(group)) = groups.get(*number as usize) {
                        self.node(group);
                    }
                }
            },
        }
    }

    fn finish(mut self) -> RegexProgram {
        self.emit(Inst::Match);
        let mut program = RegexProgram { insts: self.insts, n_loops: self.n_loops, first: None };
        program.first = program.first_bytes();
        program
    }
}

impl RegexProgram {
    /// Compiles `node` for walks towards the end of the text.
    pub(super) fn forward(node: &Node, references: BackReferences<'_>) -> RegexProgram {
        let mut compiler = Compiler { insts: Vec::new(), n_loops: 0, references, backward: false };
        compiler.node(node);
        compiler.finish()
    }

    /// Compiles the concatenation of `pieces` for [`RegexProgram::starts`]. The boundary after the piece
    /// numbered `n` has number `n`; a piece without a number has no boundary.
    pub(super) fn backward(pieces: &[(&Node, Option<usize>)]) -> RegexProgram {
        let references = BackReferences::Superset(&[]);
        let mut compiler = Compiler { insts: Vec::new(), n_loops: 0, references, backward: true };
        for (piece, boundary) in pieces.iter().rev() {
            if let Some(boundary) = boundary {
                compiler.emit(Inst::Mark(*boundary));
            }
            compiler.node(piece);
        }
        compiler.finish()
    }

    fn first_bytes(&self) -> Option<ByteSet> {
        let mut first = ByteSet::default();
        let mut seen = vec![false; self.insts.len()];
        let mut stack = vec![0];
        while let Some(pc) = stack.pop() {
            if std::mem::replace(&mut seen[pc], true) {
                continue;
            }
            match &self.insts[pc] {
                Inst::Set(set) => first.add_all(set),
                Inst::Match | Inst::BackReference(_) => return None,
                Inst::Split(a, b) => stack.extend([*a, *b]),
                Inst::Jump(to) => stack.push(*to),
                Inst::LoopAgain { slot: _, body } => stack.extend([*body, pc + 1]),
                Inst::Assert(_) | Inst::Open(_) | Inst::Close(_) | Inst::LoopEnter(_) | Inst::Mark(_) => {
                    stack.push(pc + 1);
                }
            }
        }
        Some(first)
    }

    /// Adds to `threads` the instructions reachable from `pc` at `at` without consuming a byte; calls `mark`
    /// for the boundaries on the way.
    fn add(
        &self,
        threads: &mut Threads,
        pc: usize,
        start: usize,
        text: &[u8],
        at: usize,
        mark: &mut dyn FnMut(usize),
    ) {
        threads.stack.push(pc);
        while let Some(pc) = threads.stack.pop() {
            if std::mem::replace(&mut threads.seen[pc], threads.round) == threads.round {
                continue;
            }
            match &self.insts[pc] {
                Inst::Set(_) | Inst::Match => threads.list.push((pc, start)),
                Inst::BackReference(_) => {}
                Inst::Split(a, b) => threads.stack.extend([*b, *a]),
                Inst::Jump(to) => threads.stack.push(*to),
                Inst::LoopAgain { slot: _, body } => threads.stack.extend([pc + 1, *body]),
                Inst::Assert(assertion) => {
                    if holds(*assertion, text, at) {
                        threads.stack.push(pc + 1);
                    }
                }
                Inst::Open(_) | Inst::Close(_) | Inst::LoopEnter(_) => threads.stack.push(pc + 1),
                Inst::Mark(boundary) => {
                    mark(*boundary);
                    threads.stack.push(pc + 1);
                }
            }
        }
    }

    /// The longest of the leftmost matches at or after `from`.
    pub(super) fn search(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize)> = None;
        let (mut now, mut next) = (Threads::new(self.insts.len()), Threads::new(self.insts.len()));
        let mut at = from;
        loop {
            if best.is_none() {
                if now.list.is_empty()
                    && let Some(first) = &self.first
                {
                    at += text.get(at..)?.iter().position(|&b| first.has(b))?;
                    // Threads that were reached and failed belong to the previous position.
                    now.clear();
                }
                self.add(&mut now, 0, at, text, at, &mut |_| {});
            }
            for &(pc, start) in &now.list {
                if best.is_some_and(|(best_start, _)| best_start < start) {
                    break;
                }
                match &self.insts[pc] {
                    Inst::Set(set) => {
                        if text.get(at).is_some_and(|&b| set.has(b)) {
                            self.add(&mut next, pc + 1, start, text, at + 1, &mut |_| {});
                        }
                    }
                    _ => best = Some((start, at)),
                }
            }
            if at >= text.len() || (best.is_some() && next.list.is_empty()) {
                return best;
            }
            at += 1;
            std::mem::swap(&mut now, &mut next);
            next.clear();
        }
    }

    /// All ends, ascending, of matches that start at `start` and end at or before `limit`.
    pub(super) fn ends(&self, text: &[u8], start: usize, limit: usize) -> Vec<usize> {
        let mut ends = Vec::new();
        let (mut now, mut next) = (Threads::new(self.insts.len()), Threads::new(self.insts.len()));
        self.add(&mut now, 0, start, text, start, &mut |_| {});
        for at in start..=limit {
            for &(pc, _) in &now.list {
                match &self.insts[pc] {
                    Inst::Set(set) => {
                        if text.get(at).is_some_and(|&b| set.has(b)) {
                            self.add(&mut next, pc + 1, start, text, at + 1, &mut |_| {});
                        }
                    }
                    _ => ends.push(at),
                }
            }
            if next.list.is_empty() {
                break;
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
        }
        ends
    }

    /// On a backward program: calls `found(boundary, at)` for every position at or after `start` from which
    /// the pieces after that boundary match up to exactly `end`.
    pub(super) fn starts(&self, text: &[u8], start: usize, end: usize, found: &mut dyn FnMut(usize, usize)) {
        let (mut now, mut next) = (Threads::new(self.insts.len()), Threads::new(self.insts.len()));
        self.add(&mut now, 0, end, text, end, &mut |boundary| found(boundary, end));
        for at in (start + 1..=end).rev() {
            for &(pc, _) in &now.list {
                if let Inst::Set(set) = &self.insts[pc]
                    && text.get(at - 1).is_some_and(|&b| set.has(b))
                {
                    self.add(&mut next, pc + 1, end, text, at - 1, &mut |boundary| found(boundary, at - 1));
                }
            }
            if next.list.is_empty() {
                return;
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
        }
    }
}
