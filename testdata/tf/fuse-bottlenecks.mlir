// A depthwise convolution and the 1x1 convolutions around it: what the pass makes of them, and that the
// results are those of the separate operators.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-pack-weights,tf-remap,tf-fuse-bottlenecks)" | FileCheck %s
// RUN: bef-exec %s -O0 --functions sums --input scale=f32:1e-4 > %t.apart && FileCheck %s --check-prefix=SUMS < %t.apart
// RUN: bef-exec %s -O2 --functions sums --input scale=f32:1e-4 | cmp %t.apart -
// RUN: bef-exec %s -O2 --functions sums --input scale=f32:1e-4 --work-queue mstd:2 | cmp %t.apart -

// All three, with their epilogues and a residual. The number of images is not known.
// CHECK-LABEL: func.func @inverted
// CHECK: "tf._PackedBottleneck"(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %arg0) <{
// CHECK-SAME: expand_ops = ["BiasAdd", "Relu6"], expand_shape = [8, 64], {{.*}}filter_shape = [3, 3, 64, 1], fused_ops = ["BiasAdd", "Relu6"], num_args = 3 : i64, num_weights = 3 : i64,
// CHECK-SAME: project_ops = ["Add"], project_shape = [64, 8],
// CHECK-SAME: -> tensor<?x48x48x8xf32>
// CHECK-NEXT: return
func.func @inverted(%x: tensor<?x48x48x8xf32>) -> tensor<?x48x48x8xf32> {
  %e = "tf.Const"() {value = dense<0.5> : tensor<1x1x8x64xf32>} : () -> tensor<1x1x8x64xf32>
  %d = "tf.Const"() {value = dense<0.25> : tensor<3x3x64x1xf32>} : () -> tensor<3x3x64x1xf32>
  %p = "tf.Const"() {value = dense<0.125> : tensor<1x1x64x8xf32>} : () -> tensor<1x1x64x8xf32>
  %b = "tf.Const"() {value = dense<0.5> : tensor<64xf32>} : () -> tensor<64xf32>
  %0 = "tf._FusedConv2D"(%x, %e, %b) {TArgs = [f32], strides = [1, 1, 1, 1], padding = "SAME", fused_ops = ["BiasAdd", "Relu6"], num_args = 1 : i64} : (tensor<?x48x48x8xf32>, tensor<1x1x8x64xf32>, tensor<64xf32>) -> tensor<?x48x48x64xf32>
  %1 = "tf._FusedDepthwiseConv2dNative"(%0, %d, %b) {strides = [1, 1, 1, 1], padding = "SAME", fused_ops = ["BiasAdd", "Relu6"], num_args = 1 : i64} : (tensor<?x48x48x64xf32>, tensor<3x3x64x1xf32>, tensor<64xf32>) -> tensor<?x48x48x64xf32>
  %2 = "tf.Conv2D"(%1, %p) {strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<?x48x48x64xf32>, tensor<1x1x64x8xf32>) -> tensor<?x48x48x8xf32>
  %3 = "tf.AddV2"(%2, %x) : (tensor<?x48x48x8xf32>, tensor<?x48x48x8xf32>) -> tensor<?x48x48x8xf32>
  tfrt.return %3 : tensor<?x48x48x8xf32>
}

// The images behind the depthwise convolution are a result, so the last layer stays.
// CHECK-LABEL: func.func @result
// CHECK: %[[A:.*]] = "tf._PackedBottleneck"(%arg0, %{{.*}}, %{{.*}}) <{
// CHECK-SAME: expand_shape = [8, 64]
// CHECK-SAME: strides = [1, 2, 2, 1]
// CHECK: %[[B:.*]] = "tf._PackedConv2D"(%[[A]], %{{.*}})
// CHECK: return %[[A]], %[[B]]
func.func @result(%x: tensor<1x96x96x8xf32>) -> (tensor<1x48x48x64xf32>, tensor<1x48x48x8xf32>) {
  %e = "tf.Const"() {value = dense<0.5> : tensor<1x1x8x64xf32>} : () -> tensor<1x1x8x64xf32>
  %d = "tf.Const"() {value = dense<0.25> : tensor<3x3x64x1xf32>} : () -> tensor<3x3x64x1xf32>
  %p = "tf.Const"() {value = dense<0.125> : tensor<1x1x64x8xf32>} : () -> tensor<1x1x64x8xf32>
  %0 = "tf.Conv2D"(%x, %e) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<1x96x96x8xf32>, tensor<1x1x8x64xf32>) -> tensor<1x96x96x64xf32>
  %1 = "tf.DepthwiseConv2dNative"(%0, %d) {strides = [1, 2, 2, 1], padding = "SAME"} : (tensor<1x96x96x64xf32>, tensor<3x3x64x1xf32>) -> tensor<1x48x48x64xf32>
  %2 = "tf.Conv2D"(%1, %p) {strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<1x48x48x64xf32>, tensor<1x1x64x8xf32>) -> tensor<1x48x48x8xf32>
  tfrt.return %1, %2 : tensor<1x48x48x64xf32>, tensor<1x48x48x8xf32>
}

// Small images stay in the cache between separate layers.
// CHECK-LABEL: func.func @small
// CHECK-NOT: _PackedBottleneck
// CHECK: return
func.func @small(%x: tensor<8x14x14x8xf32>) -> tensor<8x14x14x64xf32> {
  %e = "tf.Const"() {value = dense<0.5> : tensor<1x1x8x64xf32>} : () -> tensor<1x1x8x64xf32>
  %d = "tf.Const"() {value = dense<0.25> : tensor<3x3x64x1xf32>} : () -> tensor<3x3x64x1xf32>
  %0 = "tf.Conv2D"(%x, %e) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<8x14x14x8xf32>, tensor<1x1x8x64xf32>) -> tensor<8x14x14x64xf32>
  %1 = "tf.DepthwiseConv2dNative"(%0, %d) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<8x14x14x64xf32>, tensor<3x3x64x1xf32>) -> tensor<8x14x14x64xf32>
  tfrt.return %1 : tensor<8x14x14x64xf32>
}

// Sums over the images' lines tell whether a line was computed from others. Two images, more than a band each.
// SUMS: array({{\[\[}}   310.688  ,    699.50397,   1166.448  ,   1633.392  ,
// SUMS: 117902.45   , 118369.39   , 118836.336  ,  79379.87   ]],
func.func @sums(%scale: tensor<f32>) -> tensor<2x128xf32> {
  %shape = "tf.Const"() {value = dense<[2, 128, 64, 4]> : tensor<4xi32>} : () -> tensor<4xi32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %n = "tf.Const"() {value = dense<65536> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %axes = "tf.Const"() {value = dense<[2, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %e = "tf.Const"() {value = dense<0.5> : tensor<1x1x4x64xf32>} : () -> tensor<1x1x4x64xf32>
  %d = "tf.Const"() {value = dense<0.25> : tensor<3x3x64x1xf32>} : () -> tensor<3x3x64x1xf32>
  %p = "tf.Const"() {value = dense<0.125> : tensor<1x1x64x8xf32>} : () -> tensor<1x1x64x8xf32>
  %range = "tf.Range"(%zero, %n, %one) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<65536xi32>
  %numbers = "tf.Cast"(%range) : (tensor<65536xi32>) -> tensor<65536xf32>
  %x = "tf.Reshape"(%numbers, %shape) : (tensor<65536xf32>, tensor<4xi32>) -> tensor<2x128x64x4xf32>
  %y = "tf.Mul"(%x, %scale) : (tensor<2x128x64x4xf32>, tensor<f32>) -> tensor<2x128x64x4xf32>
  %0 = "tf.Conv2D"(%y, %e) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<2x128x64x4xf32>, tensor<1x1x4x64xf32>) -> tensor<2x128x64x64xf32>
  %1 = "tf.DepthwiseConv2dNative"(%0, %d) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<2x128x64x64xf32>, tensor<3x3x64x1xf32>) -> tensor<2x128x64x64xf32>
  %2 = "tf.Conv2D"(%1, %p) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<2x128x64x64xf32>, tensor<1x1x64x8xf32>) -> tensor<2x128x64x8xf32>
  %3 = "tf.Sum"(%2, %axes) : (tensor<2x128x64x8xf32>, tensor<2xi32>) -> tensor<2x128xf32>
  tfrt.return %3 : tensor<2x128xf32>
}
