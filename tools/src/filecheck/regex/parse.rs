//! POSIX extended regular expressions as a tree.
//!
//! The dialect is the one of LLVM's `llvm::Regex` (Spencer's library), on bytes, with newline sensitivity:
//!
//! * `.` and a negated bracket never match a newline; `^` and `$` hold at every line.
//! * A backslash makes the next byte ordinary (`\d` is the letter `d`, not a digit) except `\1` to `\9`,
//!   which refer back to a group that is already closed.
//! * `{` starts a repetition only before a digit; a count is at most 255; two repetition operators in a row,
//!   an empty branch and an unbalanced parenthesis are errors.
//! * Brackets know ranges, `[:class:]`, `[=c=]` and `[.c.]`. The word boundaries `[[:<:]]` and `[[:>:]]` are
//!   refused: in Spencer's library they hold or not depending on what other assertion stands beside them.
//!
//! A counted repetition is written out as the copies that Spencer's library makes, because the extent of a
//! capture depends on where one operator ends and the next begins (see `search.rs`).
//!
//! Bounds: [`MAX_NODES`] nodes per expression and [`MAX_DEPTH`] nested parentheses, so neither time nor stack
//! depends on a hostile pattern.

/// Most nodes that one expression may grow to when its counted repetitions are written out.
pub(crate) const MAX_NODES: usize = 1 << 16;
/// Deepest nesting of parentheses.
pub(crate) const MAX_DEPTH: usize = 100;
/// Largest count in `{n,m}`.
const MAX_COUNT: u32 = 255;

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ByteSet([u64; 4]);

impl ByteSet {
    /// The set of one byte, of both its cases if `ignore_case`.
    pub(crate) fn of(byte: u8, ignore_case: bool) -> ByteSet {
        let mut set = ByteSet::default();
        set.insert(byte);
        if ignore_case {
            set.add_other_cases();
        }
        set
    }

    /// Every byte but the newline.
    fn any_but_newline() -> ByteSet {
        let mut set = ByteSet([u64::MAX; 4]);
        set.remove(b'\n');
        set
    }

    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    /// Adds all bytes of `other`.
    pub(crate) fn add_all(&mut self, other: &ByteSet) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// True if `byte` is in the set.
    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    fn add_other_cases(&mut self) {
        for byte in b'a'..=b'z' {
            let upper = byte.to_ascii_uppercase();
            if self.has(byte) {
                self.insert(upper);
            } else if self.has(upper) {
                self.insert(byte);
            }
        }
    }

    fn invert(&mut self) {
        for word in &mut self.0 {
            *word = !*word;
        }
    }
}

/// A condition on a position; it consumes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Assertion {
    LineStart,
    LineEnd,
}

/// A regular expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Node {
    Set(ByteSet),
    Assert(Assertion),
    Concat(Vec<Node>),
    Alternation(Vec<Node>),
    /// One or more.
    Plus(Box<Node>),
    /// None or one, preferably one.
    Optional(Box<Node>),
    Group(u32, Box<Node>),
    BackReference(u32),
}

impl Node {
    /// Nodes in the tree.
    pub(crate) fn size(&self) -> usize {
        match self {
            Node::Set(_) | Node::Assert(_) | Node::BackReference(_) => 1,
            Node::Concat(nodes) | Node::Alternation(nodes) => 1 + nodes.iter().map(Node::size).sum::<usize>(),
            Node::Plus(inner) | Node::Optional(inner) | Node::Group(_, inner) => 1 + inner.size(),
        }
    }

    /// The text itself.
    pub(crate) fn literal(text: &[u8], ignore_case: bool) -> Node {
        Node::Concat(text.iter().map(|&b| Node::Set(ByteSet::of(b, ignore_case))).collect())
    }

    /// `inner*`, as two operators.
    pub(crate) fn star(inner: Node) -> Node {
        Node::Optional(Box::new(Node::Plus(Box::new(inner))))
    }
}

/// The result of [`parse`]: the tree and the number of its groups.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) node: Node,
    pub(crate) n_groups: u32,
}

/// Parses one expression. Its groups are numbered from `first_group`. A back-reference keeps its written
/// number, but it must refer to a group of this expression that is closed by then.
///
/// # Errors
/// A short description of the problem.
pub(crate) fn parse(text: &[u8], first_group: u32, ignore_case: bool) -> Result<Parsed, &'static str> {
    let mut parser = RegexParser {
        text,
        at: 0,
        ignore_case,
        first_group,
        n_groups: 0,
        closed: [false; 10],
        depth: 0,
        nodes: 0,
    };
    let node = parser.alternation(None)?;
    Ok(Parsed { node, n_groups: parser.n_groups })
}

struct RegexParser<'a> {
    text: &'a [u8],
    at: usize,
    ignore_case: bool,
    first_group: u32,
    n_groups: u32,
    closed: [bool; 10],
    depth: usize,
    nodes: usize,
}

impl RegexParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek2(&self) -> Option<u8> {
        self.text.get(self.at + 1).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn eat_both(&mut self, first: u8, second: u8) -> bool {
        let found = self.peek() == Some(first) && self.peek2() == Some(second);
        self.at += 2 * usize::from(found);
        found
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Branches up to `stop`, which is left for the caller.
    fn alternation(&mut self, stop: Option<u8>) -> Result<Node, &'static str> {
        let mut branches = Vec::new();
        loop {
            let mut atoms = Vec::new();
            while let Some(byte) = self.peek()
                && byte != b'|'
                && Some(byte) != stop
            {
                atoms.extend(self.repeated()?);
            }
            if atoms.is_empty() {
                return Err("empty branch or expression");
            }
            branches.push(if atoms.len() == 1 { atoms.remove(0) } else { Node::Concat(atoms) });
            if !self.eat(b'|') {
                break;
            }
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Alternation(branches) })
    }

    fn at_repetition(&self) -> bool {
        match self.peek() {
            Some(b'*' | b'+' | b'?') => true,
            Some(b'{') => self.peek2().is_some_and(|b| b.is_ascii_digit()),
            _ => false,
        }
    }

    /// An atom with its repetition; `None` for `x{0}`.
    fn repeated(&mut self) -> Result<Option<Node>, &'static str> {
        let atom = self.atom()?;
        if !self.at_repetition() {
            return Ok(Some(atom));
        }
        if atom == Node::Assert(Assertion::LineStart) {
            return Err("nothing to repeat");
        }
        let repeated = match self.next() {
            Some(b'*') => Some(Node::star(atom)),
            Some(b'+') => Some(Node::Plus(Box::new(atom))),
            Some(b'?') => Some(Node::Optional(Box::new(atom))),
            _ => {
                let least = self.count()?;
                let most = if !self.eat(b',') {
                    Some(least)
                } else if self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    Some(self.count()?)
                } else {
                    None
                };
                if most.is_some_and(|most| most < least) {
                    return Err("repetition counts in the wrong order");
                }
                if !self.eat(b'}') {
                    return Err("repetition count without its closing brace");
                }
                self.copies(&atom, least, most)?
            }
        };
        if self.at_repetition() {
            return Err("two repetition operators in a row");
        }
        Ok(repeated)
    }

    fn count(&mut self) -> Result<u32, &'static str> {
        let mut count = 0;
        let start = self.at;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            self.at += 1;
            count = count * 10 + u32::from(digit - b'0');
            if count > MAX_COUNT {
                return Err("repetition count above 255");
            }
        }
        if self.at == start { Err("repetition count without a number") } else { Ok(count) }
    }

    /// `atom{least,most}` written out.
    fn copies(&mut self, atom: &Node, least: u32, most: Option<u32>) -> Result<Option<Node>, &'static str> {
        let n_copies = usize::try_from(most.unwrap_or(least + 1)).unwrap_or(usize::MAX);
        self.nodes = self.nodes.saturating_add(atom.size().saturating_mul(n_copies).saturating_mul(2));
        if self.nodes > MAX_NODES {
            return Err("repetition counts make the expression too large");
        }
        // {0,m} is an optional {1,m}; {1,m} is x?x?..x; {n,m} begins with n-1 plain copies.
        if most == Some(0) {
            return Ok(None);
        }
        let mut atoms = Vec::new();
        for _ in 1..least {
            atoms.push(atom.clone());
        }
        match most {
            None => atoms.push(Node::Plus(Box::new(atom.clone()))),
            Some(most) => {
                for _ in least.max(1)..most {
                    atoms.push(Node::Optional(Box::new(atom.clone())));
                }
                atoms.push(atom.clone());
            }
        }
        let all = if atoms.len() == 1 { atoms.remove(0) } else { Node::Concat(atoms) };
        Ok(Some(if least == 0 { Node::Optional(Box::new(all)) } else { all }))
    }

    fn atom(&mut self) -> Result<Node, &'static str> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err("expression too large");
        }
        Ok(match self.next() {
            Some(b'(') => return self.group(),
            Some(b')') => return Err("unbalanced parenthesis"),
            Some(b'^') => Node::Assert(Assertion::LineStart),
            Some(b'$') => Node::Assert(Assertion::LineEnd),
            Some(b'.') => Node::Set(ByteSet::any_but_newline()),
            Some(b'[') => return self.bracket(),
            Some(b'*' | b'+' | b'?') => return Err("nothing to repeat"),
            Some(b'{') if self.peek().is_some_and(|b| b.is_ascii_digit()) => return Err("nothing to repeat"),
            Some(b'\\') => match self.next() {
                None => return Err("backslash at the end"),
                Some(digit @ b'1'..=b'9') => {
                    let number = digit - b'0';
                    if !self.closed[usize::from(number)] {
                        return Err("back-reference to a group that is not closed before it");
                    }
                    Node::BackReference(u32::from(number))
                }
                Some(byte) => Node::Set(ByteSet::of(byte, self.ignore_case)),
            },
            Some(byte) => Node::Set(ByteSet::of(byte, self.ignore_case)),
            None => return Err("empty branch or expression"),
        })
    }

    fn group(&mut self) -> Result<Node, &'static str> {
        if self.depth == MAX_DEPTH {
            return Err("parentheses nested too deeply");
        }
        let local = self.n_groups as usize + 1;
        let number = self.first_group + self.n_groups;
        self.n_groups += 1;
        self.depth += 1;
        let inner =
            if self.peek() == Some(b')') { Node::Concat(Vec::new()) } else { self.alternation(Some(b')'))? };
        self.depth -= 1;
        if !self.eat(b')') {
            return Err("unbalanced parenthesis");
        }
        if let Some(closed) = self.closed.get_mut(local) {
            *closed = true;
        }
        Ok(Node::Group(number, Box::new(inner)))
    }

    /// A bracket expression, after its `[`.
    fn bracket(&mut self) -> Result<Node, &'static str> {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"[:<:]]") || rest.starts_with(b"[:>:]]") {
            return Err("word boundaries are not supported");
        }
        let mut set = ByteSet::default();
        let inverted = self.eat(b'^');
        if self.eat(b']') {
            set.insert(b']');
        } else if self.eat(b'-') {
            set.insert(b'-');
        }
        while let Some(byte) = self.peek()
            && byte != b']'
            && !(byte == b'-' && self.peek2() == Some(b']'))
        {
            self.bracket_term(&mut set)?;
        }
        if self.eat(b'-') {
            set.insert(b'-');
        }
        if !self.eat(b']') {
            return Err("unbalanced bracket");
        }
        if self.ignore_case {
            set.add_other_cases();
        }
        if inverted {
            set.invert();
            set.remove(b'\n');
        }
        Ok(Node::Set(set))
    }

    fn bracket_term(&mut self, set: &mut ByteSet) -> Result<(), &'static str> {
        if self.peek() == Some(b'-') {
            return Err("range without its first character");
        }
        if self.eat_both(b'[', b':') {
            let start = self.at;
            while self.peek().is_some_and(|b| b.is_ascii_alphabetic()) {
                self.at += 1;
            }
            let Some(member) = class(&self.text[start..self.at]) else {
                return Err("unknown character class");
            };
            if !self.eat_both(b':', b']') {
                return Err("unknown character class");
            }
            for byte in 1..=127 {
                if member(byte) {
                    set.insert(byte);
                }
            }
            return Ok(());
        }
        if self.eat_both(b'[', b'=') {
            set.insert(self.collating(b'=')?);
            return Ok(());
        }
        let first = self.bracket_symbol()?;
        let mut last = first;
        if self.peek() == Some(b'-') && self.peek2().is_some_and(|b| b != b']') {
            self.at += 1;
            last = if self.eat(b'-') { b'-' } else { self.bracket_symbol()? };
        }
        // Spencer's library compares plain `char`s, which are signed here.
        if first.cast_signed() > last.cast_signed() {
            return Err("range in the wrong order");
        }
        for byte in first.cast_signed()..=last.cast_signed() {
            set.insert(byte.cast_unsigned());
        }
        Ok(())
    }

    fn bracket_symbol(&mut self) -> Result<u8, &'static str> {
        if self.eat_both(b'[', b'.') {
            return self.collating(b'.');
        }
        self.next().ok_or("unbalanced bracket")
    }

    /// A collating element of one byte, after its `[.` or `[=`. Names such as `[.space.]` are not supported.
    fn collating(&mut self, delimiter: u8) -> Result<u8, &'static str> {
        let byte = self.next().ok_or("unbalanced bracket")?;
        if self.eat_both(delimiter, b']') { Ok(byte) } else { Err("unknown collating element") }
    }
}

/// Membership of the character class of that name.
fn class(name: &[u8]) -> Option<fn(u8) -> bool> {
    Some(match name {
        b"alnum" => |b| b.is_ascii_alphanumeric(),
        b"alpha" => |b| b.is_ascii_alphabetic(),
        b"blank" => |b| matches!(b, b' ' | b'\t'),
        b"cntrl" => |b| b.is_ascii_control(),
        b"digit" => |b| b.is_ascii_digit(),
        b"graph" => |b| b.is_ascii_graphic(),
        b"lower" => |b| b.is_ascii_lowercase(),
        b"print" => |b| b.is_ascii_graphic() || b == b' ',
        b"punct" => |b| b.is_ascii_punctuation(),
        b"space" => |b| matches!(b, b'\t'..=b'\r' | b' '),
        b"upper" => |b| b.is_ascii_uppercase(),
        b"xdigit" => |b| b.is_ascii_hexdigit(),
        _ => return None,
    })
}
