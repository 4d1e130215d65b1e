// Products with constant weights in bf16 and in bytes: what the pass says, how weights are packed, that the
// range of an input is kept where a bias is fused later, and what comes out.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{precision=bf16})" | FileCheck %s --check-prefix=BF16
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{precision=int8 ranges='-1.5:2.0'})" | FileCheck %s --check-prefix=INT8
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{observe})" | FileCheck %s --check-prefix=OBSERVE
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{precision=int8 ranges='-1.5:2.0'},tf-pack-weights,tf-remap)" | FileCheck %s --check-prefix=PACK
// RUN: not ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{precision=int8 ranges='0:1,0:1'})" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{precision=int8 ranges='1:0'})" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{precision=int4})" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not ir-translate %s -O1 --precision bf16 -o %t.bef 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: '--precision' and '--observe-ranges' need -O2, which packs weights
// RUN: bef-exec %s --functions main --precision bf16 --input f32[1x16]:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --functions main --precision int8 --input f32[1x16]:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 | FileCheck %s --check-prefix=EXEC

// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{precision=bf16},tf-lower-precision{precision=int8})" 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: warning[E0515]: precision int8 changes nothing: there is no product to lower
// NOTHING-NEXT: note: lowered are matrix products and convolutions of f32 with constant weights and 16 or more terms

// COUNT: error[E0514]: 2 ranges for 1 inputs of products: they are another model's
// RANGE: error[E0514]: '1:0' is no range low:high
// WORD: one of f32, bf16, int8

// BF16-LABEL: func.func @main
// BF16: "tf.MatMul"(%arg0, %{{.*}}_precision = "bf16"
// INT8-LABEL: func.func @main
// INT8: "tf.MatMul"(%arg0, %{{.*}}_input_range = [-1.500000e+00{{.*}}, 2.000000e+00{{.*}}], _precision = "int8"
// OBSERVE-LABEL: func.func @main
// OBSERVE-SAME: -> (tensor<?x8xf32> {bef.name = "y"}, tensor<?x16xf32> {bef.name = "observed:0"})
// OBSERVE: return %{{.*}}, %arg0
// PACK-LABEL: func.func @main
// PACK: "tf._PackedMatMul"(%arg0, %{{.*}}fused_ops = ["BiasAdd"], input_range = [-1.500000e+00{{.*}}, 2.000000e+00{{.*}}: (tensor<?x16xf32>, tensor<1280xui8>, tensor<8xf32>)
// EXEC: 'main' returned
// EXEC-NEXT: array({{\[\[(9\.|8\.99999)}}
func.func @main(%x: tensor<?x16xf32>) -> (tensor<?x8xf32> {bef.name = "y"}) {
  %w = "tf.Const"() {value = dense<0.5> : tensor<16x8xf32>} : () -> tensor<16x8xf32>
  %b = "tf.Const"() {value = dense<1.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %y = "tf.MatMul"(%x, %w) : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  %z = "tf.BiasAdd"(%y, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  tfrt.return %z : tensor<?x8xf32>
}

// A product that says f32, one of two variables, and one of few steps stay as they are; a convolution of
// another function has no known range.
// BF16-LABEL: func.func @others
// BF16: "tf.MatMul"(%arg0, %{{.*}}_precision = "f32"
// BF16-NOT: _precision
// BF16: "tf.Conv2D"(%arg3, %{{.*}}_precision = "bf16"
// INT8-LABEL: func.func @others
// INT8-NOT: _input_range
// INT8: "tf.Conv2D"(%arg3, %{{.*}}_precision = "int8"
func.func @others(%x: tensor<4x16xf32>, %v: tensor<16x8xf32>, %few: tensor<4x2xf32>, %image: tensor<1x4x4x2xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x2x2x8xf32>) {
  %w = "tf.Const"() {value = dense<0.5> : tensor<16x8xf32>} : () -> tensor<16x8xf32>
  %w2 = "tf.Const"() {value = dense<0.5> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %w4 = "tf.Const"() {value = dense<0.5> : tensor<3x3x2x8xf32>} : () -> tensor<3x3x2x8xf32>
  %0 = "tf.MatMul"(%x, %w) {_precision = "f32"} : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = "tf.MatMul"(%x, %v) : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %2 = "tf.MatMul"(%few, %w2) : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %3 = "tf.Conv2D"(%image, %w4) {strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<1x4x4x2xf32>, tensor<3x3x2x8xf32>) -> tensor<1x2x2x8xf32>
  tfrt.return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x2x2x8xf32>
}
