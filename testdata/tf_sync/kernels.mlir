// TensorFlow's operators in synchronous functions.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'arithmetic':
// CHECK-NEXT: shape = [2, 2], values = [1, 2, 3, 4]
// CHECK-NEXT: shape = [2, 2], values = [11, 12, 13, 14]
// CHECK-NEXT: shape = [2, 2], values = [10, 20, 30, 40]
// CHECK-NEXT: shape = [2, 2], values = [-9, -8, -7, -6]
// CHECK-NEXT: shape = [2], values = [5.000000e-01, 1.000000e+00]
func.func @arithmetic() attributes {tfrt.sync} {
  %a = tfrt_dht_sync.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  "tf_sync.Const"(%a) {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : (!t.tensor) -> ()
  tfrt_dht_sync.print_tensor %a
  %ten = "tfrt_dht_sync.create_from_scalar.i32"() {shape = [1 : i64], value = 10 : i32} : () -> !t.tensor
  %y = tfrt_dht_sync.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  "tf_sync.AddV2.i32"(%a, %ten, %y) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync.Mul.i32"(%ten, %a, %y) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync.Sub.i32"(%a, %ten, %y) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  %f = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [2 : i64], values = [1.0 : f32, 2.0 : f32]} : () -> !t.tensor
  %two = "tfrt_dht_sync.create_from_scalar.f32"() {shape = [], value = 2.0 : f32} : () -> !t.tensor
  %g = tfrt_dht_sync.create_uninitialized_tensor.f32.1 [2 : i64]
  "tf_sync.RealDiv.f32"(%f, %two, %g) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %g
  tfrt.return
}

// CHECK: --- Running 'movement':
// CHECK-NEXT: shape = [1, 4], values = [1, 2, 3, 4]
// CHECK-NEXT: shape = [2, 4], values = [1, 2, 1, 2, 1, 2, 1, 2]
// CHECK-NEXT: StringHostTensor shape = [2, 2], values = ["", "", "", ""]
// CHECK-NEXT: StringHostTensor shape = [2, 2], values = ["a", "b", "a", "b"]
// CHECK-NEXT: StringHostTensor shape = [3], values = ["x", "x", "x"]
func.func @movement() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1, 2], values = [1 : i64, 2 : i64]} : () -> !t.tensor
  %b = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1, 2], values = [3 : i64, 4 : i64]} : () -> !t.tensor
  %axis = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %y = tfrt_dht_sync.create_uninitialized_tensor.i64.2 [1 : i64, 4 : i64]
  "tf_sync.ConcatV2.i64"(%axis, %a, %b, %y) : (i32, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  %twice = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [2], values = [2 : i32, 2 : i32]} : () -> !t.tensor
  %z = tfrt_dht_sync.create_uninitialized_tensor.i64.2 [2 : i64, 4 : i64]
  "tf_sync.Tile.i64"(%a, %twice, %z) : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %z
  %s = "tfrt_sht_sync.create_tensor"() {shape = [1 : i64, 2 : i64], values = ["a", "b"]} : () -> !t.tensor
  %t = "tfrt_sht_sync.create_uninitialized_tensor"() {shape = [2 : i64, 2 : i64]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %t
  "tf_sync.Tile.string"(%s, %t) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %t
  %x = "tfrt_sht_sync.create_tensor"() {shape = [], values = ["x"]} : () -> !t.tensor
  %u = "tfrt_sht_sync.create_uninitialized_tensor"() {shape = [3 : i64]} : () -> !t.tensor
  "tf_sync.Tile.string"(%x, %u) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %u
  tfrt.return
}

// CHECK: --- Running 'functions':
// CHECK-NEXT: values = [0.000000e+00, 0.000000e+00]
// CHECK-NEXT: values = [6.931472e-01, 6.931472e-01]
// CHECK-NEXT: values = [1.000000e+00, 1.000000e+00]
// CHECK-NEXT: values = [7.310586e-01, 7.310586e-01]
// CHECK-NEXT: values = [5.000000e-01, 5.000000e-01]
// CHECK-NEXT: values = [-6.931472e-01, -6.931472e-01]
func.func @functions() attributes {tfrt.sync} {
  %x = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1, 2], values = [1.0 : f32, 1.0 : f32]} : () -> !t.tensor
  %y = tfrt_dht_sync.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  "tf_sync.Log.f32"(%x, %y) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync.Log1p.f32"(%x, %y) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync.Rsqrt.f32"(%x, %y) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync.Sigmoid.f32"(%x, %y) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync.Softmax.f32"(%x, %y) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync.LogSoftmax.f32"(%x, %y) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  tfrt.return
}

// (1 2) (3 4)^T = 11; and so on.
// CHECK: --- Running 'products':
// CHECK-NEXT: shape = [1, 1], values = [1.100000e+01]
// CHECK-NEXT: shape = [1, 1], values = [6.000000e+00]
// CHECK-NEXT: shape = [1, 1], values = [0.000000e+00]
// CHECK-NEXT: 'products' returned <<error: cannot fuse 'Cosh' with a product>>
func.func @products() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1, 2], values = [1.0 : f32, 2.0 : f32]} : () -> !t.tensor
  %b = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1, 2], values = [3.0 : f32, 4.0 : f32]} : () -> !t.tensor
  %bias = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1], values = [-20.0 : f32]} : () -> !t.tensor
  %y = tfrt_dht_sync.create_uninitialized_tensor.f32.2 [1 : i64, 1 : i64]
  "tf_sync._FusedMatMul.f32"(%a, %b, %y) {fused_ops = [], transpose_a = false, transpose_b = true} : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync._FusedMatMul.f32"(%a, %b, %y) {fused_ops = ["Relu6"], transpose_a = false, transpose_b = true} : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync._FusedMatMul.f32"(%a, %b, %y, %bias) {fused_ops = ["BiasAdd", "Relu"], transpose_a = false, transpose_b = true} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %y
  "tf_sync._FusedMatMul.f32"(%a, %b, %y) {fused_ops = ["Cosh"], transpose_a = false, transpose_b = true} : (!t.tensor, !t.tensor, !t.tensor) -> ()
  tfrt.return
}
