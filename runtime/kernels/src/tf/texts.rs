//! Operators that search texts: regular expressions, stop words, separators, n-grams.
//!
//! Patterns are RE2's, translated by `re2`; time is linear in the text. Texts that are searched must be
//! UTF-8. A rewrite with a group that the pattern lacks leaves texts as they are. The operators of ONNX
//! follow its specification.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::{collected, push};
use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::{DType, HostTensor, I1, Shape, StringTensor, TensorError};
use regex_lite::{Captures, Regex};

use super::action::{ActionRow, action, tensor};
use super::operands::dense;
use super::re2::translated;
use super::strings::{strings, strings_in};
use crate::objects::{Strings, refused};

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::RegexFullMatch], |attrs| {
        let patterns = Patterns::default();
        action(attrs, move |[x, pattern], cx| {
            let pattern = patterns.of(text_of(pattern)?, Pattern::whole)?;
            Ok([matches(strings_in(x)?, &pattern, cx.allocator())?])
        })
    }),
    (&[Op::StaticRegexFullMatch], |attrs| {
        let pattern = Pattern::whole(&attrs.string("pattern")?).map_err(|why| wrong(attrs, why))?;
        action(attrs, move |[x], cx| Ok([matches(strings_in(x)?, &pattern, cx.allocator())?]))
    }),
    (&[Op::RegexReplace], |attrs| {
        let (patterns, all) = (Patterns::default(), attrs.bool("replace_global")?);
        action(attrs, move |[x, pattern, rewrite], cx| {
            let pattern = patterns.of(text_of(pattern)?, Pattern::new)?;
            let rewrite = Rewrite::new(&text_of(rewrite)?, &pattern).map_err(KernelError::invalid)?;
            Ok([replaced(strings_in(x)?, &pattern, &rewrite, all, cx.allocator())?])
        })
    }),
    (&[Op::StaticRegexReplace], |attrs| {
        let all = attrs.bool("replace_global")?;
        let pattern = Pattern::new(&attrs.string("pattern")?).map_err(|why| wrong(attrs, why))?;
        let rewrite = Rewrite::new(&attrs.string("rewrite")?, &pattern).map_err(|why| wrong(attrs, why))?;
        action(attrs, move |[x], cx| Ok([replaced(strings_in(x)?, &pattern, &rewrite, all, cx.allocator())?]))
    }),
    (&[Op::_StringNormalizer], |attrs| {
        let case = Case::new(attrs)?;
        let (is_sensitive, stopwords) = (attrs.bool("is_case_sensitive")?, attrs.strings("stopwords")?);
        action(attrs, move |[x], cx| {
            Ok([normalized(strings_in(x)?, case, is_sensitive, &stopwords, cx.allocator())?])
        })
    }),
    (&[Op::_StringSplit], |attrs| {
        let delimiter = attrs.string("delimiter")?;
        let most = usize::try_from(attrs.int("maxsplit")?).unwrap_or(usize::MAX);
        action(attrs, move |[x], cx| split(strings_in(x)?, &delimiter, most, cx.allocator()))
    }),
    (&[Op::_TfIdfVectorizer], |attrs| {
        let grams = Grams::new(attrs)?;
        action(attrs, move |[x], cx| Ok([grams.counts(x, cx.allocator())?]))
    }),
];

fn wrong(attrs: &Attributes<'_>, problem: String) -> TensorError {
    TensorError::Invalid { op: attrs.op(), problem }
}

/// A text in UTF-8.
fn utf8(text: &[u8]) -> Result<&str, KernelError> {
    std::str::from_utf8(text).map_err(|_| {
        let shown: String = String::from_utf8_lossy(text).chars().take(64).collect();
        KernelError::invalid(format!("the text '{shown}' is not UTF-8"))
    })
}

/// The text of a scalar.
fn text_of(x: &Value) -> Result<String, KernelError> {
    let x = strings_in(x)?;
    let read = x.read().map_err(refused)?;
    match (x.shape().rank(), read.at(0)) {
        (0, Some(text)) => utf8(text).map(str::to_owned),
        _ => Err(KernelError::invalid(format!("a text of shape {}, expected a scalar", x.shape()))),
    }
}

/// A regular expression.
struct Pattern(Regex);

impl Pattern {
    fn new(text: &str) -> Result<Pattern, String> {
        Pattern::of(text, |translated| translated)
    }

    /// An expression for whole texts.
    fn whole(text: &str) -> Result<Pattern, String> {
        Pattern::new(text)?;
        Pattern::of(text, |translated| format!(r"\A(?:{translated})\z"))
    }

    fn of(text: &str, made: fn(String) -> String) -> Result<Pattern, String> {
        let regex =
            translated(text).and_then(|found| Regex::new(&made(found)).map_err(|why| why.to_string()));
        regex.map(Pattern).map_err(|why| format!("the pattern '{text}': {why}"))
    }
}

/// The expression of the last text: an operator gets the same one most of the time.
#[derive(Default)]
struct Patterns(Mutex<Option<(String, Arc<Pattern>)>>);

impl Patterns {
    fn of(
        &self,
        text: String,
        make: fn(&str) -> Result<Pattern, String>,
    ) -> Result<Arc<Pattern>, KernelError> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, pattern)) = &*last
            && *known == text
        {
            return Ok(pattern.clone());
        }
        let pattern = Arc::new(make(&text).map_err(KernelError::invalid)?);
        *last = Some((text, pattern.clone()));
        Ok(pattern)
    }
}

fn matches(x: &StringTensor, by: &Pattern, allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
    let out = HostTensor::allocate(DType::I1, x.shape().clone(), allocator).map_err(refused)?;
    {
        let (mut to, read) = (out.write::<I1>().map_err(refused)?, x.read().map_err(refused)?);
        for (to, text) in to.iter_mut().zip(read.iter()) {
            *to = I1::from(by.0.is_match(utf8(text)?));
        }
    }
    Ok(tensor(out))
}

/// A replacement: literal texts and groups. RE2 writes `\1` for a group, `\0` for the match, `\\` for a
/// backslash. One with a group that the pattern lacks is the match.
struct Rewrite(Vec<RewritePart>);

enum RewritePart {
    Text(String),
    Group(usize),
}

impl Rewrite {
    fn new(text: &str, pattern: &Pattern) -> Result<Rewrite, String> {
        let (mut parts, mut literal, mut chars) = (Vec::new(), String::new(), text.chars());
        while let Some(c) = chars.next() {
            match (c, if c == '\\' { chars.next() } else { None }) {
                ('\\', Some(digit @ '0'..='9')) => {
                    let group = digit as usize - '0' as usize;
                    if group >= pattern.0.captures_len() {
                        return Ok(Rewrite(vec![RewritePart::Group(0)]));
                    }
                    parts.push(RewritePart::Text(std::mem::take(&mut literal)));
                    parts.push(RewritePart::Group(group));
                }
                ('\\', Some('\\')) => literal.push('\\'),
                ('\\', _) => {
                    return Err(format!("the rewrite '{text}': a digit or a backslash follows a backslash"));
                }
                (c, _) => literal.push(c),
            }
        }
        parts.push(RewritePart::Text(literal));
        Ok(Rewrite(parts))
    }

    fn of(&self, found: &Captures<'_>) -> String {
        let text = |part: &RewritePart| match part {
            RewritePart::Text(text) => text.clone(),
            RewritePart::Group(group) => found.get(*group).map_or("", |found| found.as_str()).to_owned(),
        };
        self.0.iter().map(text).collect()
    }
}

fn replaced(
    x: &StringTensor,
    pattern: &Pattern,
    rewrite: &Rewrite,
    all: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let read = x.read().map_err(refused)?;
    let mut texts = Vec::new();
    for text in read.iter() {
        let limit = usize::from(!all);
        let new = pattern.0.replacen(utf8(text)?, limit, |found: &Captures<'_>| rewrite.of(found));
        push(&mut texts, new.into_owned()).map_err(refused)?;
    }
    strings(x.shape(), &texts, allocator)
}

/// The change of the case of words.
#[derive(Clone, Copy)]
enum Case {
    Kept,
    Lower,
    Upper,
}

impl Case {
    fn new(attrs: &Attributes<'_>) -> Result<Case, TensorError> {
        match &attrs.string("case_change_action")?[..] {
            "NONE" => Ok(Case::Kept),
            "LOWER" => Ok(Case::Lower),
            "UPPER" => Ok(Case::Upper),
            other => {
                Err(wrong(attrs, format!("case_change_action '{other}', expected NONE, LOWER or UPPER")))
            }
        }
    }

    fn of(self, word: &str) -> String {
        match self {
            Case::Kept => word.to_owned(),
            Case::Lower => word.to_lowercase(),
            Case::Upper => word.to_uppercase(),
        }
    }
}

/// The words without stop words; one empty word if none is left.
fn normalized(
    x: &StringTensor,
    case: Case,
    is_sensitive: bool,
    stopwords: &[String],
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let rank = x.shape().rank();
    if !(rank == 1 || rank == 2 && x.shape().dims()[0] == 1) {
        return Err(KernelError::invalid(format!("words of shape {}, expected [n] or [1, n]", x.shape())));
    }
    let read = x.read().map_err(refused)?;
    let folded: Vec<String> = stopwords.iter().map(|word| word.to_lowercase()).collect();
    let stops = |word: &str| match is_sensitive {
        true => stopwords.iter().any(|stop| stop == word),
        false => folded.contains(&word.to_lowercase()),
    };
    let mut words = Vec::new();
    for word in read.iter() {
        let word = utf8(word)?;
        if !stops(word) {
            push(&mut words, case.of(word)).map_err(refused)?;
        }
    }
    if words.is_empty() {
        words.push(String::new());
    }
    let dims = [1, words.len()];
    let shape = Shape::new(&dims[2 - rank..]).map_err(refused)?;
    strings(&shape, &words, allocator)
}

/// The parts of each string, filled up with empty strings, and their numbers.
fn split(
    x: &StringTensor,
    delimiter: &str,
    most: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<[Value; 2], KernelError> {
    let read = x.read().map_err(refused)?;
    let mut all: Vec<Vec<&str>> = Vec::new();
    for text in read.iter() {
        let text = utf8(text)?;
        let parts = match delimiter {
            "" => collected(Words { rest: text.trim(), left: most }),
            delimiter => {
                collected(text.splitn(most.saturating_add(1), delimiter).filter(|_| !text.is_empty()))
            }
        };
        push(&mut all, parts.map_err(refused)?).map_err(refused)?;
    }
    let longest = all.iter().map(Vec::len).max().unwrap_or(0);
    let dims: Vec<usize> = x.shape().dims().iter().copied().chain([longest]).collect();
    let shape = Shape::new(&dims).map_err(refused)?;
    let filled = all.iter().flat_map(|parts| (0..longest).map(|i| parts.get(i).copied().unwrap_or("")));
    let filled = collected(filled).map_err(refused)?;
    let counts = collected(all.iter().map(|parts| parts.len() as i64)).map_err(refused)?;
    let counts = HostTensor::from_slice(x.shape().clone(), &counts, allocator).map_err(refused)?;
    Ok([strings(&shape, &filled, allocator)?, tensor(counts)])
}

/// The words of a trimmed text; the last one is the rest.
struct Words<'t> {
    rest: &'t str,
    /// How often it may be divided.
    left: usize,
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = if self.left == 0 { None } else { self.rest.find(char::is_whitespace) };
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        (self.rest, self.left) = (rest.trim_start(), self.left.saturating_sub(1));
        Some(word)
    }
}

/// An item of an n-gram.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Item {
    Number(i64),
    Word(Vec<u8>),
}

/// The n-grams of `TfIdfVectorizer` as a tree of their items.
struct Grams {
    nodes: Vec<GramNode>,
    /// The numbers of items of the n-grams that count, first and last.
    lengths: (usize, usize),
    skips: usize,
    columns: usize,
    /// The factor of each column.
    weights: Vec<f32>,
    /// True if a column is its count, false if it is 1 for any.
    counts: bool,
}

#[derive(Default)]
struct GramNode {
    next: HashMap<Item, usize>,
    /// The column of the n-gram that ends here.
    column: Option<usize>,
}

/// Limit of the columns.
const MAX_COLUMNS: usize = 1 << 24;

impl Grams {
    fn new(attrs: &Attributes<'_>) -> Result<Grams, TensorError> {
        let wrong = |problem: &str| wrong(attrs, problem.to_owned());
        let count = |name: &str| usize::try_from(attrs.int(name)?).map_err(|_| wrong("a negative length"));
        let lengths = (count("min_gram_length")?, count("max_gram_length")?);
        let skips = count("max_skip_count")?;
        let (numbers, words) = (attrs.ints("pool_int64s")?, attrs.strings("pool_strings")?);
        let pool: Vec<Item> = match words.is_empty() {
            true => numbers.into_iter().map(Item::Number).collect(),
            false => words.into_iter().map(|word| Item::Word(word.into_bytes())).collect(),
        };
        let indexes = attrs.ints("ngram_indexes")?;
        let columns: Option<Vec<usize>> =
            indexes.iter().map(|&i| usize::try_from(i).ok().filter(|&i| i < MAX_COLUMNS)).collect();
        let columns = columns.ok_or_else(|| wrong("an index of an n-gram is out of range"))?;
        let starts: Option<Vec<usize>> =
            attrs.ints("ngram_counts")?.iter().map(|&i| usize::try_from(i).ok()).collect();
        let starts = starts.ok_or_else(|| wrong("ngram_counts has a negative number"))?;
        let n_columns = columns.iter().max().map_or(0, |&last| last + 1);
        let (mut nodes, mut of) = (vec![GramNode::default()], columns.iter());
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(pool.len());
            let grams = pool.get(start..end).ok_or_else(|| wrong("ngram_counts does not fit the pool"))?;
            if grams.len() % (i + 1) != 0 {
                return Err(wrong("ngram_counts does not fit the pool"));
            }
            for gram in grams.chunks(i + 1) {
                let &column = of.next().ok_or_else(|| wrong("more n-grams than ngram_indexes"))?;
                if (lengths.0..=lengths.1).contains(&(i + 1)) {
                    insert(&mut nodes, gram, column);
                }
            }
        }
        let mode = attrs.string("mode")?;
        let given = attrs.floats("weights")?;
        if !matches!(&mode[..], "TF" | "IDF" | "TFIDF") {
            return Err(wrong("mode is neither TF nor IDF nor TFIDF"));
        }
        let mut weights = vec![1.0; n_columns];
        if mode != "TF" && !given.is_empty() {
            if given.len() != columns.len() {
                return Err(wrong("weights and ngram_indexes have different lengths"));
            }
            columns.iter().zip(&given).for_each(|(&column, &weight)| weights[column] = weight as f32);
        }
        Ok(Grams { nodes, lengths, skips, columns: n_columns, weights, counts: mode != "IDF" })
    }

    /// The columns of all rows.
    fn counts(&self, x: &Value, allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
        let (shape, items) = items_of(x)?;
        let n_items = match *shape.dims() {
            [n_items] | [_, n_items] => n_items,
            _ => return Err(KernelError::invalid(format!("rows of shape {shape}, expected rank 1 or 2"))),
        };
        let mut dims = shape.dims().to_vec();
        dims[shape.rank() - 1] = self.columns;
        let shape = Shape::new(&dims).map_err(refused)?;
        let out = HostTensor::zeros(DType::F32, shape, allocator).map_err(refused)?;
        {
            let mut to = out.write::<f32>().map_err(refused)?;
            let rows = items.chunks_exact(n_items.max(1)).zip(to.chunks_exact_mut(self.columns.max(1)));
            for (items, to) in rows {
                self.count(items, to);
                for (to, weight) in to.iter_mut().zip(&self.weights) {
                    *to = weight * if self.counts { *to } else { f32::from(u8::from(*to > 0.0)) };
                }
            }
        }
        Ok(tensor(out))
    }

    /// Counts the n-grams of a row, whose items may be up to `skips` others apart.
    fn count(&self, row: &[Item], to: &mut [f32]) {
        for distance in 1..=self.skips.saturating_add(1).min(row.len().max(1)) {
            for start in 0..row.len() {
                let mut node = &self.nodes[0];
                let items = row[start..].iter().step_by(distance).take(self.lengths.1);
                for (i, item) in items.enumerate() {
                    let Some(&next) = node.next.get(item) else { break };
                    node = &self.nodes[next];
                    // Single items are the same at any distance.
                    if let Some(column) = node.column.filter(|_| i > 0 || distance == 1) {
                        to[column] += 1.0;
                    }
                }
            }
        }
    }
}

fn insert(nodes: &mut Vec<GramNode>, gram: &[Item], column: usize) {
    let mut at = 0;
    for item in gram {
        let new = nodes.len();
        at = *nodes[at].next.entry(item.clone()).or_insert(new);
        if at == new {
            nodes.push(GramNode::default());
        }
    }
    nodes[at].column = Some(column);
}

/// The items of a tensor of integers or strings.
fn items_of(x: &Value) -> Result<(Shape, Vec<Item>), KernelError> {
    if let Some(Strings(x)) = x.downcast_ref::<Strings>() {
        let read = x.read().map_err(refused)?;
        let items = collected(read.iter().map(|word| Item::Word(word.to_vec()))).map_err(refused)?;
        return Ok((x.shape().clone(), items));
    }
    let x = dense(x)?;
    let numbers: Vec<i64> = match x.dtype() {
        DType::I32 => collected(x.read::<i32>().map_err(refused)?.iter().map(|&n| n.into())),
        DType::I64 => x.to_vec::<i64>(),
        dtype => Err(TensorError::Unsupported { op: "_TfIdfVectorizer", dtype }),
    }
    .map_err(refused)?;
    Ok((x.shape().clone(), numbers.into_iter().map(Item::Number).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_are_those_of_re2() {
        let pattern = Pattern::new("(a+)(b)?").unwrap();
        let of = |rewrite: &str| {
            Rewrite::new(rewrite, &pattern).map(|rewrite| {
                pattern.0.replace_all("xaab", |found: &Captures<'_>| rewrite.of(found)).into_owned()
            })
        };
        assert_eq!(of(r"[\1\2\0]"), Ok("x[aabaab]".to_owned()));
        assert_eq!(of(r"\\$1"), Ok(r"x\$1".to_owned()));
        assert_eq!(of(r"a\3"), Ok("xaab".to_owned()));
        assert!(of(r"\").is_err() && of(r"\n").is_err());
    }

    #[test]
    fn whole_texts_match() {
        let is_match = |pattern: &str, text: &str| Pattern::whole(pattern).unwrap().0.is_match(text);
        assert!(is_match("a|ab", "ab") && !is_match("a", "ab") && is_match("", "") && !is_match("", "\n"));
        assert!(Pattern::whole("a)(b").is_err());
    }

    #[test]
    fn the_last_word_is_the_rest() {
        let words = |text: &'static str, left| Words { rest: text.trim(), left }.collect::<Vec<_>>();
        assert_eq!(words(" a  b c ", usize::MAX), ["a", "b", "c"]);
        assert_eq!(words(" a  b c ", 1), ["a", "b c"]);
        assert_eq!(words("  ", 1), Vec::<&str>::new());
    }
}
