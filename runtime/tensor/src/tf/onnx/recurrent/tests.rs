//! Packed recurrent layers against the plain ones; gradients in f32 against those in f64, which tests of the
//! compiler compare with central differences.

use super::*;
use crate::matmul::tests::numbers;
use crate::mem::{Allocator, Malloc};
use crate::tf::fused::Packing;
use std::sync::Arc;

/// A layer with random operands.
struct LayerCase {
    layer: Recurrence,
    operands: [HostTensor; 8],
}

const STEPS: usize = 5;
const BATCH: usize = 3;
const INPUTS: usize = 6;
const HIDDEN: usize = 7;

fn case(cell: Cell, directions: &[bool], has_peepholes: bool) -> LayerCase {
    let (n, rows) = (directions.len(), cell.gates() * HIDDEN);
    let mut seed = 0;
    let mut tensor = |dims: &[usize]| {
        seed += 1;
        HostTensor::from_vec(dims, numbers(Shape::new(dims).unwrap().num_elements(), seed)).unwrap()
    };
    let operands = [
        tensor(&[STEPS, BATCH, INPUTS]),
        tensor(&[n, rows, INPUTS]),
        tensor(&[n, rows, HIDDEN]),
        tensor(&[n, 2 * rows]),
        HostTensor::from_vec([BATCH], vec![STEPS as i32, 2, 0]).unwrap(),
        tensor(&[n, BATCH, HIDDEN]),
        tensor(&[n, BATCH, HIDDEN]),
        tensor(&[n, 3 * HIDDEN]),
    ];
    let mut case = LayerCase {
        layer: Recurrence {
            cell,
            directions: directions.to_vec(),
            activations: (0..n)
                .flat_map(|_| cell.activations())
                .map(|name| Activation::named("", name, &mut [].into_iter(), &mut [].into_iter()).unwrap())
                .collect(),
            clip: 0.75,
            hidden: HIDDEN,
        },
        operands,
    };
    if !has_peepholes {
        case.operands[7] = HostTensor::from_vec([n, 3 * HIDDEN], vec![0f32; n * 3 * HIDDEN]).unwrap();
    }
    case
}

fn packed(rows: usize, columns: usize, numbers: &[f32]) -> HostTensor {
    let packing = Packing::matrix(&Shape::new(&[rows, columns]).unwrap(), true).unwrap();
    let plain: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut bytes = vec![0f32; packing.n_bytes() / 4];
    packing.fill(&plain, 0, bytemuck::cast_slice_mut(&mut bytes));
    HostTensor::from_vec([packing.n_bytes()], bytemuck::cast_slice::<f32, u8>(&bytes).to_vec()).unwrap()
}

/// The results with packed weights, by a product without packing.
fn run_packed(case: &LayerCase, cx: &Cx<'_>) -> Result<Vec<HostTensor>, TensorError> {
    let [x, w, r, b, lengths, h, c, p] = &case.operands;
    let (n, rows) = (case.layer.directions.len(), case.layer.cell.gates() * HIDDEN);
    let is_gru = matches!(case.layer.cell, Cell::Gru { .. });
    let joint = if is_gru { 2 * HIDDEN } else { rows };
    let (r, b): (Vec<f32>, Vec<f32>) = (r.to_vec()?, b.to_vec()?);
    let (mut bias, mut hidden_bias, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (r, b) in r.chunks_exact(rows * HIDDEN).zip(b.chunks_exact(2 * rows)) {
        bias.extend((0..rows).map(|i| if i < joint { b[i] + b[rows + i] } else { b[i] }));
        hidden_bias.extend_from_slice(&b[rows + joint..]);
        weights.push(packed(joint, HIDDEN, &r[..joint * HIDDEN]));
        if is_gru {
            weights.push(packed(HIDDEN, HIDDEN, &r[joint * HIDDEN..]));
        }
    }
    let (flat, w) =
        (x.reshaped(Shape::new(&[STEPS * BATCH, INPUTS])?)?, w.reshaped(Shape::new(&[n * rows, INPUTS])?)?);
    let from_x = fast::matmul(&flat, Transposition::None, &w, Transposition::Transpose, cx)?;
    let mut from_x: Vec<f32> = from_x.to_vec()?;
    from_x.chunks_exact_mut(n * rows).for_each(|row| row.iter_mut().zip(&bias).for_each(|(x, b)| *x += b));
    let from_x = HostTensor::from_vec([STEPS, BATCH, n * rows], from_x)?;
    let hidden_bias = is_gru.then(|| HostTensor::from_vec([n, HIDDEN], hidden_bias)).transpose()?;
    let c_and_p = matches!(case.layer.cell, Cell::Lstm { .. }).then_some([c, p]);
    let operands = PackedOperands {
        from_x: &from_x,
        r: &weights,
        hidden_bias: hidden_bias.as_ref(),
        lengths,
        h,
        c_and_p,
    };
    case.layer.run_packed(&operands, cx)
}

#[test]
fn packed_layers_compute_the_same() {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let cx = Cx::serial(&allocator);
    let cells = [
        Cell::Lstm { input_forget: false },
        Cell::Lstm { input_forget: true },
        Cell::Gru { linear_before_reset: false },
        Cell::Gru { linear_before_reset: true },
        Cell::Rnn,
    ];
    for cell in cells {
        for (directions, has_peepholes) in [(&[false][..], true), (&[true], false), (&[false, true], true)] {
            let case = case(cell, directions, has_peepholes);
            let [x, w, r, b, lengths, h, c, p] = &case.operands;
            let c_and_p = matches!(cell, Cell::Lstm { .. }).then_some([c, p]);
            let want = case.layer.run(&RecurrentOperands { x, w, r, b, lengths, h, c_and_p }, &cx).unwrap();
            let found = run_packed(&case, &cx).unwrap();
            assert_eq!(found.len(), want.len());
            for (found, want) in found.iter().zip(&want) {
                assert_eq!(found.shape(), want.shape());
                let (found, want): (Vec<f32>, Vec<f32>) = (found.to_vec().unwrap(), want.to_vec().unwrap());
                let differs = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-4;
                assert!(
                    !found.iter().zip(&want).any(differs),
                    "{cell:?} {directions:?}: {found:?}, {want:?}"
                );
            }
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let cx = Cx::serial(&allocator);
    let lstm = || case(Cell::Lstm { input_forget: false }, &[false], true);
    let refused = |case: LayerCase, want: &str| {
        let error = run_packed(&case, &cx).unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    };
    let mut case = lstm();
    case.operands[4] = HostTensor::from_vec([BATCH], vec![STEPS as i32 + 1, 0, 0]).unwrap();
    refused(case, "a sequence of length 6 of 5 steps");
    let mut case = lstm();
    case.operands[6] =
        HostTensor::from_vec([1, BATCH, HIDDEN + 1], vec![0f32; BATCH * (HIDDEN + 1)]).unwrap();
    refused(case, "initial_c");
    let mut case = lstm();
    case.layer.hidden = 8;
    refused(case, "gates of shape");
}

/// The gradients of a layer, whose results have the gradients of their own numbers.
fn gradients(case: &LayerCase, dtype: DType, cx: &Cx<'_>) -> Result<Vec<HostTensor>, TensorError> {
    let cast = |x: &HostTensor| fast::cast(x, if x.dtype() == DType::F32 { dtype } else { x.dtype() }, cx);
    let operands = try_collected(case.operands.iter().map(cast))?;
    let [x, w, r, b, lengths, h, c, p] = &operands[..] else { unreachable!("eight operands") };
    let c_and_p = matches!(case.layer.cell, Cell::Lstm { .. }).then_some([c, p]);
    let operands = RecurrentOperands { x, w, r, b, lengths, h, c_and_p };
    let results = case.layer.run(&operands, cx)?;
    let [y, h] = [&results[0], &results[1]];
    case.layer.gradient(&operands, &RecurrentGradients { y, d_y: y, d_h: h, d_c: results.get(2) }, cx)
}

#[test]
fn gradients_in_f32_are_those_in_f64() {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let cx = Cx::serial(&allocator);
    let cells = [
        Cell::Lstm { input_forget: false },
        Cell::Lstm { input_forget: true },
        Cell::Gru { linear_before_reset: false },
        Cell::Gru { linear_before_reset: true },
        Cell::Rnn,
    ];
    for cell in cells {
        for (directions, has_peepholes) in [(&[false][..], true), (&[true], false), (&[false, true], true)] {
            let case = case(cell, directions, has_peepholes);
            let found = gradients(&case, DType::F32, &cx).unwrap();
            let want = gradients(&case, DType::F64, &cx).unwrap();
            assert_eq!(found.len(), if matches!(cell, Cell::Lstm { .. }) { 7 } else { 5 });
            for (found, want) in found.iter().zip(&want) {
                assert_eq!(found.shape(), want.shape());
                let (found, want): (Vec<f32>, Vec<f64>) = (found.to_vec().unwrap(), want.to_vec().unwrap());
                assert!(want.iter().any(|&x| x != 0.0), "{cell:?} {directions:?}");
                let differs = |(&a, &b): (&f32, &f64)| (f64::from(a) - b).abs() > 1e-4 * (1.0 + b.abs());
                assert!(
                    !found.iter().zip(&want).any(differs),
                    "{cell:?} {directions:?}: {found:?}, {want:?}"
                );
            }
        }
    }
}

#[test]
fn layers_without_steps_hand_gradients_of_states_on() {
    let allocator: Arc<dyn Allocator> = Malloc::shared();
    let cx = Cx::serial(&allocator);
    let mut case = case(Cell::Lstm { input_forget: false }, &[false], true);
    case.operands[0] = HostTensor::from_vec([0, BATCH, INPUTS], Vec::<f32>::new()).unwrap();
    case.operands[4] = HostTensor::from_vec([BATCH], vec![0i32; BATCH]).unwrap();
    let made = gradients(&case, DType::F32, &cx).unwrap();
    let numbers = |x: &HostTensor| x.to_vec::<f32>().unwrap();
    for (found, operand) in [(4, 5), (5, 6)] {
        assert_eq!(numbers(&made[found]), numbers(&case.operands[operand]));
    }
    for found in [0, 1, 2, 3, 6] {
        assert!(numbers(&made[found]).iter().all(|&x| x == 0.0));
    }
}
