//! The search for a match and the extents of its groups.
//!
//! Without back-references: the leftmost-longest match is found by a linear walk. Then the expression is
//! divided into its *pieces*, the operators at the top level without the parentheses. From left to right each
//! piece takes as much as still lets the rest match up to the end. That is the order in which Spencer's
//! library assigns text, so a variable captures the same text as in LLVM.
//!
//! With back-references: the walk, with each reference standing for anything its group could match, yields
//! candidates: starts from left to right, for each of them ends from the farthest. A backtracking walk then
//! looks for a true match of exactly that extent. Its steps are counted over the whole search and limited to
//! [`MAX_STEPS`]; beyond that the result is [`TooComplex`], never a wrong "no match".

use super::parse::Node;
use super::program::{BackReferences, Inst, RegexProgram, holds};

/// Most steps of the backtracking walk per search.
const MAX_STEPS: usize = 20_000_000;
/// Most nodes of an expression with its back-references replaced by their groups.
const MAX_SUPERSET: usize = 1 << 18;

/// The search for a true match of the back-references was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooComplex;

/// The extent of each group, by number; `None` for a group that took no part.
pub(crate) type Groups = Vec<Option<(usize, usize)>>;

/// A match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// The start.
    pub(crate) start: usize,
    /// The end.
    pub(crate) end: usize,
    /// The extents of the groups. Without back-references only the groups outside any operator are known.
    pub(crate) groups: Groups,
}

/// A compiled expression, ready to search.
#[derive(Debug)]
pub(crate) struct Regex {
    node: Node,
    n_groups: usize,
    walk: RegexProgram,
    /// The program with its back-references, if there are any.
    exact: Option<RegexProgram>,
}

/// An operator at the top level, or the border of a group there.
enum Piece<'a> {
    /// With the number of the boundary after it if its extent is variable.
    Operator(&'a Node, Option<usize>),
    Open(usize),
    Close(usize),
}

impl Regex {
    /// Compiles `node`, whose groups are numbered below `n_groups` (group 0 is not used).
    ///
    /// # Errors
    /// If the expression is too large once each back-reference is replaced by its group.
    pub(crate) fn new(node: Node, n_groups: u32) -> Result<Regex, TooComplex> {
        let n_groups = n_groups as usize;
        let mut groups = vec![None; n_groups];
        let mut size = 0;
        let has_references = collect_groups(&node, &mut groups, &mut size);
        if size > MAX_SUPERSET {
            return Err(TooComplex);
        }
        let walk = RegexProgram::forward(&node, BackReferences::Superset(&groups));
        let exact = has_references.then(|| RegexProgram::forward(&node, BackReferences::Exact));
        Ok(Regex { node, n_groups, walk, exact })
    }

    /// The leftmost-longest match in `text`. The text's ends count as line ends.
    ///
    /// # Errors
    /// If back-references need more than a bounded amount of backtracking.
    pub(crate) fn find(&self, text: &[u8]) -> Result<Option<Found>, TooComplex> {
        let Some(exact) = &self.exact else {
            let Some((start, end)) = self.walk.search(text, 0) else {
                return Ok(None);
            };
            let groups = self.divide(text, start, end);
            return Ok(Some(Found { start, end, groups }));
        };
        let mut steps = MAX_STEPS;
        let mut from = 0;
        while let Some((start, end)) = self.walk.search(text, from) {
            for &end in self.walk.ends(text, start, end).iter().rev() {
                if let Some(groups) = backtrack(exact, self.n_groups, text, start, end, &mut steps)? {
                    return Ok(Some(Found { start, end, groups }));
                }
            }
            // The walks count too: a search may try many starts.
            steps = steps.checked_sub(end - from + 1).ok_or(TooComplex)?;
            from = start + 1;
        }
        Ok(None)
    }

    /// The extents of the top-level groups in the match `start..end`.
    fn divide(&self, text: &[u8], start: usize, end: usize) -> Groups {
        let mut groups = vec![None; self.n_groups];
        if self.n_groups <= 1 {
            return groups;
        }
        let mut pieces = Vec::new();
        let mut n_boundaries = 0;
        flatten(&self.node, &mut pieces, &mut n_boundaries);
        let operators: Vec<(&Node, Option<usize>)> = pieces
            .iter()
            .filter_map(|p| if let Piece::Operator(o, b) = p { Some((*o, *b)) } else { None })
            .collect();
        // possible[i] holds `at - start` if the pieces after boundary i match text[at..end].
        let mut possible = vec![vec![false; end - start + 1]; n_boundaries];
        RegexProgram::backward(&operators)
            .starts(text, start, end, &mut |boundary, at| possible[boundary][at - start] = true);
        let mut at = start;
        let mut opened = vec![start; self.n_groups];
        for piece in &pieces {
            match piece {
                Piece::Open(group) => opened[*group] = at,
                Piece::Close(group) => groups[*group] = Some((opened[*group], at)),
                Piece::Operator(Node::Set(_), _) => at += 1,
                Piece::Operator(_, None) => {}
                Piece::Operator(node, Some(boundary)) => {
                    let ends = RegexProgram::forward(node, BackReferences::Superset(&[])).ends(text, at, end);
                    let fits = ends.iter().rev().find(|&&e| possible[*boundary][e - start]);
                    at = *fits
                        .expect("the walk found a match, so each piece has an end that the rest follows");
                }
            }
        }
        groups
    }
}

/// Stores each group's inside (with its references replaced), and adds up the total size after replacement.
/// Returns whether there is any reference.
fn collect_groups(node: &Node, groups: &mut [Option<Node>], size: &mut usize) -> bool {
    *size = size.saturating_add(1);
    match node {
        Node::Set(_) | Node::Assert(_) => false,
        Node::Concat(nodes) | Node::Alternation(nodes) => {
            nodes.iter().fold(false, |any, n| collect_groups(n, groups, size) | any)
        }
        Node::Plus(inner) | Node::Optional(inner) => collect_groups(inner, groups, size),
        Node::Group(number, inner) => {
            let any = collect_groups(inner, groups, size);
            if *size <= MAX_SUPERSET {
                let inside = if any { replaced(inner, groups) } else { (**inner).clone() };
                if let Some(slot) = groups.get_mut(*number as usize) {
                    *slot = Some(inside);
                }
            }
            any
        }
        Node::BackReference(number) => {
            let group = groups.get(*number as usize).and_then(Option::as_ref);
            *size = size.saturating_add(group.map_or(0, Node::size));
            true
        }
    }
}

/// `node` with each back-reference replaced by the inside of its group.
fn replaced(node: &Node, groups: &[Option<Node>]) -> Node {
    let all = |nodes: &[Node]| nodes.iter().map(|n| replaced(n, groups)).collect();
    match node {
        Node::Set(_) | Node::Assert(_) => node.clone(),
        Node::Concat(nodes) => Node::Concat(all(nodes)),
        Node::Alternation(nodes) => Node::Alternation(all(nodes)),
        Node::Plus(inner) => Node::Plus(Box::new(replaced(inner, groups))),
        Node::Optional(inner) => Node::Optional(Box::new(replaced(inner, groups))),
        Node::Group(number, inner) => Node::Group(*number, Box::new(replaced(inner, groups))),
        Node::BackReference(number) => {
            groups.get(*number as usize).and_then(Clone::clone).unwrap_or(Node::Concat(Vec::new()))
        }
    }
}

/// Divides `node` into pieces; the operators of variable extent are followed by numbered boundaries.
fn flatten<'a>(node: &'a Node, pieces: &mut Vec<Piece<'a>>, n_boundaries: &mut usize) {
    match node {
        Node::Concat(nodes) => nodes.iter().for_each(|n| flatten(n, pieces, n_boundaries)),
        Node::Group(number, inner) => {
            pieces.push(Piece::Open(*number as usize));
            flatten(inner, pieces, n_boundaries);
            pieces.push(Piece::Close(*number as usize));
        }
        Node::Set(_) | Node::Assert(_) => pieces.push(Piece::Operator(node, None)),
        Node::Alternation(_) | Node::Plus(_) | Node::Optional(_) | Node::BackReference(_) => {
            pieces.push(Piece::Operator(node, Some(*n_boundaries)));
            *n_boundaries += 1;
        }
    }
}

/// An alternative to try when the present path fails.
enum Undo {
    Resume { pc: usize, at: usize },
    Group { group: usize, was: Option<(usize, usize)> },
    Opened { group: usize, was: usize },
    Loop { slot: usize, was: usize },
}

/// A match of exactly `start..end`, preferring earlier alternatives of the expression, with its groups.
fn backtrack(
    program: &RegexProgram,
    n_groups: usize,
    text: &[u8],
    start: usize,
    end: usize,
    steps: &mut usize,
) -> Result<Option<Groups>, TooComplex> {
    let mut groups: Groups = vec![None; n_groups];
    let mut opened = vec![start; n_groups];
    let mut loops = vec![start; program.n_loops];
    let mut undo = vec![Undo::Resume { pc: 0, at: start }];
    while let Some(last) = undo.pop() {
        let (mut pc, mut at) = match last {
            Undo::Resume { pc, at } => (pc, at),
            Undo::Group { group, was } => {
                groups[group] = was;
                continue;
            }
            Undo::Opened { group, was } => {
                opened[group] = was;
                continue;
            }
            Undo::Loop { slot, was } => {
                loops[slot] = was;
                continue;
            }
        };
        loop {
            *steps = steps.checked_sub(1).ok_or(TooComplex)?;
            match &program.insts[pc] {
                Inst::Set(set) => {
                    if at >= end || !set.has(text[at]) {
                        break;
                    }
                    at += 1;
                    pc += 1;
                }
                Inst::Split(first, second) => {
                    undo.push(Undo::Resume { pc: *second, at });
                    pc = *first;
                }
                Inst::Jump(to) => pc = *to,
                Inst::Assert(assertion) => {
                    if !holds(*assertion, text, at) {
                        break;
                    }
                    pc += 1;
                }
                Inst::Open(group) => {
                    undo.push(Undo::Opened { group: *group, was: opened[*group] });
                    opened[*group] = at;
                    pc += 1;
                }
                Inst::Close(group) => {
                    undo.push(Undo::Group { group: *group, was: groups[*group] });
                    groups[*group] = Some((opened[*group], at));
                    pc += 1;
                }
                Inst::LoopEnter(slot) => {
                    undo.push(Undo::Loop { slot: *slot, was: loops[*slot] });
                    loops[*slot] = at;
                    pc += 1;
                }
                Inst::LoopAgain { slot, body } => {
                    if loops[*slot] == at {
                        pc += 1;
                    } else {
                        undo.push(Undo::Resume { pc: pc + 1, at });
                        undo.push(Undo::Loop { slot: *slot, was: loops[*slot] });
                        loops[*slot] = at;
                        pc = *body;
                    }
                }
                Inst::BackReference(group) => {
                    let Some((from, to)) = groups[*group] else { break };
                    let taken = &text[from..to];
                    if !text[at..end].starts_with(taken) {
                        break;
                    }
                    at += taken.len();
                    pc += 1;
                }
                Inst::Mark(_) => pc += 1,
                Inst::Match => {
                    if at == end {
                        return Ok(Some(groups));
                    }
                    break;
                }
            }
        }
    }
    Ok(None)
}
