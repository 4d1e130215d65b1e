//! TensorFlow's operators on host tensors, for every dtype.
//!
//! Each function has TensorFlow's name and meaning, allocates its result through the given allocator, and
//! refuses bad operands with a [`crate::TensorError`] that contains the shapes. [`mod@reference`] re-exports
//! the reference versions, which are the oracle of [`fast`]. Functions of this module that take a
//! [`fast::Cx`] have one version only. [`fused`] has the compiler's fused operators, [`op`] all operators by
//! name.
//!
//! ```text
//! numeric (kinds of numbers) ─┬─▶ unary, binary, complex (tables)
//!                             ├─▶ reduce, order, segment
//!                             └─▶ product ──▶ einsum
//! real (floats in f64) ──▶ softmax, norm, train         window (images) ──▶ conv, pool
//! walk (offset maps) ──▶ movement, joins, slices, pads
//! shapes, create, diagonal, index (index tensors)       any, list (of tensors), partial (partial shapes)
//! philox (random bits) ──▶ random                       resize, crop, boxes (images), volumes (3D windows)
//! matrices, matrix_functions, bands ──▶ linear, schur     fourier, quantize, sparse, special (functions)
//! onnx (operators that TensorFlow lacks) ──▶ cells (TensorFlow's recurrent cells)
//!                    all of them by name, with attributes ──▶ op
//! ```
//!
//! Common rules. An empty tensor yields an empty result, or the neutral element of a reduction. A negative
//! axis counts from the end. An index out of range is an error that contains the index. Memory comes from the
//! allocator. Other memory is at most proportional to an existing tensor.
//!
//! Signatures: operands in TensorFlow's order, then attributes, then the allocator. Tensors of axes,
//! dimensions or positions in TensorFlow are slices of `i64` here. Several results are an array in
//! TensorFlow's order.
//!
//! Not here: variables, control flow, operators on strings.

mod any;
mod bands;
mod binary;
mod binomial;
mod boxes;
mod candidates;
mod cells;
mod color;
mod complex;
mod conv;
mod counts;
mod create;
mod crop;
mod ctc;
mod diagonal;
mod einsum;
pub mod fast;
mod fourier;
mod fractional;
pub mod fused;
mod glimpse;
mod index;
mod integrals;
mod joins;
mod linear;
mod list;
mod matrices;
mod matrix_functions;
mod movement;
mod norm;
mod numeric;
mod onnx;
pub mod op;
mod order;
mod pads;
mod partial;
mod patches;
mod philox;
mod pool;
mod product;
mod projective;
mod quantize;
mod quantize_and_dequantize;
mod quantized;
mod ragged;
mod random;
mod real;
mod reduce;
mod resample;
mod resize;
mod schur;
mod segment;
mod serial;
mod sets;
mod shapes;
mod slices;
mod small;
mod softmax;
mod sparse;
mod sparse_arrays;
mod sparse_counts;
mod sparse_math;
mod sparse_segment;
mod special;
mod train;
mod unary;
mod variates;
mod volumes;
mod walk;
mod window;

/// The reference operators: the oracle of the fast ones.
pub mod reference {
    pub use super::any::AnyTensor;
    pub use super::binary::{
        Binary, Compare, add_n, binary, clip_by_value, compare, leaky_relu_grad, next_after, select,
        select_slices,
    };
    pub use super::complex::{Part, complex, part};
    pub use super::conv::{
        Conv2dAttrs, conv2d, conv2d_backprop_filter, conv2d_backprop_input, depthwise_conv2d,
        depthwise_conv2d_backprop_filter, depthwise_conv2d_backprop_input,
    };
    pub use super::create::{eye, fill, lin_space, ones_like, range, zeros_like};
    pub use super::diagonal::{
        Band, diag, diag_part, matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag,
    };
    pub use super::einsum::einsum;
    pub use super::index::{
        Scatter, gather, gather_nd, list_diff, one_hot, scatter_nd, scatter_update, tensor_scatter, unique,
        where_true,
    };
    pub use super::joins::{concat, pack, split, split_v, unpack};
    pub use super::list::{TensorList, from_end};
    pub use super::movement::{
        batch_to_space, broadcast_to, depth_to_space, reverse, reverse_sequence, roll, space_to_batch,
        space_to_depth, tile, transpose,
    };
    pub use super::norm::{
        BatchNorm, BatchNormAttrs, LrnAttrs, batch_norm, batch_norm_grad, batch_norm_training, bias_add,
        bias_add_grad, lrn, lrn_grad,
    };
    pub use super::order::{arg_extreme, in_top_k, search_sorted, sort, top_k};
    pub use super::pads::{PadMode, mirror_pad_grad, pad};
    pub use super::partial::PartialShape;
    pub use super::pool::{Pool, Pool2dAttrs, avg_pool_grad, max_pool_grad, max_pool_grad_grad, pool};
    pub use super::product::{Transposition, batch_matmul, matmul};
    pub use super::reduce::{Reduce, Scan, l2_loss, reduce, scan};
    pub use super::resize::resize_bilinear;
    pub use super::segment::{
        Segment, SortedSegment, bincount, dynamic_partition, dynamic_stitch, segment, unsorted_segment,
    };
    pub use super::shapes::{
        broadcast_args, broadcast_gradient_args, expand_dims, invert_permutation, rank_of, reshape, shape_as,
        shape_from, shape_of, size_of, squeeze,
    };
    pub use super::slices::{
        SliceMasks, SliceRange, slice, strided_slice, strided_slice_grad, tensor_strided_slice_update,
    };
    pub use super::softmax::{log_softmax, softmax, softmax_cross_entropy, sparse_softmax_cross_entropy};
    pub use super::train::{UpdatePlan, accumulate};
    pub use super::unary::{
        Test, Unary, bitcast, cast, cast_truncated, element_as_f64, leaky_relu, population_count, test, unary,
    };
    pub use super::window::{ImageFormat, Padding};
}

pub use bands::{Pivoting, banded_triangular_solve, tridiagonal_matmul, tridiagonal_solve};
pub use binomial::binomial;
pub use boxes::{
    Combined, Suppression, combined_non_max_suppression, non_max_suppression,
    non_max_suppression_with_overlaps,
};
pub use candidates::{
    AliasTable, CandidateAttrs, LearnedCounts, Sampler, accidental_hits, sample_candidates,
};
pub use cells::{GateOrder, GruOperands, LstmCell, LstmOperands, gru_cell, gru_cell_gradient};
pub use color::{adjust_contrast, adjust_hue, adjust_saturation, hsv_to_rgb, rgb_to_hsv};
pub use counts::{betainc, edit_distance, histogram, nth_element};
pub use crop::{CropAttrs, crop_and_resize, crop_and_resize_grad_boxes, crop_and_resize_grad_image};
pub use ctc::{CtcLossAttrs, ctc_beam_search, ctc_greedy, ctc_loss};
pub use fourier::{fft, irfft, rfft};
pub use fractional::{
    FractionalAttrs, FractionalPool, fractional_avg_pool_grad, fractional_max_pool_grad, fractional_pool,
};
pub use glimpse::{GlimpseAttrs, GlimpseNoise, draw_boxes, extract_glimpse};
pub(crate) use index::slices_at;
pub use index::{scatter_nd_reduce, unravel_index};
pub use matrices::{
    Solver, cholesky, cholesky_grad, cross, determinant, inverse, log_determinant, lu, qr,
    self_adjoint_eigen, solve, svd,
};
pub use matrix_functions::{
    MatrixFunction, eigen, matrix_function, self_adjoint_eigen_rows, solve_least_squares,
};
pub(in crate::tf) use onnx::n_pairs;
pub use onnx::{
    Activation, Aggregate, AspectRatio, AxisInterpolation, Beyond, Cell, Coordinates, DIRECTIONS, Deformed,
    GridAttrs, Limits, NearestMode, PackedOperands, PoolWindows, Pooling, Recurrence, RecurrentGradients,
    RecurrentOperands, ResizeAxesAttrs, RoiAlignAttrs, Sampling, TreeLists, Trees, WindowSteps,
    batched_non_max_suppression, col_to_image, coupled_probabilities, deform_conv, dequantize_linear,
    gather_elements, grid_sample, grid_sample_grad_grid, grid_sample_grad_image, image_to_col, look_up_bytes,
    max_pool_with_indices, max_roi_pool, max_roi_pool_grad, quantize_linear, quantized_conv,
    quantized_matmul, resize_axes, roi_align, roi_align_grad_image, roi_align_grad_rois, scatter_elements,
    unique_sorted, window_pool,
};
pub use patches::{PatchAttrs, extract_image_patches};
pub use philox::Philox;
pub use pool::{max_pool_grad_grad_with_argmax, max_pool_grad_with_argmax, max_pool_with_argmax};
pub use projective::{FillMode, ProjectiveAttrs, projective_transform};
pub use quantize::{Levels, Ranges, fake_quant, fake_quant_grad};
pub use quantize_and_dequantize::{
    HalfWay, Quantized, quantize_and_dequantize, quantize_and_dequantize_grad,
};
pub use quantized::{
    InstanceNormRange, QuantizeMode, QuantizedOperand, Quantizing, RealRange, UniformLimits, UniformOperands,
    dequantize, quantize, quantize_down, quantized_add, quantized_avg_pool, quantized_batch_norm,
    quantized_bias_add, quantized_concat, quantized_conv2d, quantized_instance_norm,
    quantized_matrix_product, quantized_max_pool, quantized_mul, quantized_relu, quantized_resize_bilinear,
    requantization_range, requantize, uniform_add, uniform_clip, uniform_dequantize, uniform_dot,
    uniform_dot_hybrid, uniform_quantize, uniform_requantize,
};
pub use ragged::{
    RowPartition, bucketize, ragged_bincount, ragged_range, ragged_to_sparse, ragged_to_tensor,
};
pub use random::{Distribution, Generator, multinomial, random, random_shuffle};
pub use reference::*;
pub use resample::{
    AxisTransform, ImageTransform, SamplingKernel, resize_area, resize_area_grad, scale_and_translate,
    scale_and_translate_grad,
};
pub use resize::{Interpolation, ResizeAttrs, resize, resize_grad, resize_nearest, resize_nearest_grad};
pub use sets::{SetOperand, SetOperation, set_operation, set_size};
pub use small::Small;
pub use sparse::{ragged_gather, sparse_dense_matmul, sparse_to_dense};
pub use sparse_arrays::{
    sparse_add_grad, sparse_concat, sparse_fill_empty_rows, sparse_fill_empty_rows_grad, sparse_reorder,
    sparse_reshape, sparse_slice, sparse_slice_grad, sparse_split,
};
pub use sparse_counts::{CountAttrs, CountRows, sparse_counts};
pub use sparse_math::{
    sparse_add, sparse_bincount, sparse_dense_add, sparse_dense_cwise, sparse_extreme, sparse_reduce,
    sparse_softmax,
};
pub use sparse_segment::{SegmentDivisor, sparse_segment, sparse_segment_grad, sparse_segment_grad_rows};
pub use variates::{
    Samples, parameterized_truncated_normal, random_gamma, random_poisson, stateless_truncated_normal,
};
pub use volumes::{
    Volume, VolumeAttrs, avg_pool3d_grad, conv3d, conv3d_backprop_filter, conv3d_backprop_input, dilation2d,
    dilation2d_backprop, extract_volume_patches, max_pool3d_grad, max_pool3d_grad_grad, pool3d,
};
// These replace the reference operators of the same names.
pub use serial::{
    batch_matmul, batch_norm, bias_add, binary, cast, compare, conv2d, conv2d_backprop_filter,
    conv2d_backprop_input, depthwise_conv2d, einsum, leaky_relu, log_softmax, matmul, pool, reduce, select,
    softmax, transpose, unary,
};
