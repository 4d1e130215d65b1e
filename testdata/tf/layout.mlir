// RUN: ir-opt %s --tf-layout --tf-constant-fold --verify-each | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-layout{layout=nchw},tf-constant-fold)' | FileCheck %s --check-prefix=FIRST

// A convolution written for channels first runs with channels last; strides and paddings go with the axes.
// CHECK-LABEL: func.func @conv
// FIRST-LABEL: func.func @conv
func.func @conv(%x: tensor<2x3x8x9xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<2x4x4x11xf32> {
  // CHECK: %[[X:.*]] = "tf.Transpose"(%arg0, {{.*}}) : {{.*}} -> tensor<2x8x9x3xf32>
  // CHECK: %[[Y:.*]] = "tf.Conv2D"(%[[X]], %arg1) <{data_format = "NHWC"
  // CHECK-SAME: explicit_paddings = [0, 0, 1, 0, 2, 2, 0, 0]
  // CHECK-SAME: strides = [1, 2, 1, 1]
  // CHECK: %[[Z:.*]] = "tf.Transpose"(%[[Y]], {{.*}}) : {{.*}} -> tensor<2x4x4x11xf32>
  // CHECK: return %[[Z]]
  // FIRST-NOT: tf.Transpose
  // FIRST: return
  %y = "tf.Conv2D"(%x, %w) {data_format = "NCHW", explicit_paddings = [0, 0, 0, 0, 1, 0, 2, 2], padding = "EXPLICIT", strides = [1, 1, 2, 1]} : (tensor<2x3x8x9xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x4x11xf32>
  tfrt.return %y : tensor<2x4x4x11xf32>
}

// Between two convolutions nothing is turned back: not for activations, sums of alike images, constants along the channels, pools, paddings.
// CHECK-LABEL: func.func @between
func.func @between(%x: tensor<?x4x8x8xf32>, %w: tensor<1x1x4x4xf32>) -> tensor<?x4x5x5xf32> {
  %c = "tf.Const"() {value = dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>} : () -> tensor<4x1x1xf32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %pad = "tf.Const"() {value = dense<[[0, 0], [0, 0], [1, 0], [0, 1]]> : tensor<4x2xi32>} : () -> tensor<4x2xi32>
  // CHECK-DAG: %[[BIAS:.*]] = "tf.Const"() <{value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>}>
  // CHECK-DAG: %[[PAD:.*]] = "tf.Const"() <{value = dense<{{\[\[}}0, 0], [1, 0], [0, 1], [0, 0]]> : tensor<4x2xi32>}>
  // CHECK: "tf.Transpose"(%arg0
  // CHECK-NOT: tf.Transpose
  // CHECK: "tf.Conv2D"
  %a = "tf.Conv2D"(%x, %w) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<?x4x8x8xf32>, tensor<1x1x4x4xf32>) -> tensor<?x4x8x8xf32>
  // CHECK: "tf.AddV2"({{.*}}, %[[BIAS]]) : (tensor<?x8x8x4xf32>, tensor<4xf32>)
  %b = "tf.AddV2"(%a, %c) : (tensor<?x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<?x4x8x8xf32>
  %d = "tf.Mul"(%b, %half) : (tensor<?x4x8x8xf32>, tensor<f32>) -> tensor<?x4x8x8xf32>
  // CHECK: "tf.AddV2"
  // CHECK-SAME: tensor<?x8x8x4xf32>
  %e = "tf.AddV2"(%d, %a) : (tensor<?x4x8x8xf32>, tensor<?x4x8x8xf32>) -> tensor<?x4x8x8xf32>
  // CHECK: "tf.Pad"({{.*}}, %[[PAD]]) : {{.*}} -> tensor<?x9x9x4xf32>
  %p = "tf.Pad"(%e, %pad) : (tensor<?x4x8x8xf32>, tensor<4x2xi32>) -> tensor<?x4x9x9xf32>
  // CHECK: "tf.MaxPool"({{.*}}) <{data_format = "NHWC", ksize = [1, 2, 2, 1]
  %q = "tf.MaxPool"(%p) {data_format = "NCHW", ksize = [1, 1, 2, 2], padding = "SAME", strides = [1, 1, 2, 2]} : (tensor<?x4x9x9xf32>) -> tensor<?x4x5x5xf32>
  %r = "tf.Relu"(%q) : (tensor<?x4x5x5xf32>) -> tensor<?x4x5x5xf32>
  // CHECK: %[[Z:.*]] = "tf.Conv2D"
  %z = "tf.Conv2D"(%r, %w) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<?x4x5x5xf32>, tensor<1x1x4x4xf32>) -> tensor<?x4x5x5xf32>
  // CHECK: "tf.Transpose"(%[[Z]]
  // CHECK-NOT: tf.Transpose
  tfrt.return %z : tensor<?x4x5x5xf32>
}

// Joins, parts, reductions and choices of an axis get its new number; what is left of an image by a reduction is in order.
// CHECK-LABEL: func.func @axes
func.func @axes(%x: tensor<2x4x6x6xf32>, %w: tensor<1x1x4x4xf32>) -> (tensor<2x4xf32>, tensor<2x6x6xi64>, tensor<f32>) {
  %all = "tf.Const"() {value = dense<[0, 1, 2, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %plane = "tf.Const"() {value = dense<[2, -1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %begin = "tf.Const"() {value = dense<[0, 1, 2, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %size = "tf.Const"() {value = dense<[2, 2, 3, 1]> : tensor<4xi32>} : () -> tensor<4xi32>
  // CHECK-DAG: %[[THREE:.*]] = "tf.Const"() <{value = dense<3> : tensor<i32>}>
  // CHECK-DAG: %[[PLANE:.*]] = "tf.Const"() <{value = dense<[1, 2]> : tensor<2xi32>}>
  // CHECK-DAG: %[[BEGIN:.*]] = "tf.Const"() <{value = dense<[0, 2, 3, 1]> : tensor<4xi32>}>
  // CHECK-DAG: %[[SIZE:.*]] = "tf.Const"() <{value = dense<[2, 3, 1, 2]> : tensor<4xi32>}>
  // CHECK: "tf.Transpose"(%arg0
  // CHECK-NOT: tf.Transpose
  %y = "tf.Conv2D"(%x, %w) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<2x4x6x6xf32>, tensor<1x1x4x4xf32>) -> tensor<2x4x6x6xf32>
  // CHECK: "tf.Split"(%[[THREE]]
  %a:2 = "tf.Split"(%one, %y) : (tensor<i32>, tensor<2x4x6x6xf32>) -> (tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>)
  // CHECK: "tf.ConcatV2"({{.*}}, %[[THREE]])
  %b = "tf.ConcatV2"(%a#1, %a#0, %one) : (tensor<2x2x6x6xf32>, tensor<2x2x6x6xf32>, tensor<i32>) -> tensor<2x4x6x6xf32>
  // CHECK: "tf.Mean"({{.*}}, %[[PLANE]]) : {{.*}} -> tensor<2x4xf32>
  %m = "tf.Mean"(%b, %plane) : (tensor<2x4x6x6xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  // CHECK: "tf.ArgMax"({{.*}}, %[[THREE]]) : {{.*}} -> tensor<2x6x6xi64>
  %k = "tf.ArgMax"(%b, %one) : (tensor<2x4x6x6xf32>, tensor<i32>) -> tensor<2x6x6xi64>
  // CHECK: "tf.Slice"({{.*}}, %[[BEGIN]], %[[SIZE]])
  %s = "tf.Slice"(%y, %begin, %size) : (tensor<2x4x6x6xf32>, tensor<4xi32>, tensor<4xi32>) -> tensor<2x2x3x1xf32>
  %most = "tf.Max"(%s, %all) : (tensor<2x2x3x1xf32>, tensor<4xi32>) -> tensor<f32>
  tfrt.return %m, %k, %most : tensor<2x4xf32>, tensor<2x6x6xi64>, tensor<f32>
}

// A mean that keeps the axes of the plane may be flattened in either layout.
// CHECK-LABEL: func.func @flat
func.func @flat(%x: tensor<?x4x6x6xf32>, %w: tensor<1x1x4x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %plane = "tf.Const"() {value = dense<[2, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %to = "tf.Const"() {value = dense<[-1, 4]> : tensor<2xi32>} : () -> tensor<2xi32>
  // CHECK: "tf.Transpose"(%arg0
  // CHECK-NOT: tf.Transpose
  %y = "tf.Conv2D"(%x, %w) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<?x4x6x6xf32>, tensor<1x1x4x4xf32>) -> tensor<?x4x6x6xf32>
  // CHECK: %[[M:.*]] = "tf.Mean"({{.*}}) <{keep_dims = true}> : {{.*}} -> tensor<?x1x1x4xf32>
  %m = "tf.Mean"(%y, %plane) {keep_dims = true} : (tensor<?x4x6x6xf32>, tensor<2xi32>) -> tensor<?x4x1x1xf32>
  // CHECK: "tf.Reshape"(%[[M]]
  %r = "tf.Reshape"(%m, %to) : (tensor<?x4x1x1xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  // CHECK: "tf.Squeeze"(%[[M]]) <{squeeze_dims = [1, 2]}>
  %s = "tf.Squeeze"(%m) {squeeze_dims = [2, 3]} : (tensor<?x4x1x1xf32>) -> tensor<?x4xf32>
  tfrt.return %r, %s : tensor<?x4xf32>, tensor<?x4xf32>
}

// Transpositions around convolutions that have channels last already: those in the middle go.
// CHECK-LABEL: func.func @mixed
func.func @mixed(%x: tensor<2x4x6x6xf32>, %w: tensor<1x1x4x4xf32>) -> tensor<2x4x6x6xf32> {
  %last = "tf.Const"() {value = dense<[0, 2, 3, 1]> : tensor<4xi32>} : () -> tensor<4xi32>
  %first = "tf.Const"() {value = dense<[0, 3, 1, 2]> : tensor<4xi32>} : () -> tensor<4xi32>
  // CHECK: %[[X:.*]] = "tf.Transpose"(%arg0
  // CHECK-NEXT: %[[A:.*]] = "tf.Conv2D"(%[[X]]
  // CHECK-NEXT: %[[B:.*]] = "tf.Relu"(%[[A]])
  // CHECK-NEXT: %[[C:.*]] = "tf.AddV2"(%[[B]], %[[X]])
  // CHECK-NEXT: %[[D:.*]] = "tf.Conv2D"(%[[C]]
  // CHECK-NEXT: %[[Y:.*]] = "tf.Transpose"(%[[D]]
  // CHECK-NEXT: return %[[Y]]
  %a = "tf.Transpose"(%x, %last) : (tensor<2x4x6x6xf32>, tensor<4xi32>) -> tensor<2x6x6x4xf32>
  %b = "tf.Conv2D"(%a, %w) {padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<2x6x6x4xf32>, tensor<1x1x4x4xf32>) -> tensor<2x6x6x4xf32>
  %c = "tf.Transpose"(%b, %first) : (tensor<2x6x6x4xf32>, tensor<4xi32>) -> tensor<2x4x6x6xf32>
  %d = "tf.Relu"(%c) : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %e = "tf.AddV2"(%d, %x) : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %f = "tf.Transpose"(%e, %last) : (tensor<2x4x6x6xf32>, tensor<4xi32>) -> tensor<2x6x6x4xf32>
  %g = "tf.Conv2D"(%f, %w) {padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<2x6x6x4xf32>, tensor<1x1x4x4xf32>) -> tensor<2x6x6x4xf32>
  %y = "tf.Transpose"(%g, %first) : (tensor<2x6x6x4xf32>, tensor<4xi32>) -> tensor<2x4x6x6xf32>
  tfrt.return %y : tensor<2x4x6x6xf32>
}

// An image of one channel is the same in both layouts; what has no layout is not looked at.
// CHECK-LABEL: func.func @gray
func.func @gray(%x: tensor<2x1x6x6xf32>, %w: tensor<6x6x1x4xf32>, %t: tensor<2x3x4x5xf32>) -> (tensor<2x4x1x1xf32>, tensor<2x3x4x5xf32>) {
  // CHECK-NOT: tf.Transpose
  // CHECK: %[[X:.*]] = "tf.Reshape"(%arg0, {{.*}}) : {{.*}} -> tensor<2x6x6x1xf32>
  // CHECK: %[[Y:.*]] = "tf.Conv2D"(%[[X]], %arg1)
  // CHECK: %[[Z:.*]] = "tf.Reshape"(%[[Y]], {{.*}}) : {{.*}} -> tensor<2x4x1x1xf32>
  // CHECK: %[[R:.*]] = "tf.Relu"(%arg2)
  // CHECK: return %[[Z]], %[[R]]
  %y = "tf.Conv2D"(%x, %w) {data_format = "NCHW", padding = "VALID", strides = [1, 1, 1, 1]} : (tensor<2x1x6x6xf32>, tensor<6x6x1x4xf32>) -> tensor<2x4x1x1xf32>
  %r = "tf.Relu"(%t) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  tfrt.return %y, %r : tensor<2x4x1x1xf32>, tensor<2x3x4x5xf32>
}

// One image for two readers is turned once; a normalization in training has vectors as results too.
// CHECK-LABEL: func.func @train
func.func @train(%x: tensor<2x4x6x6xf32>, %dy: tensor<2x4x6x6xf32>, %v: tensor<4xf32>, %w: tensor<3x3x4x4xf32>) -> (tensor<4xf32>, tensor<2x4x6x6xf32>, tensor<3x3x4x4xf32>, tensor<4xf32>) {
  %n = "tf.Const"() {value = dense<[2, 4, 6, 6]> : tensor<4xi32>} : () -> tensor<4xi32>
  %k = "tf.Const"() {value = dense<[3, 3, 4, 4]> : tensor<4xi32>} : () -> tensor<4xi32>
  // CHECK-DAG: %[[N:.*]] = "tf.Const"() <{value = dense<[2, 6, 6, 4]> : tensor<4xi32>}>
  // CHECK: "tf.Transpose"(%arg0
  // CHECK: "tf.FusedBatchNormV3"
  // CHECK-SAME: data_format = "NHWC"
  %y:6 = "tf.FusedBatchNormV3"(%x, %v, %v, %v, %v) {data_format = "NCHW", is_training = true} : (tensor<2x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<*xf32>)
  // CHECK: %[[DY:.*]] = "tf.Transpose"(%arg1
  // CHECK: "tf.Conv2DBackpropInput"(%[[N]], {{.*}}, %[[DY]])
  %di = "tf.Conv2DBackpropInput"(%n, %w, %dy) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<4xi32>, tensor<3x3x4x4xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  // CHECK: "tf.Conv2DBackpropFilter"({{.*}}, %[[DY]])
  %df = "tf.Conv2DBackpropFilter"(%y#0, %k, %dy) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<2x4x6x6xf32>, tensor<4xi32>, tensor<2x4x6x6xf32>) -> tensor<3x3x4x4xf32>
  // CHECK: "tf.BiasAddGrad"(%[[DY]])
  %db = "tf.BiasAddGrad"(%dy) {data_format = "NCHW"} : (tensor<2x4x6x6xf32>) -> tensor<4xf32>
  // CHECK: return
  tfrt.return %y#1, %di, %df, %db : tensor<4xf32>, tensor<2x4x6x6xf32>, tensor<3x3x4x4xf32>, tensor<4xf32>
}

// What a branch does is turned as well, within the branch.
// CHECK-LABEL: func.func private @then
func.func private @then(%x: tensor<2x4x6x6xf32>, %w: tensor<1x1x4x4xf32>) -> tensor<2x4x6x6xf32> {
  // CHECK-COUNT-1: "tf.Transpose"
  // CHECK: "tf.Conv2D"({{.*}}) <{data_format = "NHWC"
  // CHECK-NEXT: "tf.Conv2D"({{.*}}) <{data_format = "NHWC"
  // CHECK-NEXT: "tf.Transpose"
  // CHECK-NEXT: return
  %y = "tf.Conv2D"(%x, %w) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<2x4x6x6xf32>, tensor<1x1x4x4xf32>) -> tensor<2x4x6x6xf32>
  %z = "tf.Conv2D"(%y, %w) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<2x4x6x6xf32>, tensor<1x1x4x4xf32>) -> tensor<2x4x6x6xf32>
  tfrt.return %z : tensor<2x4x6x6xf32>
}
func.func private @else(%x: tensor<2x4x6x6xf32>, %w: tensor<1x1x4x4xf32>) -> tensor<2x4x6x6xf32> {
  tfrt.return %x : tensor<2x4x6x6xf32>
}
func.func @branch(%p: tensor<i1>, %x: tensor<2x4x6x6xf32>, %w: tensor<1x1x4x4xf32>) -> tensor<2x4x6x6xf32> {
  %y = "tf.StatelessIf"(%p, %x, %w) {then_branch = @then, else_branch = @else} : (tensor<i1>, tensor<2x4x6x6xf32>, tensor<1x1x4x4xf32>) -> tensor<2x4x6x6xf32>
  tfrt.return %y : tensor<2x4x6x6xf32>
}

// Paddings of an image that is mirrored, masks of a slice, the sizes of an image in the order in which they are asked for; constants of four axes.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<?x4x6x6xf32>, %w: tensor<1x1x4x4xf32>) -> (tensor<f32>, tensor<4xi32>) {
  %all = "tf.Const"() {value = dense<[0, 1, 2, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %pad = "tf.Const"() {value = dense<[[0, 0], [0, 0], [1, 2], [0, 0]]> : tensor<4x2xi32>} : () -> tensor<4x2xi32>
  %begin = "tf.Const"() {value = dense<[0, 1, 2, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %end = "tf.Const"() {value = dense<[0, 4, 9, 6]> : tensor<4xi32>} : () -> tensor<4xi32>
  %step = "tf.Const"() {value = dense<1> : tensor<4xi32>} : () -> tensor<4xi32>
  %c = "tf.Const"() {value = dense<[[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0]]]]> : tensor<1x3x1x3xf32>} : () -> tensor<1x3x1x3xf32>
  // CHECK-DAG: %[[PAD:.*]] = "tf.Const"() <{value = dense<{{\[\[}}0, 0], [1, 2], [0, 0], [0, 0]]> : tensor<4x2xi32>}>
  // CHECK-DAG: %[[BACK:.*]] = "tf.Const"() <{value = dense<[0, 3, 1, 2]> : tensor<4xi32>}>
  // CHECK-DAG: %[[C:.*]] = "tf.Const"() <{value = dense<{{\[\[\[\[}}1.000000e+00, 4.000000e+00, 7.000000e+00],
  // CHECK: "tf.Transpose"(%arg0
  // CHECK-NOT: tf.Transpose
  %y = "tf.Conv2D"(%x, %w) {data_format = "NCHW", padding = "SAME", strides = [1, 1, 1, 1]} : (tensor<?x4x6x6xf32>, tensor<1x1x4x4xf32>) -> tensor<?x4x6x6xf32>
  // CHECK: "tf.MirrorPad"({{.*}}, %[[PAD]]) <{mode = "REFLECT"}> : {{.*}} -> tensor<?x9x6x4xf32>
  %m = "tf.MirrorPad"(%y, %pad) {mode = "REFLECT"} : (tensor<?x4x6x6xf32>, tensor<4x2xi32>) -> tensor<?x4x9x6xf32>
  // The batch and what was axis 1 to the end.
  // CHECK: "tf.StridedSlice"
  // CHECK-SAME: begin_mask = 1
  // CHECK-SAME: end_mask = 9
  // CHECK-SAME: tensor<?x7x3x3xf32>
  %s = "tf.StridedSlice"(%m, %begin, %end, %step) {begin_mask = 1, end_mask = 3} : (tensor<?x4x9x6xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<?x3x7x3xf32>
  // CHECK: "tf.Mul"({{.*}}, %[[C]]) : (tensor<?x7x3x3xf32>, tensor<1x1x3x3xf32>)
  %d = "tf.Mul"(%s, %c) : (tensor<?x3x7x3xf32>, tensor<1x3x1x3xf32>) -> tensor<?x3x7x3xf32>
  // CHECK: %[[SIZES:.*]] = "tf.Shape"
  // CHECK: "tf.GatherV2"(%[[SIZES]], %[[BACK]]
  %n = "tf.Shape"(%d) : (tensor<?x3x7x3xf32>) -> tensor<4xi32>
  %most = "tf.Max"(%d, %all) : (tensor<?x3x7x3xf32>, tensor<4xi32>) -> tensor<f32>
  tfrt.return %most, %n : tensor<f32>, tensor<4xi32>
}
