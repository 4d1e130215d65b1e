#![allow(unsafe_code, clippy::all)]
use befrost_tensor::conv::{Conv2d, Patch, Window};
use befrost_tensor::math;
use befrost_tensor::matmul::{Epilogue, PackedMatrix, Serial, matmul_packed};
use befrost_tensor::simd::Isa;
use std::hint::black_box;

#[repr(C)]
struct Ts {
    s: i64,
    n: i64,
}
unsafe extern "C" {
    fn clock_gettime(id: i32, t: *mut Ts) -> i32;
}
fn cpu() -> f64 {
    let mut t = Ts { s: 0, n: 0 };
    unsafe { clock_gettime(3, &mut t) };
    t.s as f64 + 1e-9 * t.n as f64
}
fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 2_654_435_761) % 1000) as f32 / 500.0 - 1.0).collect()
}
fn peak_once() -> f64 {
    let t = cpu();
    let f = Isa::detect().multiply_adds(black_box(20_000));
    f as f64 / (cpu() - t)
}
/// best time, and best peak interleaved
fn best(mut f: impl FnMut()) -> (f64, f64) {
    let (mut b, mut p) = (f64::INFINITY, 0f64);
    let start = cpu();
    let mut n = 0;
    while n < 5 || cpu() - start < 0.4 {
        let t = cpu();
        f();
        b = b.min(cpu() - t);
        if n % 8 == 0 {
            p = p.max(peak_once());
        }
        n += 1;
    }
    (b, p)
}
fn show(name: &str, flops: f64, (t, p): (f64, f64)) {
    println!(
        "{name:40} {:8.1} us  {:6.1} GF/s  peak {:5.1}  frac {:.3}",
        t * 1e6,
        flops / t * 1e-9,
        p * 1e-9,
        flops / t / p
    );
}
fn gemm(m: usize, k: usize, n: usize) {
    let (a, b, mut out) =
        (numbers(m * k), PackedMatrix::pack(k, n, &numbers(k * n)).unwrap(), vec![0.0; m * n]);
    let r = best(|| matmul_packed(m, black_box(&a), &b, &Epilogue::default(), &mut out, &Serial).unwrap());
    show(&format!("packed {m} x {k} x {n}"), 2.0 * (m * k * n) as f64, r);
    if m == 1 {
        println!("      {:.1} GB/s", 4e-9 * (k * n) as f64 / r.0);
    }
}
fn unpacked(m: usize, k: usize, n: usize) {
    let (a, b, mut out) = (numbers(m * k), numbers(k * n), vec![0.0; m * n]);
    let r = best(|| math::matmul((m, k, n), black_box(&a), &b, &mut out));
    show(&format!("gemm crate {m} x {k} x {n}"), 2.0 * (m * k * n) as f64, r);
}
fn conv(c: usize, o: usize, size: usize, f: usize, s: usize, pad: (usize, usize), patch: Option<Patch>) {
    let w = Window { input: size, filter: f, stride: s, dilation: 1, pad };
    let conv = Conv2d::new(1, c, w, w).unwrap();
    let (oh, ow) = conv.output();
    let (x, flt, mut out) = (numbers(size * size * c), numbers(f * f * c * o), vec![0.0; oh * ow * o]);
    let flops = 2.0 * (oh * ow * o * c * f * f) as f64;
    let e = Epilogue::default();
    let r = match patch {
        Some(p) => {
            let win = conv.winograd(p).unwrap();
            let flt = win.pack(o, &flt).unwrap();
            best(|| win.run(black_box(&x), &flt, &e, &mut out, &Serial).unwrap())
        }
        None => {
            let flt = conv.pack(o, &flt).unwrap();
            best(|| conv.run(black_box(&x), &flt, &e, &mut out, &Serial).unwrap())
        }
    };
    show(&format!("conv {f}x{f} s{s} {c}->{o} {size} {patch:?}"), flops, r);
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let all = args.is_empty();
    let has = |s: &str| all || args.iter().any(|a| a == s);
    if args.iter().any(|a| a == "peak2") {
        for threads in [1, 2] {
            std::thread::scope(|s| {
                for _ in 0..threads {
                    s.spawn(move || {
                        let mut p = 0f64;
                        let t = std::time::Instant::now();
                        let mut n = 0;
                        let mut tot = 0.0;
                        while t.elapsed().as_secs_f64() < 0.3 {
                            let x = peak_once();
                            p = p.max(x);
                            tot += x;
                            n += 1;
                        }
                        println!("{threads} threads: best {:.1} mean {:.1}", p * 1e-9, tot * 1e-9 / n as f64);
                    });
                }
            });
        }
    }
    if has("gemm") {
        for (m, k, n) in [
            (256, 256, 256),
            (1024, 1024, 1024),
            (2048, 2048, 2048),
            (64, 784, 512),
            (64, 512, 512),
            (64, 512, 10),
            (128, 384, 384),
            (128, 384, 1536),
            (128, 1536, 384),
            (197, 768, 768),
            (4, 512, 512),
            (1, 512, 512),
            (1, 784, 512),
            (1, 4096, 4096),
        ] {
            gemm(m, k, n);
        }
    }
    if has("small") {
        for (m, k, n) in [
            (14, 128, 32),
            (14, 384, 32),
            (14, 384, 64),
            (14, 384, 512),
            (140, 384, 32),
            (140, 384, 64),
            (140, 384, 512),
            (252, 256, 256),
            (13, 384, 512),
            (12, 384, 512),
            (11, 384, 512),
            (10, 384, 512),
            (8, 384, 512),
            (7, 384, 512),
            (6, 384, 512),
            (4, 384, 512),
            (2, 384, 512),
        ] {
            gemm(m, k, n);
        }
    }
    if has("crate") {
        for (m, k, n) in [(256, 256, 256), (1024, 1024, 1024), (64, 784, 512)] {
            unpacked(m, k, n);
        }
    }
    if has("conv") {
        for p in [None, Some(Patch::Two), Some(Patch::Four)] {
            for (c, s) in [(64, 56), (128, 28), (256, 14), (512, 7)] {
                conv(c, c, s, 3, 1, (1, 1), p);
            }
        }
        conv(3, 64, 224, 3, 1, (1, 1), None);
        conv(64, 64, 224, 3, 1, (1, 1), None);
        conv(64, 64, 224, 3, 1, (1, 1), Some(Patch::Four));
        conv(3, 64, 224, 7, 2, (2, 3), None);
        conv(64, 256, 56, 1, 1, (0, 0), None);
        conv(256, 64, 56, 1, 1, (0, 0), None);
        conv(256, 128, 56, 1, 2, (0, 0), None);
        conv(128, 128, 56, 3, 2, (0, 1), None);
        conv(1, 6, 28, 5, 1, (2, 2), None);
        conv(6, 16, 14, 5, 1, (0, 0), None);
    }
}
