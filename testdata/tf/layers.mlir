// RUN: ir-opt %s --tf-remap | FileCheck %s

// CHECK-LABEL: func.func @gelu
func.func @gelu(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %root2 = "tf.Const"() {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
  %inverse = "tf.Const"() {value = dense<0.707106769> : tensor<f32>} : () -> tensor<f32>
  %cubic = "tf.Const"() {value = dense<0.044715> : tensor<f32>} : () -> tensor<f32>
  %steep = "tf.Const"() {value = dense<0.797884583> : tensor<f32>} : () -> tensor<f32>
  %three = "tf.Const"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  // CHECK-DAG: %[[A:.*]] = "tf._Gelu"(%arg0) <{approximate = false}>
  %h = "tf.Mul"(%half, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a0 = "tf.RealDiv"(%x, %root2) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %a1 = "tf.Erf"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a2 = "tf.AddV2"(%a1, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %a = "tf.Mul"(%h, %a2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b0 = "tf.Neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b1 = "tf.Mul"(%b0, %inverse) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b2 = "tf.Erfc"(%b1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b3 = "tf.Mul"(%x, %b2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "tf.Mul"(%half, %b3) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-DAG: %[[C:.*]] = "tf._Gelu"(%arg0) <{approximate = true}>
  %c0 = "tf.Pow"(%x, %three) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c1 = "tf.Mul"(%cubic, %c0) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c2 = "tf.AddV2"(%x, %c1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c3 = "tf.Mul"(%steep, %c2) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c4 = "tf.Tanh"(%c3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c5 = "tf.AddV2"(%one, %c4) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "tf.Mul"(%h, %c5) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NOT: tf.Erf
  // CHECK-NOT: tf.Tanh
  // CHECK: return
  tfrt.return %a, %b, %c : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// Another number is no gelu.
// CHECK-LABEL: func.func @no_gelu
func.func @no_gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %half = "tf.Const"() {value = dense<0.6> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %inverse = "tf.Const"() {value = dense<0.707106769> : tensor<f32>} : () -> tensor<f32>
  %a0 = "tf.Mul"(%x, %inverse) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: tf.Erf
  %a1 = "tf.Erf"(%a0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a2 = "tf.AddV2"(%a1, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %a3 = "tf.Mul"(%x, %a2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = "tf.Mul"(%half, %a3) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  tfrt.return %a : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %axis = "tf.Const"() {value = dense<[1]> : tensor<1xi32>} : () -> tensor<1xi32>
  // CHECK-NEXT: %[[S:.*]] = "tf.Softmax"(%arg0)
  // CHECK-NEXT: return %[[S]]
  %m = "tf.Max"(%x, %axis) {keep_dims = true} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2x1xf32>
  %d = "tf.Sub"(%x, %m) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %e = "tf.Exp"(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = "tf.Sum"(%e, %axis) {keep_dims = true} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2x1xf32>
  %y = "tf.RealDiv"(%e, %s) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  tfrt.return %y : tensor<2x3xf32>
}

// A softmax that something else uses too stays.
// CHECK-LABEL: func.func @log_softmax
func.func @log_softmax(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: %[[L:.*]] = "tf.LogSoftmax"(%arg0)
  // CHECK-NEXT: %[[S:.*]] = "tf.Softmax"(%arg0)
  // CHECK-NEXT: %[[M:.*]] = "tf.Log"(%[[S]])
  // CHECK-NEXT: return %[[L]], %[[S]], %[[M]]
  %r = "tf.Softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %l = "tf.Log"(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = "tf.Softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = "tf.Log"(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  tfrt.return %l, %s, %m : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @moved_log_softmax
func.func @moved_log_softmax(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<6xf32>) {
  // CHECK: %[[L:.*]] = "tf.LogSoftmax"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[T:.*]] = "tf.Transpose"(%[[L]], %{{.*}}) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  // CHECK: %[[M:.*]] = "tf.LogSoftmax"(%arg1) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[R:.*]] = "tf.Reshape"(%[[M]], %{{.*}}) : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<6xf32>
  // CHECK-NEXT: return %[[T]], %[[R]]
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %s = "tf.Softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = "tf.Transpose"(%s, %order) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  %l = "tf.Log"(%t) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %flat = "tf.Const"() {value = dense<6> : tensor<1xi32>} : () -> tensor<1xi32>
  %z = "tf.Softmax"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "tf.Reshape"(%z, %flat) : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<6xf32>
  %m = "tf.Log"(%r) : (tensor<6xf32>) -> tensor<6xf32>
  tfrt.return %l, %m : tensor<3x2xf32>, tensor<6xf32>
}

// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %axis = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %epsilon = "tf.Const"() {value = dense<0.001> : tensor<f32>} : () -> tensor<f32>
  %gamma = "tf.Const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %beta = "tf.Const"() {value = dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  // CHECK: %[[Y:.*]] = "tf._LayerNorm"(%arg0, %{{.*}}, %{{.*}}) <{epsilon = 1.000000e-03 : f32}>
  // CHECK-NEXT: return %[[Y]]
  %mean = "tf.Mean"(%x, %axis) {keep_dims = true} : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x1xf32>
  %square = "tf.SquaredDifference"(%x, %mean) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %variance = "tf.Mean"(%square, %axis) {keep_dims = true} : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x1xf32>
  %more = "tf.AddV2"(%variance, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %inverse = "tf.Rsqrt"(%more) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %difference = "tf.Sub"(%x, %mean) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %normal = "tf.Mul"(%difference, %inverse) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %scaled = "tf.Mul"(%normal, %gamma) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %y = "tf.AddV2"(%scaled, %beta) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  tfrt.return %y : tensor<2x4xf32>
}

// The vectors may be variables, too: no zero is multiplied by them.
// CHECK-LABEL: func.func @layer_norm_of_vectors
func.func @layer_norm_of_vectors(%x: tensor<2x4xf32>, %gamma: tensor<4xf32>, %beta: tensor<4xf32>) -> tensor<2x4xf32> {
  %axis = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %epsilon = "tf.Const"() {value = dense<0.001> : tensor<f32>} : () -> tensor<f32>
  // CHECK: %[[Y:.*]] = "tf._LayerNorm"(%arg0, %arg1, %arg2) <{epsilon = 1.000000e-03 : f32}>
  // CHECK-NEXT: return %[[Y]]
  %mean = "tf.Mean"(%x, %axis) {keep_dims = true} : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x1xf32>
  %squares = "tf.SquaredDifference"(%x, %mean) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %variance = "tf.Mean"(%squares, %axis) {keep_dims = true} : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x1xf32>
  %sum = "tf.AddV2"(%variance, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %inverse = "tf.Rsqrt"(%sum) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %difference = "tf.Sub"(%x, %mean) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %normal = "tf.Mul"(%difference, %inverse) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %scaled = "tf.Mul"(%normal, %gamma) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %y = "tf.AddV2"(%scaled, %beta) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  tfrt.return %y : tensor<2x4xf32>
}

// As a batch normalization of rows.
// CHECK-LABEL: func.func @batched
func.func @batched(%x: tensor<2x4xf32>, %gamma: tensor<4xf32>, %beta: tensor<4xf32>) -> tensor<2x4xf32> {
  %axis = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %epsilon = "tf.Const"() {value = dense<0.001> : tensor<f32>} : () -> tensor<f32>
  // CHECK-NEXT: %[[Y:.*]] = "tf._LayerNorm"(%arg0, %arg1, %arg2) <{epsilon = 1.000000e-03 : f32}>
  // CHECK-NEXT: return %[[Y]]
  %mean = "tf.Mean"(%x, %axis) {keep_dims = true} : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x1xf32>
  %still = "tf.StopGradient"(%mean) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %square = "tf.SquaredDifference"(%x, %still) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %variance = "tf.Mean"(%square, %axis) {keep_dims = true} : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x1xf32>
  %more = "tf.AddV2"(%variance, %epsilon) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %inverse = "tf.Rsqrt"(%more) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %factor = "tf.Mul"(%inverse, %gamma) : (tensor<2x1xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %scaled = "tf.Mul"(%x, %factor) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %moved = "tf.Mul"(%mean, %factor) : (tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %shift = "tf.Sub"(%beta, %moved) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = "tf.AddV2"(%scaled, %shift) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  tfrt.return %y : tensor<2x4xf32>
}

// Heads are read where they are; a mask is added.
// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<1x5x2x4xf32>, %k: tensor<1x5x2x4xf32>, %v: tensor<1x5x2x4xf32>, %mask: tensor<1x1x5x5xf32>) -> tensor<1x2x5x4xf32> {
  %order = "tf.Const"() {value = dense<[0, 2, 1, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  // CHECK-NEXT: %[[Y:.*]] = "tf._FusedAttention"(%arg0, %arg1, %arg2, %arg3) <{heads_inside = true, num_masks = 1 : i64, scale = 5.000000e-01 : f32}>
  // CHECK-NEXT: return %[[Y]]
  %a = "tf.Transpose"(%q, %order) : (tensor<1x5x2x4xf32>, tensor<4xi32>) -> tensor<1x2x5x4xf32>
  %b = "tf.Transpose"(%k, %order) : (tensor<1x5x2x4xf32>, tensor<4xi32>) -> tensor<1x2x5x4xf32>
  %c = "tf.Transpose"(%v, %order) : (tensor<1x5x2x4xf32>, tensor<4xi32>) -> tensor<1x2x5x4xf32>
  %s = "tf.BatchMatMulV2"(%a, %b) {adj_y = true} : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x5xf32>
  %t = "tf.RealDiv"(%s, %two) : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %u = "tf.AddV2"(%t, %mask) : (tensor<1x2x5x5xf32>, tensor<1x1x5x5xf32>) -> tensor<1x2x5x5xf32>
  %p = "tf.Softmax"(%u) : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %y = "tf.BatchMatMulV2"(%p, %c) : (tensor<1x2x5x5xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  tfrt.return %y : tensor<1x2x5x4xf32>
}
