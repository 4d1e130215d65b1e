//! Benches of products, convolutions and functions, on one thread. The best of many runs counts. Results are
//! GFLOP/s and the fraction of the measured peak (multiply-adds in registers), or GB/s. Command:
//! `cargo bench -p befrost-tensor --bench packed -- WORD` for the sections whose names contain the word; for
//! all sections without a word.

use std::hint::black_box;
use std::time::{Duration, Instant};

use befrost_tensor::conv::{Conv2d, Patch, Window};
use befrost_tensor::matmul::{self, Epilogue, PackedMatrix, matmul_packed};
use befrost_tensor::mem::{Allocator, Malloc, Pooled};
use befrost_tensor::narrow::Precision;
use befrost_tensor::parallel::Serial;
use befrost_tensor::simd::{Arithmetic, Function, Isa, Over};
use befrost_tensor::tf::fast::{self, Cx};
use befrost_tensor::tf::fused::{self, After, Algorithm, Packing, Program, Step, Value, Weights};
use befrost_tensor::tf::{self, Binary};
use befrost_tensor::{DType, HostTensor, Shape, TensorError, math};

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 2_654_435_761) % 1000) as f32 / 500.0 - 1.0).collect()
}

/// The time of the fastest run, in seconds. Runs are repeated for half a second.
fn best(mut run: impl FnMut()) -> f64 {
    let quick = std::env::args().any(|arg| arg == "--test");
    let limit = Duration::from_millis(if quick { 0 } else { 500 });
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while best.is_infinite() || start.elapsed() < limit {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn packed(m: usize, k: usize, n: usize) -> Result<f64, TensorError> {
    let (a, b, mut out) = (numbers(m * k), PackedMatrix::pack(k, n, &numbers(k * n))?, vec![0.0; m * n]);
    let mut result = Ok(());
    let time = best(|| {
        let done = matmul_packed(m, black_box(&a), &b, &Epilogue::default(), &mut out, &Serial);
        if done.is_err() {
            result = done;
        }
    });
    result.map(|()| time)
}

/// The time of a 784-512-512-10 perceptron with bias and relu, for `m` rows, in seconds.
fn mlp(m: usize) -> Result<f64, TensorError> {
    let layers = [(784, 512), (512, 512), (512, 10)];
    let weights = layers
        .iter()
        .map(|&(k, n)| PackedMatrix::pack(k, n, &numbers(k * n)))
        .collect::<Result<Vec<_>, _>>()?;
    let bias = vec![0.5; 512];
    let (x, mut h1, mut h2, mut y) =
        (numbers(m * 784), vec![0.0; m * 512], vec![0.0; m * 512], vec![0.0; m * 10]);
    let mut pass = || {
        let hidden = Epilogue { bias: Some(&bias), function: Function::Relu, ..Epilogue::default() };
        let last = Epilogue { bias: Some(&bias[..10]), ..Epilogue::default() };
        matmul_packed(m, black_box(&x), &weights[0], &hidden, &mut h1, &Serial)?;
        matmul_packed(m, &h1, &weights[1], &hidden, &mut h2, &Serial)?;
        matmul_packed(m, &h2, &weights[2], &last, black_box(&mut y), &Serial)
    };
    pass()?;
    Ok(best(|| drop(pass())))
}

/// A window of the given image side, filter side and stride, padded so that the output side is the image side
/// divided by the stride.
fn side(size: usize, filter: usize, stride: usize) -> Window {
    let pad = filter.saturating_sub(stride);
    Window { input: size, filter, stride, dilation: 1, pad: (pad / 2, pad - pad / 2) }
}

/// A convolution: the floating-point operations of the direct algorithm, and the time in seconds.
fn conv((from, to): (usize, usize), window: Window, patch: Option<Patch>) -> Result<(f64, f64), TensorError> {
    let conv = Conv2d::new(1, from, window, window)?;
    let image = numbers(window.input * window.input * from);
    let pixels = conv.output().0 * conv.output().1;
    let k = window.filter * window.filter * from;
    let (filters, mut out) = (numbers(k * to), vec![0.0; pixels * to]);
    let epilogue = Epilogue::default();
    let time = match patch.and_then(|patch| conv.winograd(patch)) {
        Some(winograd) => {
            let filters = winograd.pack(to, &filters)?;
            best(|| drop(winograd.run(black_box(&image), &filters, &epilogue, &mut out, &Serial)))
        }
        None => {
            let filters = conv.pack(to, &filters)?;
            best(|| drop(conv.run(black_box(&image), &filters, &epilogue, &mut out, &Serial)))
        }
    };
    Ok((2.0 * (pixels * k * to) as f64, time))
}

/// A depthwise convolution or max pooling: the bytes read and written, and the time in seconds.
fn channelwise(channels: usize, window: Window, depthwise: bool) -> Result<(f64, f64), TensorError> {
    let conv = Conv2d::new(1, channels, window, window)?;
    let image = numbers(window.input * window.input * channels);
    let filters = numbers(window.filter * window.filter * channels);
    let mut out = vec![0.0; conv.output().0 * conv.output().1 * channels];
    let bytes = 4.0 * (image.len() + out.len()) as f64;
    let time = best(|| {
        if depthwise {
            drop(conv.depthwise(black_box(&image), &filters, &Epilogue::default(), &mut out, &Serial));
        } else {
            drop(conv.max_pool(black_box(&image), &mut out, &Serial));
        }
    });
    Ok((bytes, time))
}

/// Six elementwise operators over 4 MB: the times as separate operators and as one fused program, in seconds.
fn chain() -> Result<(f64, f64), TensorError> {
    let allocator = Malloc::shared();
    let cx = Cx::serial(&allocator);
    let x = HostTensor::from_slice(Shape::new(&[1024, 1024])?, &numbers(1 << 20), &allocator)?;
    let row = HostTensor::from_slice(Shape::new(&[1024])?, &numbers(1024), &allocator)?;
    let mut steps = vec![Step::Arithmetic(Arithmetic::Mul, Value::Operand(0), Value::Operand(1))];
    for i in 0..5 {
        let before = Value::Step(i);
        steps.push(match i % 2 {
            0 => Step::Arithmetic(Arithmetic::Add, before, Value::Operand(1)),
            _ => Step::Map(Function::Relu, before),
        });
    }
    let program = Program::new(&[DType::F32; 2], steps, &[5])?;
    let one_by_one = || -> Result<HostTensor, TensorError> {
        let mut y = fast::binary(Binary::Mul, x.clone(), row.clone(), &cx)?;
        for i in 0..5 {
            y = match i % 2 {
                0 => fast::binary(Binary::Add, y, row.clone(), &cx)?,
                _ => fast::map(Function::Relu, y, &cx)?,
            };
        }
        Ok(y)
    };
    let apart = best(|| drop(black_box(one_by_one())));
    let fused = best(|| drop(black_box(program.run(vec![x.clone(), row.clone()], &cx))));
    Ok((apart, fused))
}

fn show(Window { input, filter, stride, .. }: Window) -> String {
    format!("{filter}x{filter} of {input}x{input}, stride {stride}")
}

fn print_conv(
    peak: f64,
    channels: (usize, usize),
    window: Window,
    patch: Option<Patch>,
) -> Result<(), TensorError> {
    let (flops, time) = conv(channels, window, patch)?;
    let how = patch.map_or("direct".into(), |patch| format!("Winograd {patch:?}"));
    let (rate, (from, to)) = (1e-9 * flops / time, channels);
    let part = rate / peak;
    println!(
        "conv {}, {from} -> {to}, {how}: {:.1} us, {rate:.0} GFLOP/s, {part:.2} of the peak",
        show(window),
        time * 1e6
    );
    Ok(())
}

fn products(peak: f64) -> Result<(), TensorError> {
    let large = 4096;
    let flops = |m: usize, k: usize, n: usize| 2e-9 * (m * k * n) as f64;
    for (m, k, n) in [
        (large, large, large),
        (256, 256, 256),
        (1024, 1024, 1024),
        (64, 784, 512),
        (64, 512, 512),
        (64, 512, 10),
        (4, 512, 512),
    ]
    .into_iter()
    .chain([(128, 384, 384), (128, 384, 1536), (128, 1536, 384), (197, 768, 768)])
    {
        let rate = flops(m, k, n) / packed(m, k, n)?;
        let (a, b, mut out) = (numbers(m * k), numbers(k * n), vec![0.0; m * n]);
        let unpacked = flops(m, k, n)
            / best(|| {
                let (a, b) = (math::Matrix::new(black_box(&a), m, k), math::Matrix::new(&b, k, n));
                drop(matmul::matmul(a, b, &Epilogue::default(), &mut out, &Serial));
            });
        let other = flops(m, k, n) / best(|| math::matmul((m, k, n), black_box(&a), &b, &mut out));
        println!(
            "{m} x {k} x {n}: {rate:.0} GFLOP/s, {:.2} of the peak; packed on the way {unpacked:.0}, gemm crate {other:.0}",
            rate / peak
        );
    }
    Ok(())
}

fn row(_peak: f64) -> Result<(), TensorError> {
    for (k, n) in [(512, 512), (784, 512), (4096, 4096), (25088, 4096)] {
        let time = packed(1, k, n)?;
        let (a, b, mut out) = (numbers(k), numbers(k * n), vec![0.0; n]);
        let unpacked = best(|| math::matmul((1, k, n), black_box(&a), &b, &mut out));
        let rate = |time| 4e-9 * (k * n) as f64 / time;
        println!(
            "1 x {k} x {n}: {:.1} us, {:.0} GB/s; gemm crate {:.0}",
            time * 1e6,
            rate(time),
            rate(unpacked)
        );
    }
    Ok(())
}

fn convs(peak: f64) -> Result<(), TensorError> {
    let three = |channels, size| ((channels, channels), side(size, 3, 1));
    for (channels, window) in [three(64, 56), three(128, 28), three(256, 14), three(512, 7)] {
        for patch in [None, Some(Patch::Two), Some(Patch::Four)] {
            print_conv(peak, channels, window, patch)?;
        }
    }
    // Layers of LeNet, VGG and ResNet.
    for (channels, window) in [
        ((1, 6), side(28, 5, 1)),
        ((6, 16), Window { pad: (0, 0), ..side(14, 5, 1) }),
        ((3, 64), side(224, 3, 1)),
        ((3, 64), side(224, 7, 2)),
        ((64, 256), side(56, 1, 1)),
        ((256, 64), side(56, 1, 1)),
        ((256, 512), side(56, 1, 2)),
        ((128, 128), side(56, 3, 2)),
    ] {
        print_conv(peak, channels, window, None)?;
    }
    Ok(())
}

fn channels(_peak: f64) -> Result<(), TensorError> {
    for (channels, window) in [(32, side(112, 3, 1)), (64, side(112, 3, 2)), (512, side(14, 3, 1))] {
        let (bytes, time) = channelwise(channels, window, true)?;
        let flops = 2.0 * (window.output()?.pow(2) * 9 * channels) as f64;
        println!(
            "depthwise {window}, {channels} channels: {:.1} us, {:.1} GB/s, {:.0} GFLOP/s",
            time * 1e6,
            1e-9 * bytes / time,
            1e-9 * flops / time,
            window = show(window)
        );
    }
    for (channels, window) in [(6, side(28, 2, 2)), (64, side(224, 2, 2)), (64, side(112, 3, 2))] {
        let (bytes, time) = channelwise(channels, window, false)?;
        let (us, rate) = (time * 1e6, 1e-9 * bytes / time);
        println!("max pool {}, {channels} channels: {us:.1} us, {rate:.1} GB/s", show(window));
    }
    Ok(())
}

/// The gradients and batch norms of training, on batches of 8 images: GFLOP/s for convolutions, GB/s of the
/// minimal memory traffic for others.
fn gradients(_peak: f64) -> Result<(), TensorError> {
    let allocator = Malloc::shared();
    let cx = &Cx::serial(&allocator);
    let tensor = |dims: &[usize]| {
        HostTensor::from_slice(Shape::new(dims)?, &numbers(dims.iter().product()), &allocator)
    };
    let same = tf::Conv2dAttrs { padding: tf::Padding::Same, ..tf::Conv2dAttrs::default() };
    for (side, channels, depthwise) in [(56, 64, false), (14, 256, false), (56, 64, true), (14, 512, true)] {
        let x = tensor(&[8, side, side, channels])?;
        let filter = tensor(&[3, 3, channels, if depthwise { 1 } else { channels }])?;
        let flops = 2.0 * (x.num_elements() * 9 * if depthwise { 1 } else { channels }) as f64;
        let (by_input, by_filter) = if depthwise {
            (
                best(|| drop(fast::depthwise_conv2d_backprop_input(x.shape(), &filter, &x, &same, cx))),
                best(|| drop(fast::depthwise_conv2d_backprop_filter(&x, filter.shape(), &x, &same, cx))),
            )
        } else {
            (
                best(|| drop(fast::conv2d_backprop_input(x.shape(), &filter, &x, &same, cx))),
                best(|| drop(fast::conv2d_backprop_filter(&x, filter.shape(), &x, &same, cx))),
            )
        };
        println!(
            "3x3 {}{channels} at {side}x{side}: by input {:.1} GFLOP/s, by filter {:.1}",
            if depthwise { "depthwise " } else { "" },
            1e-9 * flops / by_input,
            1e-9 * flops / by_filter
        );
    }
    let (x, pooled) = (tensor(&[8, 56, 56, 64])?, tensor(&[8, 28, 28, 64])?);
    let window = tf::Pool2dAttrs {
        window: (3, 3),
        strides: (2, 2),
        padding: tf::Padding::Same,
        format: tf::ImageFormat::Nhwc,
    };
    let bytes = 4.0 * (2 * x.num_elements() + pooled.num_elements()) as f64;
    let max = best(|| drop(fast::max_pool_grad(&x, &pooled, &window, cx)));
    let avg = best(|| drop(fast::avg_pool_grad(x.shape(), &pooled, &window, cx)));
    println!(
        "3x3 stride 2 pools, 64 at 56x56: max {:.1} GB/s, avg {:.1}",
        1e-9 * bytes / max,
        1e-9 * bytes / avg
    );
    let (row, norm) = (tensor(&[64])?, tf::BatchNormAttrs::default());
    let bytes = 4.0 * x.num_elements() as f64;
    let forward = best(|| drop(fast::batch_norm_training(x.clone(), (&row, &row), (&row, &row), &norm, cx)));
    let backward = best(|| {
        drop(fast::batch_norm_grad(x.clone(), x.clone(), &row, (&row, &row), true, &norm, cx));
    });
    println!(
        "batch norm in training, 64 at 56x56: {:.1} GB/s, gradients {:.1}",
        2e-9 * bytes / forward,
        3e-9 * bytes / backward
    );
    Ok(())
}

/// The times of products and convolutions of models with weights in f32, bf16 and int8. For int8, the ranges
/// of the left operands are either found at run time or known ahead. The entries of the lists of products are
/// rows, contracted length, columns and the number of such products.
fn lower_precision(_peak: f64) -> Result<(), TensorError> {
    let bert = [(128, 384, 384, 24), (128, 384, 1536, 6), (128, 1536, 384, 6)];
    let large = [(1024, 1024, 1024, 1), (1, 4096, 4096, 1)];
    for (name, products) in [("BERT-like, 6 layers of 384", &bert[..]), ("large, and a row", &large[..])] {
        let mut all = [0.0; 4];
        for &(m, k, n, count) in products {
            let b = tensor(&[k, n])?;
            let a = tensor(&[m, k])?;
            let times = precisions(Packing::matrix(b.shape(), false)?, &b, |weights, after, cx| {
                fused::matmul(&a, weights, after, cx)
            })?;
            println!("{m} x {k} x {n}: {}", ratios(times));
            all.iter_mut().zip(times).for_each(|(all, time)| *all += time * f64::from(count));
        }
        println!("{name}: {}", ratios(all));
    }
    // ResNet50 without residuals: channels, output channels, image side, filter side, stride, number of
    // layers.
    let layers = [
        (3, 64, 224, 7, 2, 1),
        (64, 64, 56, 1, 1, 1),
        (64, 64, 56, 3, 1, 3),
        (64, 256, 56, 1, 1, 4),
        (256, 64, 56, 1, 1, 2),
        (256, 128, 56, 1, 1, 1),
        (128, 128, 56, 3, 2, 1),
        (256, 512, 56, 1, 2, 1),
        (128, 512, 28, 1, 1, 4),
        (512, 128, 28, 1, 1, 3),
        (128, 128, 28, 3, 1, 3),
        (512, 256, 28, 1, 1, 1),
        (256, 256, 28, 3, 2, 1),
        (512, 1024, 28, 1, 2, 1),
        (256, 1024, 14, 1, 1, 6),
        (1024, 256, 14, 1, 1, 5),
        (256, 256, 14, 3, 1, 5),
        (1024, 512, 14, 1, 1, 1),
        (512, 512, 14, 3, 2, 1),
        (1024, 2048, 14, 1, 2, 1),
        (512, 2048, 7, 1, 1, 3),
        (2048, 512, 7, 1, 1, 2),
        (512, 512, 7, 3, 1, 2),
    ];
    let mut all = [0.0; 4];
    for (from, to, size, filter, stride, count) in layers {
        let (x, w) = (tensor(&[1, size, size, from])?, tensor(&[filter, filter, from, to])?);
        let attrs = tf::Conv2dAttrs {
            strides: (stride, stride),
            padding: tf::Padding::Same,
            ..tf::Conv2dAttrs::default()
        };
        let plane = (size.div_ceil(stride), size.div_ceil(stride));
        let algorithm = Algorithm::fastest([filter, filter, from, to], attrs.strides, (1, 1), plane);
        let run =
            |weights: &Weights, after: &After<'_>, cx: &Cx<'_>| fused::conv2d(&x, weights, &attrs, after, cx);
        let [f32, ..] = precisions(Packing::filters(w.shape(), algorithm)?, &w, run)?;
        let [_, bf16, found, known] = precisions(Packing::filters(w.shape(), Algorithm::Direct)?, &w, run)?;
        let times = [f32, bf16, found, known];
        println!("conv {}, {from} -> {to}: {}", show(side(size, filter, stride)), ratios(times));
        all.iter_mut().zip(times).for_each(|(all, time)| *all += time * f64::from(count));
    }
    println!("convolutions of ResNet50: {}", ratios(all));
    Ok(())
}

/// A tensor of numbers in [-1, 1).
fn tensor(dims: &[usize]) -> Result<HostTensor, TensorError> {
    HostTensor::from_vec(dims, numbers(dims.iter().product()))
}

fn ratios([f32, bf16, found, known]: [f64; 4]) -> String {
    let ratio = |time| format!("{:.1} us, {:.2} times as fast", time * 1e6, f32 / time);
    format!(
        "f32 {:.1} us; bf16 {}; int8 {}, with known ranges {}",
        f32 * 1e6,
        ratio(bf16),
        ratio(found),
        ratio(known)
    )
}

/// The times of a product with weights in f32, in bf16, in int8, and in int8 with a known range; 0 if there
/// is no such packing.
fn precisions(
    packing: Packing,
    weights: &HostTensor,
    run: impl Fn(&Weights, &After<'_>, &Cx<'_>) -> Result<HostTensor, TensorError>,
) -> Result<[f64; 4], TensorError> {
    let allocator: std::sync::Arc<dyn Allocator> = std::sync::Arc::new(Pooled::new(Malloc::shared()));
    let cx = Cx::serial(&allocator);
    let range = Some((-1.0, 1.0));
    let mut times = [0.0; 4];
    for (time, (precision, range)) in times.iter_mut().zip([
        (None, None),
        (Some(Precision::Bf16), None),
        (Some(Precision::Int8), None),
        (Some(Precision::Int8), range),
    ]) {
        let Ok(packing) = precision.map_or(Ok(packing), |precision| packing.with_precision(precision)) else {
            continue;
        };
        let mut bytes = vec![0u8; packing.n_bytes() + 128];
        let from = bytes.as_ptr().align_offset(128);
        packing.fill(&weights.read_bytes()?, 0, &mut bytes[from..][..packing.n_bytes()]);
        let packed = Weights::from_tensor(HostTensor::from_vec(
            [packing.n_bytes()],
            bytes[from..][..packing.n_bytes()].to_vec(),
        )?)?;
        let after = After { range, ..After::default() };
        run(&packed, &after, &cx)?;
        *time = best(|| drop(black_box(run(&packed, &after, &cx))));
    }
    Ok(times)
}

fn elementwise(_peak: f64) -> Result<(), TensorError> {
    for n in [128, 1024] {
        let mut x = numbers(16 * 1024);
        let time = best(|| math::softmax_in_place(n, black_box(&mut x)));
        println!("softmax of {n} columns: {:.2} Gelem/s", 16.384e-6 / time);
    }
    // 4 MB, larger than the L2 cache: bytes read and written.
    let (mut x, row, mut transposed) = (numbers(1 << 20), numbers(1024), vec![0.0; 1 << 20]);
    let moved = 8e-9 * x.len() as f64;
    let add = best(|| Isa::detect().arithmetic(Arithmetic::Add, Over::Left, black_box(&mut x), &row));
    let relu = best(|| Isa::detect().map(Function::Relu, black_box(&mut x)));
    let transpose = best(|| math::transpose((1024, 1024), black_box(&x), &mut transposed));
    println!(
        "add a row {:.1} GB/s, relu {:.1}, transpose {:.1}",
        moved / add,
        moved / relu,
        moved / transpose
    );
    let (add_one, chain) = chain()?;
    println!(
        "chain of 6 elementwise steps over 4 MB {:.1} GB/s; one by one {:.1}",
        moved / chain,
        moved / add_one
    );
    Ok(())
}

fn mlps(_peak: f64) -> Result<(), TensorError> {
    for m in [1, 64] {
        println!("MLP 784-512-512-10, batch {m}: {:.1} us", mlp(m)? * 1e6);
    }
    Ok(())
}

fn functions(_peak: f64) -> Result<(), TensorError> {
    for function in [
        Function::Exp,
        Function::Log,
        Function::Erf,
        Function::Tanh,
        Function::Sigmoid,
        Function::GeluTanh,
        Function::Gelu,
    ] {
        for isa in Isa::all() {
            let mut x = numbers(4096);
            let time = best(|| isa.map(function, black_box(&mut x)));
            println!("{function:?} with {}: {:.2} Gelem/s", isa.name(), 4096e-9 / time);
        }
    }
    Ok(())
}

/// A section's name and its function, which takes the peak in GFLOP/s.
type Section = (&'static str, fn(f64) -> Result<(), TensorError>);

fn main() -> Result<(), TensorError> {
    let mut done = 0;
    let time = best(|| done = Isa::detect().multiply_adds(black_box(100_000)));
    let peak = 1e-9 * done as f64 / time;
    println!("best instructions here: {}; peak of multiply-adds {peak:.0} GFLOP/s", Isa::detect().name());
    let word = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let sections: [Section; 9] = [
        ("products", products),
        ("row", row),
        ("conv", convs),
        ("channels", channels),
        ("gradients", gradients),
        ("elementwise", elementwise),
        ("precision", lower_precision),
        ("mlp", mlps),
        ("functions", functions),
    ];
    sections.iter().filter(|(name, _)| name.contains(&word)).try_for_each(|(_, section)| section(peak))
}
