// Products that the iterations of a loop add up become one product behind it, and a sum of rows one sum.
// Matrices with which each iteration multiplies are packed before the loop.
//
// RUN: ir-opt %s --tf-sink-loop-sums | FileCheck %s
// RUN: ir-opt %s --pass-pipeline="builtin.module(tf-pack-loop-weights,tf-loop-invariant-code-motion)" | FileCheck %s --check-prefix=PACK
// RUN: ir-translate -O0 %s -o %t.0 && bef-exec %t.0 | FileCheck %s --check-prefix=GIVES
// RUN: ir-translate -O2 %s -o %t.2 && bef-exec %t.2 | FileCheck %s --check-prefix=GIVES
// RUN: bef-exec %t.2 --work-queue mstd:2 | FileCheck %s --check-prefix=GIVES

// Three iterations: x is [[1, 2], [3, 4]], then doubled each time. w adds x^T * y to 1, b the rows of y to 0.
// GIVES-LABEL: 'main' returned
// GIVES: array({{\[\[}}421., 589.],
// GIVES-NEXT: [589., 841.]], shape=(2, 2), dtype=float32)
// GIVES-SAME: array([28., 42.], shape=(2,), dtype=float32)
// CHECK-LABEL: func.func @main
func.func @main() -> (tensor<2x2xf32>, tensor<2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "tf.PartitionedCall"(%n) {f = @sums} : (tensor<i32>) -> (tensor<2x2xf32>, tensor<2xf32>)
  tfrt.return %0#0, %0#1 : tensor<2x2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @sums
// CHECK-DAG: %[[XS:.*]] = "tf.EmptyTensorList"
// CHECK: %[[LOOP:.*]]:{{[0-9]+}} = "tf.While"
// CHECK: %[[X:.*]]:2 = "tf.TensorListConcatV2"(%[[LOOP]]#5
// CHECK: %[[Y:.*]]:2 = "tf.TensorListConcatV2"(%[[LOOP]]#6
// CHECK: %[[W:.*]] = "tf.MatMul"(%[[X]]#0, %[[Y]]#0) <{transpose_a = true, transpose_b = false}>
// CHECK: "tf.AddN"(%[[W]], %{{.*}})
// CHECK: %[[B:.*]] = "tf.Sum"(%[[Y]]#0
// CHECK: "tf.AddN"(%[[B]], %{{.*}})
func.func @sums(%n: tensor<i32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %w = "tf.Const"() {value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %b = "tf.Const"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %0:5 = "tf.While"(%zero, %n, %x, %w, %b) {body = @body, cond = @less} : (tensor<i32>, tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>)
  tfrt.return %0#3, %0#4 : tensor<2x2xf32>, tensor<2xf32>
}

func.func private @less(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %b: tensor<2xf32>) -> tensor<i1> {
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %0 : tensor<i1>
}

// CHECK-LABEL: func.func private @body
// CHECK-NOT: "tf.MatMul"
// CHECK-NOT: "tf.Sum"
// CHECK: "tf.TensorListPushBack"
// CHECK: "tf.TensorListPushBack"
// CHECK: return
func.func private @body(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %b: tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %rows = "tf.Const"() {value = dense<[0]> : tensor<1xi32>} : () -> tensor<1xi32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %twice = "tf.AddV2"(%x, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = "tf.MatMul"(%twice, %x) {transpose_a = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %more = "tf.AddN"(%p, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = "tf.Sum"(%x, %rows) : (tensor<2x2xf32>, tensor<1xi32>) -> tensor<2xf32>
  %sum = "tf.AddN"(%s, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %next, %n, %twice, %more, %sum : tensor<i32>, tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>
}

// PACK-LABEL: func.func @rnn
// PACK: %[[P:.*]] = "tf._PackMatrix"(%arg0)
// PACK: %[[T:.*]] = "tf._PackMatrix"(%arg0) <{transpose = true}>
// PACK: "tf.While"(%{{.*}}, %{{.*}}, %arg0, %[[P]], %[[T]])
func.func @rnn(%w: tensor<8x8xf32>) -> tensor<2x8xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<1.0> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %0:3 = "tf.While"(%zero, %x, %w) {body = @step, cond = @few} : (tensor<i32>, tensor<2x8xf32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<2x8xf32>, tensor<8x8xf32>)
  tfrt.return %0#1 : tensor<2x8xf32>
}

func.func private @few(%i: tensor<i32>, %x: tensor<2x8xf32>, %w: tensor<8x8xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %0 : tensor<i1>
}

// PACK-LABEL: func.func private @step
// PACK-NOT: "tf._PackMatrix"
// PACK-COUNT-2: "tf._PackedMatMul"
func.func private @step(%i: tensor<i32>, %x: tensor<2x8xf32>, %w: tensor<8x8xf32>) -> (tensor<i32>, tensor<2x8xf32>, tensor<8x8xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.MatMul"(%x, %w) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %z = "tf.MatMul"(%y, %w) {transpose_b = true} : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  tfrt.return %next, %z, %w : tensor<i32>, tensor<2x8xf32>, tensor<8x8xf32>
}
