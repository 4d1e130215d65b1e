// A batch normalization in training computes what follows it in the same pass: an addend that is there before
// it, and Relu. Its moments are those of the fused operator.
//
// RUN: ir-opt %s --tf-remap | FileCheck %s

// CHECK-LABEL: func.func @relu
func.func @relu(%x: tensor<2x2x2x3xf32>, %v: tensor<3xf32>, %n: tensor<0xf32>) -> (tensor<2x2x2x3xf32>, tensor<3xf32>) {
  // CHECK-NEXT: %[[Y:.*]]:6 = "tf._FusedBatchNormEx"(%arg0, %arg1, %arg1, %arg2, %arg2) <{activation_mode = "Relu", epsilon = 1.000000e-03 : f32, num_side_inputs = 0 : i64}>
  // CHECK-NEXT: return %[[Y]]#0, %[[Y]]#3
  %y:6 = "tf.FusedBatchNormV3"(%x, %v, %v, %n, %n) {epsilon = 0.001 : f32} : (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>, tensor<0xf32>) -> (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>)
  %r = "tf.Relu"(%y#0) : (tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
  tfrt.return %r, %y#3 : tensor<2x2x2x3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @addend
func.func @addend(%x: tensor<2x2x2x3xf32>, %side: tensor<2x2x2x3xf32>, %v: tensor<3xf32>, %n: tensor<0xf32>) -> tensor<2x2x2x3xf32> {
  // CHECK-NEXT: %[[Y:.*]]:6 = "tf._FusedBatchNormEx"(%arg0, %arg2, %arg2, %arg3, %arg3, %arg1) <{activation_mode = "Relu", num_side_inputs = 1 : i64}>
  // CHECK-NEXT: return %[[Y]]#0
  %y:6 = "tf.FusedBatchNormV3"(%x, %v, %v, %n, %n) : (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>, tensor<0xf32>) -> (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>)
  %s = "tf.AddV2"(%side, %y#0) : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
  %r = "tf.Relu"(%s) : (tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
  tfrt.return %r : tensor<2x2x2x3xf32>
}

// Not an addend of another shape or one that is made later, and not a sum with other users.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: "tf.FusedBatchNormV3"
// CHECK-NOT: tf._FusedBatchNormEx
func.func @apart(%x: tensor<2x2x2x3xf32>, %v: tensor<3xf32>, %n: tensor<0xf32>) -> (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) {
  %a:6 = "tf.FusedBatchNormV3"(%x, %v, %v, %n, %n) : (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>, tensor<0xf32>) -> (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>)
  %sa = "tf.AddV2"(%a#0, %v) : (tensor<2x2x2x3xf32>, tensor<3xf32>) -> tensor<2x2x2x3xf32>
  %ra = "tf.Relu"(%sa) : (tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
  %b:6 = "tf.FusedBatchNormV3"(%x, %v, %v, %n, %n) : (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>, tensor<0xf32>) -> (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>)
  %later = "tf.Tanh"(%x) : (tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
  %sb = "tf.AddV2"(%b#0, %later) : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
  %rb = "tf.Relu"(%sb) : (tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
  %c:6 = "tf.FusedBatchNormV3"(%x, %v, %v, %n, %n) : (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>, tensor<0xf32>) -> (tensor<2x2x2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<0xf32>)
  %rc = "tf.Relu"(%c#0) : (tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
  tfrt.return %ra, %rb, %rc, %c#0 : tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>
}
