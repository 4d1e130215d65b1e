//! Bad operands and attributes of images, random numbers, volumes, matrices, transforms, quantized ranges and
//! sparse operands: each is an error that names the problem, before memory is allocated.

use super::{check, refused, run};

const IMAGE: &str = "f32[1x1x2x1]:1,2";

#[test]
fn images() {
    for op in ["ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor"] {
        refused(op, &[], &["f32[2]:1,2", "i32[2]:1,1"], "expected rank 4");
        refused(op, &[], &[IMAGE, "i32[2]:0,1"], "must be positive");
        refused(op, &[], &[IMAGE, "i32[2]:-1,1"], "expected height and width");
        refused(op, &[], &[IMAGE, "i32[1]:1"], "expected height and width");
        refused(op, &[], &["f32[1x0x2x1]:", "i32[2]:1,1"], "has no pixels");
        let both = [("align_corners", "true"), ("half_pixel_centers", "true")];
        refused(op, &both, &[IMAGE, "i32[2]:1,1"], "exclude each other");
        // An image of 2^60 pixels.
        let error = run(op, &[], &[IMAGE, "i32[2]:1073741824,1073741824"]).unwrap_err().to_string();
        assert!(error.contains("memory") || error.contains("large") || error.contains("alloc"), "{error}");
    }
    refused("ResizeBilinearGrad", &[], &[IMAGE, "f32[1x1x1x2]:1,2"], "for images of shape");
    refused("ResizeBicubicGrad", &[], &[IMAGE, "i32[1x1x1x1]:1"], "i32");
    let crop = |boxes, indices, size, words| {
        refused("CropAndResize", &[], &[IMAGE, boxes, indices, size], words);
    };
    crop("f32[1x4]:0,0,1,1", "i32[1]:1", "i32[2]:1,1", "box_ind 1 is not in [0, 1)");
    crop("f32[1x4]:0,0,1,1", "i32[1]:-1", "i32[2]:1,1", "box_ind -1 is not in [0, 1)");
    crop("f32[1x3]:0,0,1", "i32[1]:0", "i32[2]:1,1", "expected [n, 4] and [n]");
    crop("f32[1x4]:0,0,1,1", "i32[1]:0", "i32[2]:0,1", "must be positive");
    let given = [IMAGE, "f32[1x4]:0,0,1,1", "i32[1]:0", "i32[2]:1,1"];
    refused("CropAndResize", &[("method", "cubic")], &given, "\"cubic\", not one of");
    let nan = ["f32[1x1x2x1]:1,2", "f32[1x4]:nan,nan,nan,nan", "i32[1]:0", "i32[2]:2,1"];
    check("CropAndResize", &[("extrapolation_value", "7")], &nan, &["f32[1x2x1x1]:7,7"]);
}

#[test]
fn recurrent_cells() {
    let (x, state, w, p, b) = ("f32[1x2]:1,2", "f32[1x1]:1", "f32[3x4]:0", "f32[1]:1", "f32[4]:0");
    let zeros = "0,0,0,0,0,0,0,0,0,0,0,0";
    let (w, b) = (&w.replace('0', zeros)[..], &b.replace('0', "0,0,0,0")[..]);
    let cell = [x, state, state, w, p, p, p, b];
    assert_eq!(run("LSTMBlockCell", &[], &cell).unwrap().len(), 7);
    let changed = |at: usize, to| {
        let mut operands = cell;
        operands[at] = to;
        operands
    };
    refused("LSTMBlockCell", &[], &changed(0, "f32[2x2]:1,2,3,4"), "cs_prev");
    refused("LSTMBlockCell", &[], &changed(1, "f32[1x2]:1,2"), "h_prev");
    refused("LSTMBlockCell", &[], &changed(3, "f32[1x4]:1,2,3,4"), "`w`");
    refused("LSTMBlockCell", &[], &changed(7, p), "`b`");
    refused("LSTMBlockCell", &[], &changed(7, "f64[4]:0,0,0,0"), "has dtype f64");
    // Weights of the memory that are not used may have any length.
    assert!(run("LSTMBlockCell", &[], &changed(4, "f32[2]:1,2")).is_ok());
    refused("LSTMBlockCell", &[("use_peephole", "true")], &changed(4, "f32[2]:1,2"), "wci");
    for op in ["BlockLSTM", "BlockLSTMV2"] {
        let layer = |steps, x| [&[steps, x][..], &cell[1..]].concat();
        assert!(run(op, &[], &layer("i64:1", "f32[1x1x2]:1,2")).is_ok());
        refused(op, &[], &layer("i64:2", "f32[1x1x2]:1,2"), "seq_len_max is 2 of 1 steps");
        refused(op, &[], &layer("i64:-1", "f32[1x1x2]:1,2"), "seq_len_max is -1 of 1 steps");
        refused(op, &[], &layer("i64:1", x), "rank 3");
    }
    let gru = [x, state, "f32[3x2]:1,2,3,4,5,6", "f32[3x1]:1,2,3", "f32[2]:1,2", "f32[1]:1"];
    assert_eq!(run("GRUBlockCell", &[], &gru).unwrap().len(), 4);
    refused("GRUBlockCell", &[], &[&gru[..4], &gru[5..], &gru[5..]].concat(), "b_ru");
    refused(
        "GRUBlockCellGrad",
        &[],
        &[&gru[..], &[state, state, state, x]].concat(),
        "a state or a gradient",
    );
}

#[test]
fn neighbours() {
    let given = [("depth_radius", "-1")];
    refused("LRN", &given, &[IMAGE], "`depth_radius` is -1");
    refused("LRNGrad", &given, &[IMAGE; 3], "`depth_radius` is -1");
}

#[test]
fn boxes() {
    let (boxes, scores) = ("f32[2x4]:0,0,1,1,0,0,1,1", "f32[2]:1,2");
    let v3 = |inputs: &[&str], words| refused("NonMaxSuppressionV3", &[], inputs, words);
    v3(&[boxes, "f32[3]:1,2,3", "i32:1", "f32:0.5", "f32:0"], "expected [n, 4] and [n]");
    v3(&[boxes, scores, "i32:-1", "f32:0.5", "f32:0"], "`max_output_size` is -1");
    v3(&[boxes, scores, "i32:1", "f32:1.5", "f32:0"], "iou_threshold must be in [0, 1]");
    v3(&[boxes, scores, "i32:1", "f32:nan", "f32:0"], "iou_threshold must be in [0, 1]");
    let v5 = [boxes, scores, "i32:1", "f32:0.5", "f32:0", "f32:-1"];
    refused("NonMaxSuppressionV5", &[], &v5, "soft_nms_sigma must not be negative");
    check("NonMaxSuppression", &[], &[boxes, "f32[2]:nan,nan", "i32:1"], &["i32[0]:"]);
    let combined = |per_class, total, words| {
        let inputs = ["f32[1x1x1x4]:0,0,1,1", "f32[1x1x1]:1", per_class, total, "f32:0.5", "f32:0"];
        refused("CombinedNonMaxSuppression", &[], &inputs, words);
    };
    combined("i32:0", "i32:1", "must be positive");
    combined("i32:1", "i32:-1", "`max_total_size` is -1");
}

#[test]
fn random_numbers() {
    let seeds = [("seed", "1"), ("dtype", "f32")];
    refused("RandomUniform", &seeds, &["i32[1]:-1"], "-1");
    refused("RandomUniform", &[("seed", "1"), ("dtype", "i32")], &["i32[1]:1"], "i32");
    let ints = [("seed", "1"), ("Tout", "i32")];
    refused("RandomUniformInt", &ints, &["i32[1]:1", "i32:5", "i32:5"], "minval must be less than maxval");
    refused("RandomUniformInt", &ints, &["i32[1]:1", "i32[1]:5", "i32:6"], "minval");
    let stateless = [("dtype", "f32")];
    refused("StatelessRandomUniform", &stateless, &["i32[1]:1", "i64[3]:1,2,3"], "seed must have shape [2]");
    let v2 = |key, counter, algorithm, words| {
        refused("StatelessRandomUniformV2", &stateless, &["i32[1]:1", key, counter, algorithm], words);
    };
    v2("ui64[1]:1", "ui64[2]:1,2", "i32:2", "unsupported algorithm 2");
    v2("ui64[2]:1,2", "ui64[2]:1,2", "i32:1", "key of shape [2]");
    v2("ui64[1]:1", "ui64[1]:1", "i32:1", "counter of shape [1]");
    refused("Multinomial", &[("seed", "1")], &["f32[2]:1,2", "i32:1"], "should be a matrix");
    refused("Multinomial", &[("seed", "1")], &["f32[2x0]:", "i32:1"], "should be positive");
    refused("Multinomial", &[("seed", "1")], &["f32[1x1]:1", "i32:-1"], "`num_samples` is -1");
    // Two seeds of 0 are replaced by random seeds, so two generators differ.
    let drawn = || run("RandomUniform", &[("dtype", "f64")], &["i32[1]:8"]).unwrap().remove(0);
    assert_ne!(drawn().read::<f64>().unwrap().to_vec(), drawn().read::<f64>().unwrap().to_vec());
}

#[test]
fn volumes() {
    let window = [("strides", "1,1,1,1,1"), ("padding", "VALID")];
    let (volume, filter) = ("f32[1x1x1x2x1]:1,2", "f32[1x1x2x1x1]:3,4");
    check("Conv3D", &window, &[volume, filter], &["f32[1x1x1x1x1]:11"]);
    refused("Conv3D", &window, &[IMAGE, filter], "rank");
    refused("Conv3D", &window, &[volume, "f32[1x1x1x2x1]:1,2"], "for volumes of 1 channels");
    refused("Conv3D", &[("strides", "1,0,1,1,1"), ("padding", "SAME")], &[volume, filter], "stride 0");
    refused("Conv3D", &[("strides", "2,1,1,1,1"), ("padding", "SAME")], &[volume, filter], "`strides` is");
    let first = [("strides", "1,1,1,1,1"), ("padding", "SAME"), ("data_format", "NCDHW")];
    refused("Conv3D", &first, &[volume, filter], "NCDHW");
    // A window that exceeds the volume by less than two strides has no results; a larger one is refused.
    let large = "f32[1x1x3x1x1]:1,2,3";
    check("Conv3D", &window, &[volume, large], &["f32[1x1x1x0x1]:"]);
    refused("Conv3D", &window, &[volume, "f32[1x1x4x1x1]:1,2,3,4"], "larger than the image");
    let pool = [("strides", "1,1,1,1,1"), ("padding", "VALID"), ("ksize", "1,1,1,3,1")];
    check("MaxPool3D", &pool, &[volume], &["f32[1x1x1x0x1]:"]);
    let pool = [("strides", "1,1,1,1,1"), ("padding", "SAME"), ("ksize", "1,4611686018427387904,4,4,1")];
    check("AvgPool3D", &pool, &[volume], &["f32[1x1x1x2x1]:1.5,1.5"]);
    let sizes = ["i32[5]:1,1,1,3,1", filter, volume];
    check("Conv3DBackpropInputV2", &window, &sizes, &["f32[1x1x1x3x1]:3,10,8"]);
    refused("Conv3DBackpropInputV2", &window, &["i32[5]:1,1,1,9,1", filter, volume], "out_backprop");
    let rates = [("strides", "1,1,1,1"), ("rates", "1,1,1,1"), ("padding", "VALID")];
    refused("Dilation2D", &rates, &[IMAGE, "f32[1x1x2]:1,2"], "filters of 2 channels");
}

#[test]
fn uniform_quantization() {
    let ends = [("quantization_min_val", "-128"), ("quantization_max_val", "127"), ("Tout", "i8")];
    let with = |more: &[(&'static str, &'static str)]| -> Vec<(&str, &str)> {
        ends.into_iter()
            .filter(|(name, _)| more.iter().all(|(other, _)| other != name))
            .chain(more.to_vec())
            .collect()
    };
    let quantize = |more: &[(&'static str, &'static str)], operands: [&str; 3], words| {
        refused("UniformQuantize", &with(more), &operands, words);
    };
    let (x, scale, zero) = ("f32[2x1]:1,2", "f32:0.5", "i32:3");
    quantize(&[], [x, "f32[1]:1", "i32[1]:1"], "scales of shape [1]");
    quantize(&[], [x, scale, "i32[1]:1"], "zero points of shape [1]");
    quantize(&[("quantization_axis", "-2")], [x, scale, zero], "`quantization_axis` is -2");
    quantize(&[("quantization_axis", "2")], [x, "f32[1]:1", "i32[1]:1"], "axis Some(2)");
    quantize(&[("quantization_axis", "0")], [x, "f32[1]:1", "i32[1]:1"], "scales of shape [1]");
    quantize(&[("quantization_max_val", "2147483648")], [x, scale, zero], "`quantization_max_val`");
    quantize(&[("Tout", "f32")], [x, scale, zero], "f32");
    check(
        "UniformQuantize",
        &with(&[]),
        &["f32[4]:nan,inf,-inf,1e10", scale, zero],
        &["i8[4]:-128,-128,-128,-128"],
    );
    let axis = with(&[("quantization_axis", "0")]);
    check("UniformQuantize", &axis, &["f32[0x2]:", "f32[0]:", "i32[0]:"], &["i8[0x2]:"]);
    let lowest = ["i32[1]:-2147483648", "f32:1", "i32:1"];
    check("UniformDequantize", &with(&[]), &lowest, &["f32[1]:2147483647"]);
    let both = [("output_quantization_min_val", "-128"), ("output_quantization_max_val", "127")];
    let requantize = |more: &[(&'static str, &'static str)], operands: [&str; 5], words| {
        let given: Vec<(&str, &str)> =
            both.into_iter().chain([("Tout", "i8")]).chain(more.to_vec()).collect();
        refused("UniformRequantize", &given, &operands, words);
    };
    requantize(&[], ["i8[1]:1", "f32:0", "i32:0", "f32:1", "i32:0"], "must be positive");
    requantize(&[], ["i8[1]:1", "f32:nan", "i32:0", "f32:1", "i32:0"], "must be positive");
    requantize(&[], ["i8[1]:1", "f32:inf", "i32:0", "f32:1", "i32:0"], "a change of scale by inf");
    let axes = [("input_quantization_axis", "0"), ("output_quantization_axis", "1")];
    requantize(&axes, ["i8[1x1]:1", "f32[1]:1", "i32[1]:0", "f32[1]:1", "i32[1]:0"], "of the axes 0 and 1");
    let one = ["f32:1", "i32:0"];
    let dot = |a, b, words| {
        refused("UniformQuantizedDot", &both, &[a, b, one[0], one[1], one[0], one[1], one[0], one[1]], words);
    };
    dot("i8[2]:1,2", "i8[1x1]:1", "the product of matrices of shapes [2] and [1, 1]");
    dot("i8[1x2]:1,2", "i8[1x1]:1", "the product of matrices");
    dot("ui8[1x1]:1", "i8[1x1]:1", "lhs");
    let many = ["i8[1x1]:1", "i8[1x1]:1", "f32:1", "i32:0", "f32:1", "i32:0", "f32[1]:1", "i32[1]:0"];
    refused("UniformQuantizedDot", &both, &many, "one scale of `rhs`");
    refused(
        "UniformQuantizedDot",
        &[both[0], both[1], ("rhs_quantization_axis", "0")],
        &many,
        "expected -1 or 1",
    );
    let rows = ["f32[2x2]:0,0,nan,1", "i8[2x1]:3,4", "f32:0.5", "i32:0"];
    assert!(run("UniformQuantizedDotHybrid", &[], &rows).is_ok());
    check("UniformQuantizedDotHybrid", &[], &["f32[2x0]:", "i8[0x1]:", "f32:1", "i32:0"], &["f32[2x1]:0,0"]);
    refused("UniformQuantizedClipByValue", &[], &["i32[1]:1", "i32[1]:1", "i32:2", "f32:1", "i32:0"], "min");
    let clip = ["i32[3]:1,5,9", "i32:7", "i32:2", "f32:1", "i32:0"];
    check("UniformQuantizedClipByValue", &[], &clip, &["i32[3]:2,2,2"]);
    refused(
        "UniformQuantizedAdd",
        &both,
        &["i32[2]:1,2", "i32[3]:1,2,3", "f32:1", "i32:0", "f32:1", "i32:0", "f32:1", "i32:0"],
        "",
    );
}

#[test]
fn candidate_samplers() {
    let classes = "i64[2x1]:1,0";
    let with = |more: &[(&'static str, &'static str)]| {
        let given =
            [("num_true", "1"), ("num_sampled", "2"), ("unique", "true"), ("range_max", "3"), ("seed", "1")];
        given
            .into_iter()
            .filter(|(name, _)| more.iter().all(|(other, _)| other != name))
            .chain(more.to_vec())
            .collect()
    };
    let learned = "LearnedUnigramCandidateSampler";
    for op in ["UniformCandidateSampler", "LogUniformCandidateSampler", learned] {
        let check = |more: &[(&'static str, &'static str)], classes, words| {
            let given: Vec<(&str, &str)> = with(more);
            refused(op, &given, &[classes], words);
        };
        check(&[("range_max", "0")], classes, "attribute `range_max` is 0");
        check(&[("num_sampled", "-1")], classes, "attribute `num_sampled` is -1");
        check(&[("num_sampled", "4")], classes, "4 candidates of 3 classes");
        check(&[("num_true", "2")], classes, "expected 2 columns");
        check(&[], "i64[2]:0,1", "expected 1 columns");
        check(&[], "i64[1x1]:3", "3 is not one of 3");
        check(&[], "i64[1x1]:-1", "-1 is not one of 3");
    }
    let many: Vec<(&str, &str)> =
        with(&[("num_sampled", "2147483647"), ("unique", "false"), ("range_max", "2147483648")]);
    refused(learned, &many, &[classes], "attribute `range_max`");
    let fixed = |more: &[(&'static str, &'static str)], words| {
        let given: Vec<(&str, &str)> = with(more);
        refused("FixedUnigramCandidateSampler", &given, &[classes], words);
    };
    fixed(&[("unigrams", "1,2")], "0 reserved and 2 other weights of 3 classes");
    fixed(&[("unigrams", "1,2,-1")], "negative");
    fixed(&[("unigrams", "1,2,inf")], "not finite");
    fixed(&[("unigrams", "0,0,0")], "all zero");
    fixed(&[("unigrams", "0,0,1")], "2 candidates of 1 classes");
    fixed(&[("unigrams", "1"), ("num_reserved_ids", "9223372036854775807")], "reserved");
    fixed(&[("unigrams", "1,2,3"), ("num_shards", "0")], "attribute `num_shards` is 0");
    fixed(&[("vocab_file", "words")], "in a file");
    // As TensorFlow draws them.
    let drawn: Vec<(&str, &str)> = with(&[
        ("num_sampled", "9"),
        ("unique", "false"),
        ("range_max", "11"),
        ("seed", "3"),
        ("seed2", "9"),
    ]);
    let results = run("UniformCandidateSampler", &drawn, &[classes]).unwrap();
    assert_eq!(results[0].to_vec::<i64>().unwrap(), [10, 8, 8, 4, 6, 10, 6, 10, 7]);
    let hits = [("num_true", "1")];
    refused("ComputeAccidentalHits", &hits, &["i64[2]:1,0", "i64[1]:1"], "true classes of shape [2]");
    let found = ["i32[1]:0", "i64[1]:1", "f32[1]:-3.4028235e38"];
    check("ComputeAccidentalHits", &hits, &[classes, "i64[2]:1,1"], &found);
    check(
        "ComputeAccidentalHits",
        &[("num_true", "0")],
        &["i64[2x0]:", "i64[1]:1"],
        &["i32[0]:", "i64[0]:", "f32[0]:"],
    );
}

#[test]
fn sparse_tensors() {
    let (indices, values, shape) = ("i64[2x2]:0,1,1,0", "f32[2]:5,-6", "i64[2]:2,3");
    let split = |axis, indices, values, shape, n, words| {
        refused("SparseSplit", &[("num_split", n)], &[axis, indices, values, shape], words);
    };
    split("i64[1]:0", indices, values, shape, "1", "split_dim");
    split("i64:2", indices, values, shape, "1", "the axis is not one of 2");
    split("i64:-9223372036854775808", indices, values, shape, "1", "the axis is not one of 2");
    split("i64:1", indices, values, shape, "4", "4 parts of a size of 3");
    split("i64:1", indices, values, shape, "0", "0 parts of a size of 3");
    split("i64:0", "i64[2x2]:0,1,2,0", values, shape, "1", "indices[1] = [2, 0] is not in");
    split("i64:0", "i64[2x2]:0,1,-1,0", values, shape, "1", "is not in");
    split("i64:0", indices, "f32[1]:5", shape, "1", "for 2 indices");
    let wide = ["i64:1", "i64[1x2]:0,9223372036854775806", "f32[1]:5", "i64[2]:1,9223372036854775807"];
    let parts = run("SparseSplit", &[("num_split", "2")], &wide).unwrap();
    assert_eq!(parts[1].to_vec::<i64>().unwrap(), [0, 4_611_686_018_427_387_902]);
    refused("SparseSoftmax", &[], &["i64[1x1]:0", "f32[1]:5", "i64[1]:3"], "rank 1, expected 2");
    refused("SparseSoftmax", &[], &[indices, "i32[2]:5,6", shape], "i32");
    let extreme = |a: [&str; 3], b: [&str; 3], words| {
        refused("SparseSparseMaximum", &[], &[a[0], a[1], a[2], b[0], b[1], b[2]], words);
    };
    let given = [indices, values, shape];
    extreme(given, [indices, values, "i64[2]:2,4"], "expected two that are equal");
    extreme(given, ["i64[2x2]:0,1,5,0", values, shape], "is not in");
    extreme(["i64[0x0]:", "f32[0]:", "i64[0]:"], ["i64[0x0]:", "f32[0]:", "i64[0]:"], "not empty");
    let count = |indices, values, shape, size, weights, words| {
        refused("SparseBincount", &[], &[indices, values, shape, size, weights], words);
    };
    count("i64[1x1]:0", "i32[1]:-1", "i64[1]:3", "i32:4", "f32[0]:", "-1 is negative");
    count(indices, "i32[2]:1,2", shape, "i32:-4", "f32[0]:", "`size` is -4");
    count(indices, "i32[2]:1,2", shape, "i32:4", "f32[1]:1", "1 weights of 2 numbers");
    count(indices, "i32[2]:1,2", "i64[2]:1,3", "i32:4", "f32[0]:", "is not in");
    count("i64[0x0]:", "i32[0]:", "i64[0]:", "i32:4", "f32[0]:", "a scalar");
    count("i64[0x2]:", "i32[0]:", "i64[2]:1152921504606846976,3", "i32:9", "f32[0]:", "");
}

#[test]
fn fractional_poolings() {
    let (given, images) =
        ([("pooling_ratio", "1,2,1,1"), ("deterministic", "true"), ("seed", "1")], "i32[1x4x1x1]:5,3,-2,7");
    let ends = ["i64[3]:0,2,4", "i64[2]:0,1"];
    let pool = |op, ratio, words| {
        refused(op, &[("pooling_ratio", ratio), ("deterministic", "true")], &[images], words);
    };
    for op in ["FractionalMaxPool", "FractionalAvgPool"] {
        for ratio in ["1,0.5,1,1", "1,nan,1,1", "2,1,1,1", "1,1,1,2", "1,1,1"] {
            pool(op, ratio, "attribute `pooling_ratio` is");
        }
        pool(op, "1,5,1,1", "ratios [5.0, 1.0] of images");
        refused(op, &[("pooling_ratio", "1,1,1,1"), ("seed", "1")], &[images], "seeds without");
        refused(op, &given, &["i32[4]:1,2,3,4"], "rank 1, expected 4");
        refused(op, &given, &["i32[0x4x1x1]:"], "ratios");
        refused(op, &given, &["f16[1x4x1x1]:0,0,0,0"], "f16");
    }
    check("FractionalMaxPool", &given, &[images], &["i32[1x2x1x1]:5,7", ends[0], ends[1]]);
    check("FractionalAvgPool", &given, &[images], &["i32[1x2x1x1]:4,2", ends[0], ends[1]]);
    let (y, dy) = ("i32[1x2x1x1]:5,7", "i32[1x2x1x1]:1,2");
    let max = |y, dy, rows, words| {
        refused("FractionalMaxPoolGrad", &[], &[images, y, dy, rows, ends[1]], words);
    };
    check("FractionalMaxPoolGrad", &[], &[images, y, dy, ends[0], ends[1]], &["i32[1x4x1x1]:1,0,0,2"]);
    max(y, dy, "i64[2]:0,2", "windows from 2 numbers");
    max(y, dy, "i64[3]:-1,2,4", "starts >= 0");
    max(y, dy, "i64[3]:0,0,9223372036854775807", "is not the pooling");
    max("i32[1x2x1x1]:5,8", dy, ends[0], "is not the pooling");
    max(y, "i32[1x1x1x1]:1", ends[0], "out_backprop");
    let mean = |shape, dy, rows, words| {
        refused("FractionalAvgPoolGrad", &[], &[shape, dy, rows, ends[1]], words);
    };
    let shape = "i64[4]:1,4,1,1";
    let far = [shape, dy, "i64[3]:0,9,9223372036854775807", ends[1]];
    check("FractionalAvgPoolGrad", &[("overlapping", "true")], &far, &["i32[1x4x1x1]:0,0,0,0"]);
    mean("i64[3]:1,4,1", dy, ends[0], "for images of shape");
    mean("i64[4]:2,4,1,1", dy, ends[0], "for images of shape");
    mean(shape, dy, "i64[3]:0,-2,4", "starts >= 0");
    refused(
        "ExtractVolumePatches",
        &[("ksizes", "1,1,1,1,1"), ("strides", "1,0,1,1,1"), ("padding", "SAME")],
        &["f32[1x1x1x1x1]:1"],
        "stride",
    );
    refused(
        "ExtractVolumePatches",
        &[("ksizes", "2,1,1,1,1"), ("strides", "1,1,1,1,1"), ("padding", "SAME")],
        &["f32[1x1x1x1x1]:1"],
        "`ksizes`",
    );
}

#[test]
fn matrices() {
    for op in ["Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "SelfAdjointEigV2"] {
        refused(op, &[], &["f32[2]:1,2"], "rank >= 2");
        refused(op, &[], &["f32[1x2]:1,2"], "must be square");
        refused(op, &[], &["i32[1x1]:1"], "i32");
    }
    refused("Cholesky", &[], &["f32[2x2]:1,0,0,-1"], "not successful");
    check("Cholesky", &[], &["f32[1x1]:nan"], &["f32[1x1]:nan"]);
    refused("MatrixInverse", &[], &["f32[2x2]:1,2,2,4"], "not invertible");
    refused("MatrixSolve", &[], &["f32[1x1]:0", "f32[1x1]:1"], "not invertible");
    refused("MatrixSolve", &[], &["f32[1x1]:1", "f32[2x1]:1,2"], "right sides of shape [2, 1]");
    refused("MatrixTriangularSolve", &[], &["f32[1x1]:0", "f32[1x1]:1"], "not invertible");
    for op in ["MatrixExponential", "MatrixSquareRoot", "SelfAdjointEig", "Eig"] {
        let to = [("Tout", "complex64")];
        refused(op, &to, &["f32[2]:1,2"], "rank >= 2");
        refused(op, &to, &["f32[1x2]:1,2"], "must be square");
        refused(op, &to, &["i32[1x1]:1"], "");
    }
    refused("MatrixLogarithm", &[], &["f32[1x1]:1"], "f32");
    refused("Eig", &[("Tout", "complex128")], &["f32[1x1]:1"], "results of complex128");
    refused("Eig", &[("Tout", "complex64")], &["f32[2x2]:1,nan,2,3"], "not found");
    check("MatrixSquareRoot", &[], &["f32[2x2]:-4,0,0,-4"], &["f32[2x2]:nan,nan,nan,nan"]);
    check("MatrixExponential", &[], &["f32[1x1]:inf"], &["f32[1x1]:nan"]);
    let squares = |regularizer, right, given: &[(&str, &str)], words| {
        refused("MatrixSolveLs", given, &["f32[2x1]:0,0", right, regularizer], words);
    };
    squares("f64:0", "f32[2x1]:1,2", &[], "rank deficient");
    squares("f64:-1", "f32[2x1]:1,2", &[], "`l2_regularizer` is -1");
    squares("f64:nan", "f32[2x1]:1,2", &[], "`l2_regularizer` is NaN");
    squares("f64[1]:1", "f32[2x1]:1,2", &[], "has shape [1]");
    squares("f64:1", "f32[1x1]:1", &[("fast", "false")], "right sides of shape [1, 1]");
    let empty = ["f32[0x2]:", "f32[0x1]:", "f64:0"];
    check("MatrixSolveLs", &[], &empty, &["f32[2x1]:0,0"]);
    let zero = ["f32[2x2]:0,0,0,0", "f32[2x1]:1,2", "f64:0"];
    check("MatrixSolveLs", &[("fast", "false")], &zero, &["f32[2x1]:0,0"]);
    let tridiagonal = ["f32[2x1]:1,2", "f32[1x1]:1"];
    refused("TridiagonalSolve", &[], &tridiagonal, "for diagonals of shape [2, 1]");
    refused("TridiagonalSolve", &[], &["f32[1x3x1]:0,1,0", "f32[1x1]:1"], "right sides of shape [1, 1]");
    let perturbed = [("perturb_singular", "true"), ("partial_pivoting", "false")];
    refused("TridiagonalSolve", &perturbed, &["f32[3x1]:0,1,0", "f32[1x1]:1"], "requires");
    check("TridiagonalSolve", &[], &["f32[3x0]:", "f32[0x1]:"], &["f32[0x1]:"]);
    let product = ["f32[1x2]:1,2", "f32[1x2]:1,2", "f32[1x1]:1", "f32[2x1]:1,1"];
    refused("TridiagonalMatMul", &[], &product, "a diagonal of shape [1, 1]");
    refused("BandedTriangularSolve", &[], &["f32[1x1]:0", "f32[1x1]:1"], "not invertible");
    refused("BandedTriangularSolve", &[], &["f32[0x1]:", "f32[1x1]:1"], "bands of shape [0, 1]");
    refused("BandedTriangularSolve", &[], &["f32[1x2]:1,1", "f32[1x1]:1"], "right sides of shape [1, 1]");
    check("MatrixDeterminant", &[], &["f32[2x2]:1,2,2,4"], &["f32:0"]);
    check("Svd", &[("compute_uv", "false")], &["f32[1x2]:3,4"], &["f32[1]:5", "f32[0]:", "f32[0]:"]);
    let svd = run("Svd", &[("full_matrices", "true")], &["f32[1x2]:inf,nan"]).unwrap();
    assert!(svd.iter().all(|x| x.read::<f32>().unwrap().iter().all(|x| x.is_nan())));
    check("Qr", &[], &["f32[0x3]:"], &["f32[0x0]:", "f32[0x3]:"]);
    refused("Cross", &[], &["f32[2]:1,2", "f32[2]:1,2"], "vectors of three numbers");
    check("Cross", &[], &["i32[3]:1,0,0", "i32[3]:0,1,0"], &["i32[3]:0,0,1"]);
}

#[test]
fn transforms() {
    let complex = [("Tcomplex", "complex64")];
    refused("FFT2D", &complex, &["complex64[1]:1"], "rank of at least 2");
    refused("FFT", &complex, &["f32[1]:1"], "f32");
    refused("RFFT", &complex, &["f32[2]:1,2", "i32[1]:3"], "must have a length of at least 3");
    refused("RFFT", &complex, &["f32[2]:1,2", "i32[1]:-3"], "expected 1 numbers");
    refused("RFFT2D", &complex, &["f32[1x2]:1,2", "i32[1]:2"], "expected 2 numbers");
    refused("IRFFT", &complex, &["complex64[2]:1,1", "i32[1]:4"], "at least 3");
    check("RFFT", &complex, &["f32[2]:1,2", "i32[1]:0"], &["complex64[0]:"]);
    check("RFFT", &complex, &["f32[4]:1,2,3,4", "i32[1]:2"], &["complex64[2]:3,-1"]);
}

#[test]
fn quantized_ranges_and_sparse_operands() {
    let args =
        |given: &[(&str, &str)], words| refused("FakeQuantWithMinMaxArgs", given, &["f32[1]:1"], words);
    args(&[("num_bits", "1")], "between 2 and 16");
    args(&[("num_bits", "17")], "between 2 and 16");
    args(&[("min", "2"), ("max", "1")], "min has to be smaller than max");
    let channels = ["f32[2]:1,2", "f32[1]:1", "f32[1]:2"];
    refused("FakeQuantWithMinMaxVarsPerChannel", &[], &channels, "min");
    let dense = |indices, shape, values, words| {
        refused("SparseToDense", &[], &[indices, shape, values, "f32:0"], words);
    };
    dense("i32[2]:1,0", "i32[1]:3", "f32[2]:1,2", "is out of order");
    dense("i32[2]:1,1", "i32[1]:3", "f32[2]:1,2", "is repeated");
    dense("i32[1]:3", "i32[1]:3", "f32[1]:1", "is out of bounds");
    dense("i32[1]:-1", "i32[1]:3", "f32[1]:1", "is out of bounds");
    dense("i32[1]:1", "i32[2]:3,3", "f32[1]:1", "for a tensor of shape");
    dense("i32[2]:0,1", "i32[1]:3", "f32[3]:1,2,3", "for 2 indices");
    let product = |indices, shape, words| {
        let inputs = [indices, "f32[1]:1", shape, "f32[1x1]:1"];
        refused("SparseTensorDenseMatMul", &[], &inputs, words);
    };
    product("i64[1x2]:0,1", "i64[2]:1,1", "is out of bounds");
    product("i64[1x2]:0,0", "i64[2]:1,2", "2 columns for 1 rows");
    let gather = |splits, indices, words| {
        let ranks = [("PARAMS_RAGGED_RANK", "1"), ("OUTPUT_RAGGED_RANK", "1")];
        refused("RaggedGather", &ranks, &[splits, "f32[2]:1,2", indices], words);
    };
    gather("i64[3]:0,1,2", "i64[1]:2", "indices[0] = 2 is not in [0, 2)");
    gather("i64[3]:0,1,3", "i64[1]:0", "end behind the 2 rows");
    gather("i64[3]:0,2,1", "i64[1]:0", "must ascend from 0");
    gather("i64[0]:", "i64[1]:0", "must ascend from 0");
}
