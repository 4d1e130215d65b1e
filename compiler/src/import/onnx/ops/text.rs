//! Texts: joined, divided, normalized, matched, counted.

use befrost_tensor::tf::op::{Op, Type};

use crate::import::onnx::emit::{AttrArg, Lowered, Why, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

pub(super) fn string_concat(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, y) = (n.input(0)?, n.input(1)?);
    let (of_x, of_y) = (g.dims(x)?, g.dims(y)?);
    if of_x == of_y && !of_x.contains(&-1) || of_x.is_empty() || of_y.is_empty() {
        return one(g.one(Op::StringJoin, &[x, y]));
    }
    // The positions broadcast, and select the texts.
    let (at_x, at_y) = (positions(g, x)?, positions(g, y)?);
    let joined = [(x, at_x, at_y), (y, at_y, at_x)].map(|(texts, own, other)| {
        let zeros = g.one(Op::ZerosLike, &[other])?;
        let at = g.add(own, zeros)?;
        let flat = g.reshape_to(texts, &[-1])?;
        g.gather(flat, at, 0)
    });
    let [x, y] = joined;
    one(g.one(Op::StringJoin, &[x?, y?]))
}

/// The positions of a tensor's elements, in its shape.
fn positions(g: &mut OnnxImporter<'_>, x: ValueId) -> Result<ValueId, Why> {
    let sizes = g.sizes(x)?;
    let size = g.size_product(&sizes)?;
    let numbers = g.iota(size)?;
    g.reshape(numbers, &sizes)
}

pub(super) fn string_normalizer(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (case, stopwords) = (n.word("case_change_action", "NONE")?, n.words("stopwords")?);
    let attrs = [
        ("case_change_action", AttrArg::Str(case)),
        ("is_case_sensitive", AttrArg::Bool(n.flag("is_case_sensitive", false))),
        ("stopwords", AttrArg::Strs(&stopwords)),
    ];
    one(g.op(Op::_StringNormalizer, &[n.input(0)?], &attrs))
}

pub(super) fn string_split(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let attrs = [
        ("delimiter", AttrArg::Str(n.word("delimiter", "")?)),
        ("maxsplit", AttrArg::Int(n.int_or("maxsplit", -1))),
    ];
    g.ops(Op::_StringSplit, &[n.input(0)?], &attrs, &[])
}

pub(super) fn regex_full_match(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let pattern = n.word("pattern", "")?;
    one(g.op(Op::StaticRegexFullMatch, &[n.input(0)?], &[("pattern", AttrArg::Str(pattern))]))
}

pub(super) fn tf_idf_vectorizer(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let words = n.words("pool_strings")?;
    let ints = |name: &str| n.ints(name).unwrap_or_default();
    if words.is_empty() != (g.element(x) != Some(Type::String)) {
        return Err("its pool and its input have different types".into());
    }
    let length = |name: &str| n.int(name).ok_or_else(|| format!("it has no {name}"));
    let attrs = [
        ("max_gram_length", AttrArg::Int(length("max_gram_length")?)),
        ("max_skip_count", AttrArg::Int(length("max_skip_count")?)),
        ("min_gram_length", AttrArg::Int(length("min_gram_length")?)),
        ("mode", AttrArg::Str(n.word("mode", "")?)),
        ("ngram_counts", AttrArg::Ints(ints("ngram_counts"))),
        ("ngram_indexes", AttrArg::Ints(ints("ngram_indexes"))),
        ("pool_int64s", AttrArg::Ints(ints("pool_int64s"))),
        ("pool_strings", AttrArg::Strs(&words)),
        ("weights", AttrArg::Floats(n.floats("weights"))),
    ];
    one(g.op(Op::_TfIdfVectorizer, &[x], &attrs))
}
