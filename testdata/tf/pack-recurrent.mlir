// Recurrent layers with constant weights: the product of the input for all steps at once, and packed weights of the state.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-pack-weights)" | FileCheck %s
// RUN: bef-exec -O0 %s --functions rnn --input f32[2x1x1]:1,2 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec -O2 %s --functions rnn --input f32[2x1x1]:1,2 | FileCheck %s --check-prefix=EXEC

// The state is the mean of the state before, half of the input and both biases: 0.75, then 2.
// CHECK-LABEL: func.func @rnn
// CHECK: %[[X:.*]] = "tf._PackedMatMul"(%arg0, {{.*}}) <{fused_ops = ["BiasAdd"], num_args = 1 : i64, shape = [1, 8]}>
// CHECK: "tf._PackedRnn"(%[[X]], {{.*}}) <{activations = ["Relu"], num_weights = 1 : i64}>
// CHECK-NOT: "tf._Rnn"
// CHECK: return
// EXEC: [0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75]
// EXEC: [2. , 2. , 2. , 2. , 2. , 2. , 2. , 2. ]
func.func @rnn(%x: tensor<2x1x1xf32>) -> tensor<2x1x1x8xf32> {
  %w = "tf.Const"() {value = dense<0.5> : tensor<1x8x1xf32>} : () -> tensor<1x8x1xf32>
  %r = "tf.Const"() {value = dense<0.125> : tensor<1x8x8xf32>} : () -> tensor<1x8x8xf32>
  %b = "tf.Const"() {value = dense<0.125> : tensor<1x16xf32>} : () -> tensor<1x16xf32>
  %lengths = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %h = "tf.Const"() {value = dense<0.0> : tensor<1x1x8xf32>} : () -> tensor<1x1x8xf32>
  %y, %last = "tf._Rnn"(%x, %w, %r, %b, %lengths, %h) {activations = ["Relu"]} : (tensor<2x1x1xf32>, tensor<1x8x1xf32>, tensor<1x8x8xf32>, tensor<1x16xf32>, tensor<1xi32>, tensor<1x1x8xf32>) -> (tensor<2x1x1x8xf32>, tensor<1x1x8xf32>)
  tfrt.return %y : tensor<2x1x1x8xf32>
}

// Two directions of a GRU: for each the weights of two gates, and those of the hidden gate. Its bias of the state stays apart.
// CHECK-LABEL: func.func @gru
// CHECK: %[[X:.*]] = "tf._PackedMatMul"(%arg0, {{.*}}) <{fused_ops = ["BiasAdd"], num_args = 1 : i64, shape = [5, 24]}>
// CHECK: "tf._PackedGru"(%[[X]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %arg1, %arg2) <{direction = "bidirectional", linear_before_reset = 1 : i64, num_weights = 4 : i64}>
// CHECK: return
func.func @gru(%x: tensor<?x?x5xf32>, %lengths: tensor<?xi32>, %h: tensor<2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %w = "tf.Const"() {value = dense<0.5> : tensor<2x12x5xf32>} : () -> tensor<2x12x5xf32>
  %r = "tf.Const"() {value = dense<0.25> : tensor<2x12x4xf32>} : () -> tensor<2x12x4xf32>
  %b = "tf.Const"() {value = dense<0.0> : tensor<2x24xf32>} : () -> tensor<2x24xf32>
  %y, %last = "tf._Gru"(%x, %w, %r, %b, %lengths, %h) {direction = "bidirectional", linear_before_reset = 1 : i64} : (tensor<?x?x5xf32>, tensor<2x12x5xf32>, tensor<2x12x4xf32>, tensor<2x24xf32>, tensor<?xi32>, tensor<2x?x4xf32>) -> (tensor<?x2x?x4xf32>, tensor<2x?x4xf32>)
  tfrt.return %y : tensor<?x2x?x4xf32>
}

// Weights that are not constant stay as they are.
// CHECK-LABEL: func.func @variable
// CHECK: "tf._Rnn"
func.func @variable(%x: tensor<2x1x1xf32>, %w: tensor<1x8x1xf32>, %lengths: tensor<1xi32>, %h: tensor<1x1x8xf32>) -> tensor<2x1x1x8xf32> {
  %r = "tf.Const"() {value = dense<0.125> : tensor<1x8x8xf32>} : () -> tensor<1x8x8xf32>
  %b = "tf.Const"() {value = dense<0.125> : tensor<1x16xf32>} : () -> tensor<1x16xf32>
  %y, %last = "tf._Rnn"(%x, %w, %r, %b, %lengths, %h) : (tensor<2x1x1xf32>, tensor<1x8x1xf32>, tensor<1x8x8xf32>, tensor<1x16xf32>, tensor<1xi32>, tensor<1x1x8xf32>) -> (tensor<2x1x1x8xf32>, tensor<1x1x8xf32>)
  tfrt.return %y : tensor<2x1x1x8xf32>
}
