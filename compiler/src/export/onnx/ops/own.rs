//! The operators that the importer has for ONNX's: they become again what they were.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::export::onnx::emit::{AttrList, AttrValue, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;

/// The attributes of an op that its node has under the same name and of the same kind, copied from the op.
struct Copied {
    ints: Vec<(&'static str, i64)>,
    floats: Vec<(&'static str, f32)>,
    words: Vec<(&'static str, String)>,
    int_lists: Vec<(&'static str, Vec<i64>)>,
    float_lists: Vec<(&'static str, Vec<f32>)>,
    word_lists: Vec<(&'static str, Vec<String>)>,
}

impl Copied {
    fn of<'a>(n: &'a TfNode<'a>) -> CopyAttrs<'a> {
        let (ints, floats, words, int_lists, float_lists, word_lists) = Default::default();
        let copied = Copied { ints, floats, words, int_lists, float_lists, word_lists };
        CopyAttrs { n, copied }
    }

    /// The attributes; empty lists stand for omitted ones.
    fn list(&self) -> AttrList<'_> {
        let Copied { ints, floats, words, int_lists, float_lists, word_lists } = self;
        let mut attrs = AttrList::new();
        attrs.extend(ints.iter().map(|&(name, value)| (name, AttrValue::Int(value))));
        attrs.extend(floats.iter().map(|&(name, value)| (name, AttrValue::Float(value))));
        attrs.extend(words.iter().map(|(name, value)| (*name, AttrValue::Str(value))));
        let given = |len: usize| len > 0;
        let lists = int_lists.iter().filter(|(_, list)| given(list.len()));
        attrs.extend(lists.map(|(name, list)| (*name, AttrValue::Ints(list))));
        let lists = float_lists.iter().filter(|(_, list)| given(list.len()));
        attrs.extend(lists.map(|(name, list)| (*name, AttrValue::Floats(list))));
        let lists = word_lists.iter().filter(|(_, list)| given(list.len()));
        attrs.extend(lists.map(|(name, list)| (*name, AttrValue::Strs(list))));
        attrs
    }
}

/// Copies attributes by name.
struct CopyAttrs<'a> {
    n: &'a TfNode<'a>,
    copied: Copied,
}

impl CopyAttrs<'_> {
    fn ints(mut self, names: &[&'static str]) -> Result<Self, WhyNot> {
        for &name in names {
            self.copied.ints.push((name, self.n.int(name)?));
        }
        Ok(self)
    }

    fn flags(mut self, names: &[&'static str]) -> Result<Self, WhyNot> {
        for &name in names {
            self.copied.ints.push((name, i64::from(self.n.flag(name)?)));
        }
        Ok(self)
    }

    fn floats(mut self, names: &[&'static str]) -> Result<Self, WhyNot> {
        for &name in names {
            self.copied.floats.push((name, self.n.float(name)?));
        }
        Ok(self)
    }

    fn words(mut self, names: &[&'static str]) -> Result<Self, WhyNot> {
        for &name in names {
            self.copied.words.push((name, self.n.word(name)?));
        }
        Ok(self)
    }

    fn int_lists(mut self, names: &[&'static str]) -> Result<Self, WhyNot> {
        for &name in names {
            self.copied.int_lists.push((name, self.n.int_list(name)?));
        }
        Ok(self)
    }

    fn float_lists(mut self, names: &[&'static str]) -> Result<Self, WhyNot> {
        for &name in names {
            self.copied.float_lists.push((name, self.n.float_list(name)?));
        }
        Ok(self)
    }

    fn word_lists(mut self, names: &[&'static str]) -> Result<Self, WhyNot> {
        for &name in names {
            self.copied.word_lists.push((name, self.n.words(name)?));
        }
        Ok(self)
    }
}

// ---- elements by index ----

pub(super) fn gather_elements(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n).ints(&["axis"])?.copied;
    Ok(vec![w.with("GatherElements", &n.all(), copied.list())])
}

pub(super) fn scatter_elements(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n).ints(&["axis"])?.words(&["reduction"])?.copied;
    Ok(vec![w.with("ScatterElements", &n.all(), copied.list())])
}

pub(super) fn scatter_nd(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n).words(&["reduction"])?.copied;
    let indices = w.indices(n, 1)?;
    Ok(vec![w.with("ScatterND", &[n.input(0)?, &indices, n.input(2)?], copied.list())])
}

pub(super) fn unique(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let mut copied = Copied::of(n).flags(&["sorted"])?.copied;
    if let [axis] = n.int_list("axis")?[..] {
        copied.ints.push(("axis", axis));
    }
    Ok(w.node_of("", "Unique", &n.all(), copied.list(), 4))
}

// ---- images ----

pub(super) fn pool(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let windows = ["kernel_shape", "strides", "dilations", "pads"];
    let copied = Copied::of(n).flags(&["ceil_mode"])?.int_lists(&windows)?;
    if n.operator == Op::_MaxPoolWithIndices {
        let copied = copied.ints(&["storage_order"])?.copied;
        return Ok(w.node_of("", "MaxPool", &n.all(), copied.list(), 2));
    }
    let (op_type, copied) = match n.word("mode")?.as_str() {
        "max" => ("MaxPool", copied.copied),
        "average" => ("AveragePool", copied.flags(&["count_include_pad"])?.copied),
        "lp" => ("LpPool", copied.ints(&["p"])?.copied),
        other => return Err(format!("of mode {other}")),
    };
    Ok(vec![w.with(op_type, &n.all(), copied.list())])
}

pub(super) fn resize(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n)
        .flags(&["antialias", "exclude_outside"])?
        .floats(&["cubic_coeff_a", "extrapolation_value"])?
        .int_lists(&["axes"])?
        .words(&["coordinate_transformation_mode", "keep_aspect_ratio_policy", "mode", "nearest_mode"])?
        .copied;
    // Empty operands are those that its node did not have.
    let given = |i: usize| match n.dims(i) {
        Ok(dims) if dims == [0] => Ok(""),
        _ => n.input(i),
    };
    let inputs = [n.input(0)?, given(1)?, given(2)?, given(3)?];
    Ok(vec![w.with("Resize", &inputs, copied.list())])
}

pub(super) fn grid_sample(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n).flags(&["align_corners"])?.words(&["mode", "padding_mode"])?.copied;
    Ok(vec![w.with("GridSample", &n.all(), copied.list())])
}

pub(super) fn roi_align(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let mut copied = Copied::of(n)
        .ints(&["output_height", "output_width", "sampling_ratio"])?
        .floats(&["spatial_scale"])?
        .words(&["mode"])?
        .copied;
    let coordinates = if n.flag("half_pixel")? { "half_pixel" } else { "output_half_pixel" };
    copied.words.push(("coordinate_transformation_mode", coordinates.to_owned()));
    Ok(vec![w.with("RoiAlign", &n.all(), copied.list())])
}

pub(super) fn max_roi_pool(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n).int_lists(&["pooled_shape"])?.floats(&["spatial_scale"])?.copied;
    Ok(vec![w.with("MaxRoiPool", &n.all(), copied.list())])
}

pub(super) fn deform_conv(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let lists = ["dilations", "pads", "strides"];
    let copied = Copied::of(n).ints(&["group", "offset_group"])?.int_lists(&lists)?.copied;
    Ok(vec![w.with("DeformConv", &n.all(), copied.list())])
}

pub(super) fn col2im(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n).int_lists(&["dilations", "pads", "strides"])?.copied;
    Ok(vec![w.with("Col2Im", &n.all(), copied.list())])
}

pub(super) fn non_max_suppression(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n).ints(&["center_point_box"])?.copied;
    Ok(vec![w.with("NonMaxSuppression", &n.all(), copied.list())])
}

// ---- text ----

pub(super) fn string_normalizer(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n)
        .flags(&["is_case_sensitive"])?
        .words(&["case_change_action"])?
        .word_lists(&["stopwords"])?
        .copied;
    Ok(vec![w.with("StringNormalizer", &n.all(), copied.list())])
}

pub(super) fn string_split(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let mut copied = Copied::of(n).words(&["delimiter"])?.copied;
    // Without a limit, the attribute is absent.
    copied.ints.extend(Some(n.int("maxsplit")?).filter(|&most| most >= 0).map(|most| ("maxsplit", most)));
    Ok(w.node_of("", "StringSplit", &n.all(), copied.list(), 2))
}

pub(super) fn tf_idf_vectorizer(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n)
        .ints(&["max_gram_length", "max_skip_count", "min_gram_length"])?
        .words(&["mode"])?
        .word_lists(&["pool_strings"])?
        .float_lists(&["weights"])?
        .int_lists(&["ngram_counts", "ngram_indexes", "pool_int64s"])?
        .copied;
    Ok(vec![w.with("TfIdfVectorizer", &n.all(), copied.list())])
}

// ---- layers ----

pub(super) fn recurrent(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let copied = Copied::of(n)
        .ints(&["hidden_size"])?
        .words(&["direction"])?
        .word_lists(&["activations"])?
        .float_lists(&["activation_alpha", "activation_beta"])?;
    let clip = n.float("clip")?;
    let (op_type, mut copied) = match n.operator {
        Op::_Lstm => ("LSTM", copied.flags(&["input_forget"])?.copied),
        Op::_Gru => ("GRU", copied.ints(&["linear_before_reset"])?.copied),
        _ => ("RNN", copied.copied),
    };
    if clip != 0.0 {
        copied.floats.push(("clip", clip));
    }
    Ok(w.node_of("", op_type, &n.all(), copied.list(), n.n_results()))
}

/// `ConvInteger` and `MatMulInteger`.
pub(super) fn quantized(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if n.operator == Op::_QuantizedMatMul {
        return Ok(vec![w.op("MatMulInteger", &n.all())]);
    }
    let copied = Copied::of(n).ints(&["group"])?.int_lists(&["dilations", "pads", "strides"])?.copied;
    Ok(vec![w.with("ConvInteger", &n.all(), copied.list())])
}

/// `QuantizeLinear` and `DequantizeLinear`.
pub(super) fn linear(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let op_type = if n.operator == Op::_QuantizeLinear { "QuantizeLinear" } else { "DequantizeLinear" };
    let copied = Copied::of(n).ints(&["axis"])?.copied;
    Ok(vec![w.with(op_type, &n.all(), copied.list())])
}

/// `TreeEnsembleRegressor`, whose result is f32.
pub(super) fn tree_ensemble(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if !n.int_list("nodes_value_bits")?.is_empty() {
        return Err("with splits of f64".to_owned());
    }
    let copied = Copied::of(n)
        .ints(&["n_targets"])?
        .words(&["aggregate_function"])?
        .word_lists(&["nodes_modes"])?
        .float_lists(&["base_values", "nodes_values", "target_weights"])?
        .int_lists(&[
            "nodes_falsenodeids",
            "nodes_featureids",
            "nodes_missing_value_tracks_true",
            "nodes_nodeids",
            "nodes_treeids",
            "nodes_truenodeids",
            "target_ids",
            "target_nodeids",
            "target_treeids",
        ])?
        .copied;
    if !matches!(n.dtype(0)?, DType::F32 | DType::F64 | DType::I32 | DType::I64) {
        return Err(format!("of {}", n.dtype(0)?));
    }
    Ok(w.node_of(super::super::ML, "TreeEnsembleRegressor", &n.all(), copied.list(), 1))
}
