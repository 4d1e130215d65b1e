// Layers between dequantized and quantized tensors, which compute with the integers: what the pass makes of
// them, and that the results are those of the separate operators.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-fuse-quantization,tf-constant-fold,cse)" | FileCheck %s
// RUN: bef-exec %s -O0 --functions product --input ui8[2x2]:3,7,1,255 | FileCheck %s --check-prefix=PRODUCT
// RUN: bef-exec %s -O1 --functions product --input ui8[2x2]:3,7,1,255 | FileCheck %s --check-prefix=PRODUCT
// RUN: bef-exec %s -O2 --functions product --input ui8[2x2]:3,7,1,255 | FileCheck %s --check-prefix=PRODUCT
// RUN: bef-exec %s -O0 --functions block --input i8[1x3x3x2]:0,1,2,3,4,5,-6,7,8,-9,10,11,-128,127,14,15,16,17 | FileCheck %s --check-prefix=BLOCK
// RUN: bef-exec %s -O2 --functions block --input i8[1x3x3x2]:0,1,2,3,4,5,-6,7,8,-9,10,11,-128,127,14,15,16,17 --work-queue mstd:2 | FileCheck %s --check-prefix=BLOCK
// RUN: bef-exec %s -O0 --functions depthwise --input ui8[1x2x2x2]:0,10,20,30,255,1,2,3 | FileCheck %s --check-prefix=DEPTHWISE
// RUN: bef-exec %s -O2 --functions depthwise --input ui8[1x2x2x2]:0,10,20,30,255,1,2,3 | FileCheck %s --check-prefix=DEPTHWISE
// RUN: bef-exec %s -O0 --functions tables --input i8[2x3]:-128,-3,-1,0,2,63 | FileCheck %s --check-prefix=TABLES
// RUN: bef-exec %s -O2 --functions tables --input i8[2x3]:-128,-3,-1,0,2,63 | FileCheck %s --check-prefix=TABLES
// RUN: bef-exec %s -O0 --functions moves --input ui8[2x3]:0,1,2,3,4,5 | FileCheck %s --check-prefix=MOVES
// RUN: bef-exec %s -O2 --functions moves --input ui8[2x3]:0,1,2,3,4,5 | FileCheck %s --check-prefix=MOVES

// A product of u8 with weights of a scale for each column, whose result is i8, with a function between.
// CHECK-LABEL: func.func @product
// CHECK: "tf._PackedMatMul"(%{{.*}}) <{fused_ops = ["Mul", "BiasAdd", "Relu"], input_zero_point = 3 : i64, num_args = 2 : i64, output_scale = 5.000000e-01 : f32, output_zero_point = -100 : i64, shape = [2, 8]}> : (tensor<2x2xui8>, tensor<{{.*}}xui8>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xi8>
// CHECK-NEXT: return
// PRODUCT: array({{\[\[}}-100,  -93, -100,  -36, -100,  -96,  -96,  -94],
// PRODUCT-NEXT: [-100,  127, -100,  127, -100,  127,  127,  127]],
func.func @product(%x: tensor<2x2xui8>) -> tensor<2x8xi8> {
  %sx = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zx = "tf.Const"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %w = "tf.Const"() {value = dense<[[1, 2, 3, 4, 5, 6, 7, 8], [-2, 2, -128, 127, 0, 1, 1, 1]]> : tensor<2x8xi8>} : () -> tensor<2x8xi8>
  %sw = "tf.Const"() {value = dense<[1.0, 0.5, 0.25, 0.125, 1.0, 1.0, 1.0, 2.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %zw = "tf.Const"() {value = dense<0> : tensor<8xi8>} : () -> tensor<8xi8>
  %b = "tf.Const"() {value = dense<[0.5, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %sy = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zy = "tf.Const"() {value = dense<-100> : tensor<i8>} : () -> tensor<i8>
  %0 = "tf._DequantizeLinear"(%x, %sx, %zx) : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %1 = "tf._DequantizeLinear"(%w, %sw, %zw) : (tensor<2x8xi8>, tensor<8xf32>, tensor<8xi8>) -> tensor<2x8xf32>
  %2 = "tf._FusedMatMul"(%0, %1, %b) {fused_ops = ["BiasAdd", "Relu"], num_args = 1 : i64} : (tensor<2x2xf32>, tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %3 = "tf._QuantizeLinear"(%2, %sy, %zy) : (tensor<2x8xf32>, tensor<f32>, tensor<i8>) -> tensor<2x8xi8>
  tfrt.return %3 : tensor<2x8xi8>
}

// Images of i8 and filters of u8 whose zero point is 128; the padding has the zero point.
// A second convolution adds the first one's bytes; both are rounded before.
// CHECK-LABEL: func.func @block
// CHECK: %[[FIRST:.*]] = "tf._PackedConv2D"(%{{.*}}) <{{{.*}}output_scale = 2.500000e-01 : f32, output_zero_point = 5 : i64{{.*}}}> : (tensor<1x3x3x2xi8>, tensor<{{.*}}xui8>, tensor<2xf32>) -> tensor<1x3x3x2xi8>
// CHECK: "tf._PackedConv2D"(%[[FIRST]], %{{.*}}, %{{.*}}, %[[FIRST]]) <{{{.*}}fused_ops = ["Mul", "Relu"], input_zero_point = 5 : i64, num_args = 1 : i64, num_residuals = 1 : i64, output_scale = 5.000000e-01 : f32, output_zero_point = -128 : i64, {{.*}}residual_scale = 2.500000e-01 : f32, residual_zero_point = 5 : i64, {{.*}}sum_scale = 1.250000e-01 : f32, sum_zero_point = 7 : i64}
// BLOCK: array({{\[\[\[\[}}-128, -120],
// BLOCK-NEXT: [-124, -125],
// BLOCK-NEXT: [-122, -117]],
// BLOCK: [-126, -128],
// BLOCK-NEXT: [-128, -111],
// BLOCK-NEXT: [-119, -114]],
// BLOCK: [-119, -128],
// BLOCK-NEXT: [-116, -128],
// BLOCK-NEXT: [-115, -128]]]]
func.func @block(%x: tensor<1x3x3x2xi8>) -> tensor<1x3x3x2xi8> {
  %sx = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zx = "tf.Const"() {value = dense<-2> : tensor<i8>} : () -> tensor<i8>
  %w = "tf.Const"() {value = dense<[[[[129, 128], [130, 126]]], [[[127, 131], [128, 129]]]]> : tensor<2x1x2x2xui8>} : () -> tensor<2x1x2x2xui8>
  %sw = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %zw = "tf.Const"() {value = dense<128> : tensor<ui8>} : () -> tensor<ui8>
  %s1 = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %z1 = "tf.Const"() {value = dense<5> : tensor<i8>} : () -> tensor<i8>
  %s2 = "tf.Const"() {value = dense<0.125> : tensor<f32>} : () -> tensor<f32>
  %z2 = "tf.Const"() {value = dense<7> : tensor<i8>} : () -> tensor<i8>
  %s3 = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z3 = "tf.Const"() {value = dense<-128> : tensor<i8>} : () -> tensor<i8>
  %0 = "tf._DequantizeLinear"(%x, %sx, %zx) : (tensor<1x3x3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x2xf32>
  %1 = "tf._DequantizeLinear"(%w, %sw, %zw) : (tensor<2x1x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x1x2x2xf32>
  %2 = "tf.Conv2D"(%0, %1) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<1x3x3x2xf32>, tensor<2x1x2x2xf32>) -> tensor<1x3x3x2xf32>
  %3 = "tf._QuantizeLinear"(%2, %s1, %z1) : (tensor<1x3x3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x2xi8>
  %4 = "tf._DequantizeLinear"(%3, %s1, %z1) : (tensor<1x3x3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x2xf32>
  %5 = "tf.Conv2D"(%4, %1) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<1x3x3x2xf32>, tensor<2x1x2x2xf32>) -> tensor<1x3x3x2xf32>
  %6 = "tf._QuantizeLinear"(%5, %s2, %z2) : (tensor<1x3x3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x2xi8>
  %7 = "tf._DequantizeLinear"(%6, %s2, %z2) : (tensor<1x3x3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x2xf32>
  %8 = "tf.AddV2"(%4, %7) : (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %9 = "tf.Relu"(%8) : (tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %10 = "tf._QuantizeLinear"(%9, %s3, %z3) : (tensor<1x3x3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3x3x2xi8>
  tfrt.return %10 : tensor<1x3x3x2xi8>
}

// Depthwise filters, and a result of f32 since nothing quantizes it.
// CHECK-LABEL: func.func @depthwise
// CHECK: "tf._PackedDepthwiseConv2dNative"(%{{.*}}) <{{{.*}}fused_ops = ["Mul", "BiasAdd"], input_zero_point = 10 : i64{{.*}}}> : (tensor<1x2x2x2xui8>, tensor<{{.*}}xui8>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x1x2x2xf32>
// DEPTHWISE: array({{\[\[\[\[}}181.75,   6.  ],
// DEPTHWISE-NEXT: [ -3.  ,  10.  ]]]]
func.func @depthwise(%x: tensor<1x2x2x2xui8>) -> tensor<1x1x2x2xf32> {
  %sx = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %zx = "tf.Const"() {value = dense<10> : tensor<ui8>} : () -> tensor<ui8>
  %w = "tf.Const"() {value = dense<[[[[1], [2]]], [[[3], [-4]]]]> : tensor<2x1x2x1xi8>} : () -> tensor<2x1x2x1xi8>
  %sw = "tf.Const"() {value = dense<[0.5, 0.25]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zw = "tf.Const"() {value = dense<0> : tensor<2xi8>} : () -> tensor<2xi8>
  %b = "tf.Const"() {value = dense<[0.5, 1.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tf._DequantizeLinear"(%x, %sx, %zx) : (tensor<1x2x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x2xf32>
  %1 = "tf._DequantizeLinear"(%w, %sw, %zw) {axis = 2 : i64} : (tensor<2x1x2x1xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x1x2x1xf32>
  %2 = "tf._FusedDepthwiseConv2dNative"(%0, %1, %b) {fused_ops = ["BiasAdd"], num_args = 1 : i64, strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<1x2x2x2xf32>, tensor<2x1x2x1xf32>, tensor<2xf32>) -> tensor<1x1x2x2xf32>
  tfrt.return %2 : tensor<1x1x2x2xf32>
}

// Bytes are moved as bytes, and not rounded again; the padding is the byte that stands for 0.
// CHECK-LABEL: func.func @moves
// CHECK-DAG: %[[TEN:.*]] = "tf.Const"() <{value = dense<10> : tensor<ui8>}>
// CHECK: %[[MOVED:.*]] = "tf.Transpose"(%arg0, %{{.*}}) : (tensor<?x3xui8>, tensor<2xi32>) -> tensor<3x?xui8>
// CHECK-NEXT: %[[PADDED:.*]] = "tf.PadV2"(%[[MOVED]], %{{.*}}, %[[TEN]]) : (tensor<3x?xui8>, tensor<2x2xi32>, tensor<ui8>) -> tensor<4x?xui8>
// CHECK-NEXT: return %[[PADDED]]
// MOVES: array({{\[\[}}10, 10],
// MOVES-NEXT: [ 0,  3],
// MOVES-NEXT: [ 1,  4],
// MOVES-NEXT: [ 2,  5]], shape=(4, 2), dtype=uint8)
func.func @moves(%x: tensor<?x3xui8>) -> tensor<4x?xui8> {
  %s = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %z = "tf.Const"() {value = dense<10> : tensor<ui8>} : () -> tensor<ui8>
  %perm = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf._DequantizeLinear"(%x, %s, %z) : (tensor<?x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<?x3xf32>
  %1 = "tf.Transpose"(%0, %perm) : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<3x?xf32>
  %2 = "tf._QuantizeLinear"(%1, %s, %z) : (tensor<3x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x?xui8>
  %3 = "tf._DequantizeLinear"(%2, %s, %z) : (tensor<3x?xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x?xf32>
  %4 = "tf._QuantizeLinear"(%3, %s, %z) : (tensor<3x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x?xui8>
  %pads = "tf.Const"() {value = dense<[[1, 0], [0, 0]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %5 = "tf._DequantizeLinear"(%4, %s, %z) : (tensor<3x?xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x?xf32>
  %6 = "tf.PadV2"(%5, %pads, %zero) : (tensor<3x?xf32>, tensor<2x2xi32>, tensor<f32>) -> tensor<4x?xf32>
  %7 = "tf._QuantizeLinear"(%6, %s, %z) : (tensor<4x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x?xui8>
  tfrt.return %7 : tensor<4x?xui8>
}

// Functions of the elements of one tensor are tables of all bytes, also if they read it twice, and so is another scale.
// Rounded in the middle, 63 * 0.5 by 0.25 is too large for a byte.
// CHECK-LABEL: func.func @tables
// CHECK-NOT: tf._QuantizeLinear
// CHECK: %[[SWISH:.*]] = "tf._LookUpBytes"(%arg0, %{{.*}}) : (tensor<2x?xi8>, tensor<256xui8>) -> tensor<2x?xui8>
// CHECK-NEXT: %[[OTHER:.*]] = "tf._LookUpBytes"(%arg0, %{{.*}}) : (tensor<2x?xi8>, tensor<256xi8>) -> tensor<2x?xi8>
// CHECK-NEXT: return %[[SWISH]], %[[OTHER]]
// TABLES: array({{\[\[}} 10,   9,   9],
// TABLES-NEXT: [ 10,  13, 136]], shape=(2, 3), dtype=uint8)
// TABLES-NEXT: array({{\[\[}}-128,   -7,   -3],
// TABLES-NEXT: [  -1,    3,  125]], shape=(2, 3), dtype=int8)
func.func @tables(%x: tensor<2x?xi8>) -> (tensor<2x?xui8>, tensor<2x?xi8>) {
  %s = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %z = "tf.Const"() {value = dense<0> : tensor<i8>} : () -> tensor<i8>
  %y = "tf.Const"() {value = dense<10> : tensor<ui8>} : () -> tensor<ui8>
  %m = "tf.Const"() {value = dense<-1> : tensor<i8>} : () -> tensor<i8>
  %0 = "tf._DequantizeLinear"(%x, %s, %z) : (tensor<2x?xi8>, tensor<f32>, tensor<i8>) -> tensor<2x?xf32>
  %1 = "tf.Sigmoid"(%0) : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %2 = "tf.Mul"(%0, %1) : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  %3 = "tf._QuantizeLinear"(%2, %t, %y) : (tensor<2x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x?xui8>
  %4 = "tf._QuantizeLinear"(%0, %t, %m) : (tensor<2x?xf32>, tensor<f32>, tensor<i8>) -> tensor<2x?xi8>
  tfrt.return %3, %4 : tensor<2x?xui8>, tensor<2x?xi8>
}

// Weights minus zero points that are no bytes; a function of two tensors: nothing changes.
// CHECK-LABEL: func.func @others
// CHECK: "tf._DequantizeLinear"
// CHECK: "tf.MatMul"
// CHECK: "tf._QuantizeLinear"
// CHECK: "tf.Mul"
// CHECK: "tf._QuantizeLinear"
func.func @others(%x: tensor<2x2xui8>, %y: tensor<2x2xui8>) -> (tensor<2x8xui8>, tensor<2x2xui8>) {
  %s = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %t = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %z = "tf.Const"() {value = dense<10> : tensor<ui8>} : () -> tensor<ui8>
  %w = "tf.Const"() {value = dense<[[255, 0, 0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<2x8xui8>} : () -> tensor<2x8xui8>
  %0 = "tf._DequantizeLinear"(%x, %s, %z) : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %1 = "tf._DequantizeLinear"(%w, %s, %z) : (tensor<2x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x8xf32>
  %2 = "tf.MatMul"(%0, %1) : (tensor<2x2xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %3 = "tf._QuantizeLinear"(%2, %s, %z) : (tensor<2x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x8xui8>
  %4 = "tf._DequantizeLinear"(%y, %s, %z) : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %5 = "tf.Mul"(%0, %4) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = "tf._QuantizeLinear"(%5, %t, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  tfrt.return %3, %6 : tensor<2x8xui8>, tensor<2x2xui8>
}
