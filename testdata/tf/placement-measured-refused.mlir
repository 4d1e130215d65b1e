// RUN: ir-opt %s --split-input-file --pass-pipeline='builtin.module(tf-place{devices=CPU:2})' --verify-diagnostics

func.func @negative(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{is no dictionary of kinds of devices}}
  %a = "tf.Sin"(%x) {cost_ns = {CPU = -5 : i64}} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}

// -----

func.func @number(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{nanoseconds}}
  %a = "tf.Sin"(%x) {cost_ns = 5 : i64} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}

// -----

func.func @float(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{nanoseconds}}
  %a = "tf.Sin"(%x) {cost_ns = {CPU = 0x7FF8000000000000 : f64}} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}
