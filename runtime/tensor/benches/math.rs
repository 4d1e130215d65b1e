//! Benches of the fast functions and of some reference versions, on one thread. Command:
//! `cargo bench -p befrost-tensor --bench math`.
//!
//! The matmul shapes are large squares and the layers of small models. A product of m x k and k x n counts as
//! 2mkn operations; divan shows them as items per second.

use befrost_tensor::mem::Malloc;
use befrost_tensor::{DType, HostTensor, Shape, math, ops, reference};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 2_654_435_761) % 1000) as f32 / 500.0 - 1.0).collect()
}

const SHAPES: [(usize, usize, usize); 7] = [
    (256, 256, 256),
    (1024, 1024, 1024),
    (1, 512, 512),
    (64, 784, 512),
    (64, 512, 10),
    (360, 64, 64),
    (360, 32, 10),
];

#[divan::bench(args = SHAPES)]
fn matmul(bencher: Bencher<'_, '_>, (m, k, n): (usize, usize, usize)) {
    let (a, b, mut out) = (numbers(m * k), numbers(k * n), vec![0.0; m * n]);
    bencher
        .counter(ItemsCount::new(2 * m * k * n))
        .bench_local(|| math::matmul((m, k, n), black_box(&a), black_box(&b), black_box(&mut out)));
}

#[divan::bench(args = [(64, 512, 10)])]
fn matmul_reference(bencher: Bencher<'_, '_>, (m, k, n): (usize, usize, usize)) {
    let (a, b, mut out) = (numbers(m * k), numbers(k * n), vec![0.0; m * n]);
    bencher
        .counter(ItemsCount::new(2 * m * k * n))
        .bench_local(|| reference::matmul((m, k, n), black_box(&a), black_box(&b), black_box(&mut out)));
}

/// 16,384 floats: 64 KiB.
const N: usize = 1 << 14;

#[divan::bench]
fn relu_in_place(bencher: Bencher<'_, '_>) {
    let mut x = numbers(N);
    bencher.counter(ItemsCount::new(N)).bench_local(|| math::relu_in_place(black_box(&mut x)));
}

#[divan::bench]
fn bias_add_in_place(bencher: Bencher<'_, '_>) {
    let (mut x, bias) = (numbers(N), vec![0.0; 64]);
    bencher
        .counter(ItemsCount::new(N))
        .bench_local(|| math::bias_add_in_place(black_box(&mut x), black_box(&bias)));
}

#[divan::bench(args = [10, 128, 1024])]
fn softmax(bencher: Bencher<'_, '_>, n: usize) {
    let x = numbers(N / n * n);
    let mut out = vec![0.0; x.len()];
    bencher
        .counter(ItemsCount::new(x.len()))
        .bench_local(|| math::softmax(n, black_box(&x), black_box(&mut out)));
}

#[divan::bench(args = [10, 1024])]
fn softmax_reference(bencher: Bencher<'_, '_>, n: usize) {
    let x = numbers(N / n * n);
    let mut out = vec![0.0; x.len()];
    bencher
        .counter(ItemsCount::new(x.len()))
        .bench_local(|| reference::softmax(n, black_box(&x), black_box(&mut out)));
}

#[divan::bench(args = [10, 1024])]
fn argmax(bencher: Bencher<'_, '_>, n: usize) {
    let x = numbers(N / n * n);
    let mut out = vec![0; x.len() / n];
    bencher
        .counter(ItemsCount::new(x.len()))
        .bench_local(|| math::argmax((x.len() / n, n, 1), black_box(&x), black_box(&mut out)));
}

/// The overhead of a kernel: checks and borrows, with one element of work.
#[divan::bench]
fn relu_of_one_element(bencher: Bencher<'_, '_>) {
    let x = HostTensor::zeros(DType::F32, Shape::scalar(), &Malloc::shared()).unwrap();
    bencher.bench_local(|| ops::relu(black_box(&x), black_box(&x)));
}

#[divan::bench(args = [4, 4096, 1 << 20])]
fn allocate_and_drop(bencher: Bencher<'_, '_>, bytes: usize) {
    let (malloc, shape) = (Malloc::shared(), Shape::new(&[bytes / 4]).unwrap());
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| drop(HostTensor::allocate(DType::F32, black_box(shape.clone()), &malloc)));
}
