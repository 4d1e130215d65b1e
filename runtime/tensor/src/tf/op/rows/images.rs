//! Resizing of images, and boxes in images.

use super::super::cost;
use super::super::eval;
use super::super::infer::{images, layers};
use super::super::row::{Cost, Gradient, function, random};
use super::operators::operators;

operators! { 11:
    /// For each image, the boxes of each class that do not overlap a selected box of a higher score.
    CombinedNonMaxSuppression
        "boxes:float scores:float max_output_size_per_class:int32 max_total_size:int32 iou_threshold:float \
         score_threshold:float -> nmsed_boxes:float nmsed_scores:float nmsed_classes:float \
         valid_detections:int32; clip_boxes:bool=true pad_per_class:bool=false"
        => function(
            eval::images::combined_non_max_suppression,
            images::combined_non_max_suppression,
            Cost::By(cost::suppression),
        ).no_gradient();
    /// Boxes of images, resampled to a fixed size.
    CropAndResize
        "image:T boxes:float box_ind:int32 crop_size:int32 -> crops:float; T:type \
         extrapolation_value:float=0.0 method:string='bilinear'"
        => function(eval::images::crop_and_resize, images::crop_and_resize, Cost::PerResult(8));
    /// The gradient of `CropAndResize` for the boxes.
    CropAndResizeGradBoxes
        "grads:float image:T boxes:float box_ind:int32 -> output:float; T:type method:string='bilinear'"
        => function(
            eval::images::crop_and_resize_grad_boxes,
            images::crop_and_resize_grad_boxes,
            Cost::PerOperand(16),
        ).differentiated(Gradient::Missing);
    /// The gradient of `CropAndResize` for the images.
    CropAndResizeGradImage
        "grads:float boxes:float box_ind:int32 image_size:int32 -> output:T; T:type \
         method:string='bilinear'"
        => function(
            eval::images::crop_and_resize_grad_image,
            images::crop_and_resize_grad_image,
            Cost::PerOperand(16),
        ).differentiated(Gradient::Missing);
    /// Boxes that do not overlap a selected box of a higher score.
    NonMaxSuppression
        "boxes:float scores:float max_output_size:int32 -> selected_indices:int32; iou_threshold:float=0.5"
        => function(
            eval::images::non_max_suppression,
            images::non_max_suppression,
            Cost::By(cost::suppression),
        ).no_gradient();
    /// Boxes that do not overlap a selected box of a higher score.
    NonMaxSuppressionV2
        "boxes:T scores:T max_output_size:int32 iou_threshold:T_threshold -> selected_indices:int32; \
         T:type=float T_threshold:type=float"
        => function(
            eval::images::non_max_suppression_v2,
            images::non_max_suppression,
            Cost::By(cost::suppression),
        ).no_gradient();
    /// Boxes above a score that do not overlap a selected box of a higher score.
    NonMaxSuppressionV3
        "boxes:T scores:T max_output_size:int32 iou_threshold:T_threshold score_threshold:T_threshold -> \
         selected_indices:int32; T:type=float T_threshold:type=float"
        => function(
            eval::images::non_max_suppression_v2,
            images::non_max_suppression,
            Cost::By(cost::suppression),
        ).no_gradient();
    /// Boxes above a score that do not overlap a selected box of a higher score, and their number.
    NonMaxSuppressionV4
        "boxes:T scores:T max_output_size:int32 iou_threshold:T_threshold score_threshold:T_threshold -> \
         selected_indices:int32 valid_outputs:int32; T:type=float T_threshold:type=float \
         pad_to_max_output_size:bool=false"
        => function(
            eval::images::non_max_suppression_v2,
            images::non_max_suppression,
            Cost::By(cost::suppression),
        ).no_gradient();
    /// Boxes above a score, where overlap with a selected box excludes a box or lowers its score; their
    /// scores and number.
    NonMaxSuppressionV5
        "boxes:T scores:T max_output_size:int32 iou_threshold:T score_threshold:T soft_nms_sigma:T -> \
         selected_indices:int32 selected_scores:T valid_outputs:int32; T:type=float \
         pad_to_max_output_size:bool=false"
        => function(
            eval::images::non_max_suppression_v2,
            images::non_max_suppression,
            Cost::By(cost::suppression),
        ).no_gradient();
    /// Boxes above a score that do not overlap a selected box of a higher score, by a matrix of overlaps.
    NonMaxSuppressionWithOverlaps
        "overlaps:float scores:float max_output_size:int32 overlap_threshold:float score_threshold:float -> \
         selected_indices:int32;"
        => function(
            eval::images::non_max_suppression_with_overlaps,
            images::non_max_suppression,
            Cost::By(cost::suppression),
        ).no_gradient();
    /// Images in another size, interpolated by cubic polynomials.
    ResizeBicubic
        "images:T size:int32 -> resized_images:float; T:type align_corners:bool=false \
         half_pixel_centers:bool=false"
        => function(eval::images::resize, images::resize, Cost::PerResult(40));
    /// The gradient of `ResizeBicubic`.
    ResizeBicubicGrad
        "grads:float original_image:T -> output:T; T:type align_corners:bool=false \
         half_pixel_centers:bool=false"
        => function(eval::images::resize_grad, images::resize_grad, Cost::PerOperand(32));
    /// Images in another size, interpolated between four pixels.
    ResizeBilinear
        "images:T size:int32 -> resized_images:float; T:type align_corners:bool=false \
         half_pixel_centers:bool=false"
        => function(eval::images::resize, images::resize, Cost::PerResult(8));
    /// The gradient of `ResizeBilinear`.
    ResizeBilinearGrad
        "grads:float original_image:T -> output:T; T:type align_corners:bool=false \
         half_pixel_centers:bool=false"
        => function(eval::images::resize_grad, images::resize_grad, Cost::PerOperand(8));
    /// Images in another size, with the pixel of the nearest position.
    ResizeNearestNeighbor
        "images:T size:int32 -> resized_images:T; T:type align_corners:bool=false \
         half_pixel_centers:bool=false"
        => function(eval::images::resize_nearest, images::resize, Cost::Moves);
    /// The gradient of `ResizeNearestNeighbor`.
    ResizeNearestNeighborGrad
        "grads:T size:int32 -> output:T; T:type align_corners:bool=false half_pixel_centers:bool=false"
        => function(eval::images::resize_nearest_grad, images::resize, Cost::PerOperand(1));
    /// Images whose contrast is multiplied by a factor.
    AdjustContrastv2
        "images:T contrast_factor:float -> output:T; T:type=float"
        => function(eval::colors::adjust_contrast, images::adjusted, Cost::PerResult(4));
    /// Images with an angle added to the hue.
    AdjustHue
        "images:T delta:float -> output:T; T:type=float"
        => function(eval::colors::adjust_hue, images::adjusted_colors, Cost::PerResult(16)).differentiated(Gradient::Expands);
    /// Images whose saturation is multiplied by a factor.
    AdjustSaturation
        "images:T scale:float -> output:T; T:type=float"
        => function(eval::colors::adjust_saturation, images::adjusted_colors, Cost::PerResult(16)).differentiated(Gradient::Expands);
    /// The pixels of each window of images, in one pixel of the result.
    ExtractImagePatches
        "images:T -> patches:T; T:type ksizes:list(int) padding:string rates:list(int) strides:list(int)"
        => function(eval::colors::extract_image_patches, layers::extract_image_patches, Cost::Moves);
    /// The colors of hues, saturations and values.
    HSVToRGB
        "images:T -> output:T; T:type=float"
        => function(eval::colors::hsv_to_rgb, images::colors, Cost::PerResult(8)).no_gradient();
    /// The gradient of `MaxPoolGradWithArgmax`.
    MaxPoolGradGradWithArgmax
        "input:T grad:T argmax:Targmax -> output:T; T:type Targmax:type include_batch_in_index:bool=false \
         ksize:list(int) padding:string strides:list(int)"
        => function(
            eval::colors::max_pool_grad_grad_with_argmax,
            layers::max_pool_grad_grad_with_argmax,
            Cost::Moves,
        );
    /// The gradient of `MaxPoolWithArgmax`.
    MaxPoolGradWithArgmax
        "input:T grad:T argmax:Targmax -> output:T; T:type Targmax:type include_batch_in_index:bool=false \
         ksize:list(int) padding:string strides:list(int)"
        => function(
            eval::colors::max_pool_grad_with_argmax,
            layers::max_pool_grad_with_argmax,
            Cost::PerOperand(2),
        );
    /// The largest pixels of windows of images, and their positions.
    MaxPoolWithArgmax
        "input:T -> output:T argmax:Targmax; T:type Targmax:type=int64 include_batch_in_index:bool=false \
         ksize:list(int) padding:string strides:list(int)"
        => function(
            eval::colors::max_pool_with_argmax,
            layers::max_pool_with_argmax,
            Cost::By(cost::pool),
        );
    /// Hue, saturation and value of colors.
    RGBToHSV
        "images:T -> output:T; T:type=float"
        => function(eval::colors::rgb_to_hsv, images::colors, Cost::PerResult(8)).differentiated(Gradient::Expands);
    /// Images in another size, with the mean of the area that a pixel covers.
    ResizeArea
        "images:T size:int32 -> resized_images:float; T:type align_corners:bool=false"
        => function(eval::colors::resize_area, images::resize, Cost::PerResult(16));
    /// Images scaled and moved.
    ScaleAndTranslate
        "images:T size:int32 scale:float translation:float -> resized_images:float; T:type \
         antialias:bool=true kernel_type:string='lanczos3'"
        => function(eval::colors::scale_and_translate, images::resize, Cost::PerResult(32));
    /// The gradient of `ScaleAndTranslate`.
    ScaleAndTranslateGrad
        "grads:T original_image:T scale:float translation:float -> output:T; T:type antialias:bool=true \
         kernel_type:string='lanczos3'"
        => function(eval::colors::scale_and_translate_grad, images::resize_grad, Cost::PerOperand(32));
    /// The gradient of `ResizeArea`; not an operator of TensorFlow.
    _ResizeAreaGrad "grads:float original_image:T -> output:T; T:type align_corners:bool=false"
        => function(eval::colors::resize_area_grad, images::resize_grad, Cost::PerOperand(16));
    /// Images with the outlines of boxes.
    DrawBoundingBoxes "images:T boxes:float -> output:T; T:type=float"
        => function(eval::images::draw_boxes, images::draw_boxes, Cost::Moves).no_gradient().overwrites(&[0]);
    /// Images with the outlines of boxes in given colors.
    DrawBoundingBoxesV2 "images:T boxes:float colors:float -> output:T; T:type=float"
        => function(eval::images::draw_boxes, images::draw_boxes, Cost::Moves).differentiated(Gradient::Missing).overwrites(&[0]);
    /// A window of each image, with noise outside of it. Offsets are those of the window's center.
    ExtractGlimpse
        "input:float size:int32 offsets:float -> glimpse:float; centered:bool=true noise:string='uniform' \
         normalized:bool=true uniform_noise:bool=true"
        => random(eval::images::glimpse, images::glimpse, Cost::PerResult(16));
    /// A window of each image, with noise outside of it.
    ExtractGlimpseV2
        "input:float size:int32 offsets:float -> glimpse:float; centered:bool=true noise:string='uniform' \
         normalized:bool=true uniform_noise:bool=true"
        => random(eval::images::glimpse, images::glimpse, Cost::PerResult(16)).differentiated(Gradient::Missing);
    /// Images seen through projective transformations.
    ImageProjectiveTransformV2
        "images:dtype transforms:float output_shape:int32 -> transformed_images:dtype; dtype:type \
         fill_mode:string='CONSTANT' interpolation:string"
        => function(
            eval::images::projective_transform,
            images::projective_transform,
            Cost::PerResult(32),
        );
    /// Images seen through projective transformations, with a value for what is outside of them.
    ImageProjectiveTransformV3
        "images:dtype transforms:float output_shape:int32 fill_value:float -> transformed_images:dtype; \
         dtype:type fill_mode:string='CONSTANT' interpolation:string"
        => function(
            eval::images::projective_transform,
            images::projective_transform,
            Cost::PerResult(32),
        );
    /// The mean of each window of an image, with windows of two sizes in random order.
    FractionalAvgPool
        "value:T -> output:T row_pooling_sequence:int64 col_pooling_sequence:int64; T:type \
         deterministic:bool=false overlapping:bool=false pooling_ratio:list(float) pseudo_random:bool=false \
         seed:int=0 seed2:int=0"
        => random(eval::images::fractional_pool, images::fractional_pool, Cost::PerOperand(1))
            .differentiated(Gradient::Rule);
    /// The gradient of `FractionalAvgPool`.
    FractionalAvgPoolGrad
        "orig_input_tensor_shape:int64 out_backprop:T row_pooling_sequence:int64 col_pooling_sequence:int64 -> \
         output:T; T:type overlapping:bool=false"
        => function(
            eval::images::fractional_avg_pool_grad,
            images::fractional_avg_pool_grad,
            Cost::PerResult(2),
        )
        .differentiated(Gradient::Missing);
    /// The maximum of each window of an image, with windows of two sizes in random order.
    FractionalMaxPool
        "value:T -> output:T row_pooling_sequence:int64 col_pooling_sequence:int64; T:type \
         deterministic:bool=false overlapping:bool=false pooling_ratio:list(float) pseudo_random:bool=false \
         seed:int=0 seed2:int=0"
        => random(eval::images::fractional_pool, images::fractional_pool, Cost::PerOperand(1))
            .differentiated(Gradient::Rule);
    /// The gradient of `FractionalMaxPool`.
    FractionalMaxPoolGrad
        "orig_input:T orig_output:T out_backprop:T row_pooling_sequence:int64 col_pooling_sequence:int64 -> \
         output:T; T:type overlapping:bool=false"
        => function(
            eval::images::fractional_max_pool_grad,
            images::fractional_max_pool_grad,
            Cost::PerResult(2),
        )
        .differentiated(Gradient::Missing);
}
