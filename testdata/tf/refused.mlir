// RUN: ir-opt %s --split-input-file --verify-diagnostics

func.func @operands(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{`tf.AddV2`: 1 operands, 2 declared}}
  %y = "tf.AddV2"(%x) : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}

// -----

func.func @elements(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  // expected-error@+1 {{`tf.AddV2`: operand #1 'y' has elements of type i32, expected f32}}
  %y = "tf.AddV2"(%x, %n) : (tensor<f32>, tensor<i32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}

// -----

func.func @attribute(%x: tensor<1x2x2x1xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32> {
  // expected-error@+1 {{`tf.Conv2D`: attribute 'padding' is missing}}
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1]} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>
  tfrt.return %y : tensor<1x2x2x1xf32>
}
