// What backward functions are given and what they compute again: `bef.recompute` of functions, or of what calls them.
//
// RUN: ir-opt %s --tf-gradients 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t.err
// RUN: ir-opt %s --tf-gradients --inline 2>%t.err | FileCheck %s --check-prefix=APART
// RUN: bef-exec %s -O0 --functions all --input f32[2x2]:1,2,0.5,-1 --input f32[2x2]:0.25,0.5,-0.5,1 --output %t.npy
// RUN: bef-exec %s -O0 --functions usual --input f32[2x2]:1,2,0.5,-1 --input f32[2x2]:0.25,0.5,-0.5,1 --expect %t.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O2 --functions all --input f32[2x2]:1,2,0.5,-1 --input f32[2x2]:0.25,0.5,-0.5,1 --output %t.npy
// RUN: bef-exec %s -O2 --functions usual --input f32[2x2]:1,2,0.5,-1 --input f32[2x2]:0.25,0.5,-0.5,1 --expect %t.npy --rtol 0 --atol 0

// The product is computed again: nothing but arguments is handed over, and the function is not inlined.
// CHECK-LABEL: func.func @all(
// CHECK:         "tf.PartitionedCall"(%arg0, %arg1) <{f = @f.fwd}>{{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK:         "tf.PartitionedCall"(%arg1, %arg0, %{{.*}}) <{f = @f.bwd}>
// APART-LABEL: func.func @all(
// APART-NOT:     @f.fwd
// APART:         @f.bwd
// SAID: remark[E0912]: the gradient of @f is given 0 values, 0 bytes, and computes 2 ops again
func.func @all(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = "tf.PartitionedCall"(%x, %w) {f = @f, bef.recompute = "all"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %d : tensor<2x2xf32>
}

// Usually what cost most is handed over.
// CHECK-LABEL: func.func @usual(
// CHECK:         %[[Y:.*]]:2 = "tf.PartitionedCall"(%arg0, %arg1) <{f = @f.fwd_1}>
// CHECK:         "tf.PartitionedCall"(%arg1, %[[Y]]#1, %{{.*}}) <{f = @f.bwd_1}>
// APART-LABEL: func.func @usual(
// APART-NOT:     @f.bwd
// APART:         return
func.func @usual(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = "tf.PartitionedCall"(%x, %w) {f = @f} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %d : tensor<2x2xf32>
}
func.func private @f(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = "tf.MatMul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = "tf.Softmax"(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %s : tensor<2x2xf32>
}

// Not even an elementwise operator is computed again; the other branch still does.
// CHECK-LABEL: func.func private @kept.bwd
// CHECK-NOT:     "tf.Exp"
// CHECK:         return
// CHECK-LABEL: func.func private @again.bwd
// CHECK:         "tf.Exp"
// SAID: remark[E0912]: the gradient of @kept is given 1 values, 12 bytes, and computes 0 ops again
func.func @branch(%p: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %y = "tf.StatelessIf"(%p, %x) {then_branch = @kept, else_branch = @again} : (tensor<i1>, tensor<3xf32>) -> tensor<3xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %d : tensor<3xf32>
}
func.func private @kept(%x: tensor<3xf32>) -> tensor<3xf32> attributes {bef.recompute = "none"} {
  %u = "tf.Exp"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %v = "tf.Sin"(%u) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %v : tensor<3xf32>
}
func.func private @again(%x: tensor<3xf32>) -> tensor<3xf32> {
  %u = "tf.Exp"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %v = "tf.Sin"(%u) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %v : tensor<3xf32>
}
