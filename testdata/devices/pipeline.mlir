// A network in three stages over 16 micro-batches of 22 pictures. Where its operators run is the placement's to say.
// RUN: ir-translate %s --devices CPU:2 --print-placement -o %t.bef 2>&1 | FileCheck %s
// CHECK: device:CPU:0: {{[1-9][0-9]*}} operators
// CHECK: device:CPU:1: {{[1-9][0-9]*}} operators
func.func @main(%x: tensor<360x64xf32>) -> tensor<352x64xf32> {
  %w1 = "tf.Const"() {value = dense<0.011> : tensor<64x256xf32>} : () -> tensor<64x256xf32>
  %w2 = "tf.Const"() {value = dense<-0.013> : tensor<256x256xf32>} : () -> tensor<256x256xf32>
  %w3 = "tf.Const"() {value = dense<0.017> : tensor<256x64xf32>} : () -> tensor<256x64xf32>
  %size = "tf.Const"() {value = dense<[22, 64]> : tensor<2xi32>} : () -> tensor<2xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>

  %at0 = "tf.Const"() {value = dense<[0, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x0 = "tf.Slice"(%x, %at0, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a0 = "tf.MatMul"(%x0, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b0 = "tf.Tanh"(%a0) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c0 = "tf.MatMul"(%b0, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d0 = "tf.Tanh"(%c0) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e0 = "tf.MatMul"(%d0, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y0 = "tf.Tanh"(%e0) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at1 = "tf.Const"() {value = dense<[22, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x1 = "tf.Slice"(%x, %at1, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a1 = "tf.MatMul"(%x1, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b1 = "tf.Tanh"(%a1) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c1 = "tf.MatMul"(%b1, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d1 = "tf.Tanh"(%c1) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e1 = "tf.MatMul"(%d1, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y1 = "tf.Tanh"(%e1) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at2 = "tf.Const"() {value = dense<[44, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x2 = "tf.Slice"(%x, %at2, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a2 = "tf.MatMul"(%x2, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b2 = "tf.Tanh"(%a2) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c2 = "tf.MatMul"(%b2, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d2 = "tf.Tanh"(%c2) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e2 = "tf.MatMul"(%d2, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y2 = "tf.Tanh"(%e2) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at3 = "tf.Const"() {value = dense<[66, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x3 = "tf.Slice"(%x, %at3, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a3 = "tf.MatMul"(%x3, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b3 = "tf.Tanh"(%a3) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c3 = "tf.MatMul"(%b3, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d3 = "tf.Tanh"(%c3) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e3 = "tf.MatMul"(%d3, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y3 = "tf.Tanh"(%e3) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at4 = "tf.Const"() {value = dense<[88, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x4 = "tf.Slice"(%x, %at4, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a4 = "tf.MatMul"(%x4, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b4 = "tf.Tanh"(%a4) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c4 = "tf.MatMul"(%b4, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d4 = "tf.Tanh"(%c4) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e4 = "tf.MatMul"(%d4, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y4 = "tf.Tanh"(%e4) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at5 = "tf.Const"() {value = dense<[110, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x5 = "tf.Slice"(%x, %at5, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a5 = "tf.MatMul"(%x5, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b5 = "tf.Tanh"(%a5) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c5 = "tf.MatMul"(%b5, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d5 = "tf.Tanh"(%c5) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e5 = "tf.MatMul"(%d5, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y5 = "tf.Tanh"(%e5) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at6 = "tf.Const"() {value = dense<[132, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x6 = "tf.Slice"(%x, %at6, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a6 = "tf.MatMul"(%x6, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b6 = "tf.Tanh"(%a6) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c6 = "tf.MatMul"(%b6, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d6 = "tf.Tanh"(%c6) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e6 = "tf.MatMul"(%d6, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y6 = "tf.Tanh"(%e6) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at7 = "tf.Const"() {value = dense<[154, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x7 = "tf.Slice"(%x, %at7, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a7 = "tf.MatMul"(%x7, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b7 = "tf.Tanh"(%a7) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c7 = "tf.MatMul"(%b7, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d7 = "tf.Tanh"(%c7) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e7 = "tf.MatMul"(%d7, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y7 = "tf.Tanh"(%e7) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at8 = "tf.Const"() {value = dense<[176, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x8 = "tf.Slice"(%x, %at8, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a8 = "tf.MatMul"(%x8, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b8 = "tf.Tanh"(%a8) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c8 = "tf.MatMul"(%b8, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d8 = "tf.Tanh"(%c8) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e8 = "tf.MatMul"(%d8, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y8 = "tf.Tanh"(%e8) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at9 = "tf.Const"() {value = dense<[198, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x9 = "tf.Slice"(%x, %at9, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a9 = "tf.MatMul"(%x9, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b9 = "tf.Tanh"(%a9) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c9 = "tf.MatMul"(%b9, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d9 = "tf.Tanh"(%c9) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e9 = "tf.MatMul"(%d9, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y9 = "tf.Tanh"(%e9) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at10 = "tf.Const"() {value = dense<[220, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x10 = "tf.Slice"(%x, %at10, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a10 = "tf.MatMul"(%x10, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b10 = "tf.Tanh"(%a10) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c10 = "tf.MatMul"(%b10, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d10 = "tf.Tanh"(%c10) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e10 = "tf.MatMul"(%d10, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y10 = "tf.Tanh"(%e10) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at11 = "tf.Const"() {value = dense<[242, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x11 = "tf.Slice"(%x, %at11, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a11 = "tf.MatMul"(%x11, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b11 = "tf.Tanh"(%a11) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c11 = "tf.MatMul"(%b11, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d11 = "tf.Tanh"(%c11) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e11 = "tf.MatMul"(%d11, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y11 = "tf.Tanh"(%e11) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at12 = "tf.Const"() {value = dense<[264, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x12 = "tf.Slice"(%x, %at12, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a12 = "tf.MatMul"(%x12, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b12 = "tf.Tanh"(%a12) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c12 = "tf.MatMul"(%b12, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d12 = "tf.Tanh"(%c12) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e12 = "tf.MatMul"(%d12, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y12 = "tf.Tanh"(%e12) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at13 = "tf.Const"() {value = dense<[286, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x13 = "tf.Slice"(%x, %at13, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a13 = "tf.MatMul"(%x13, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b13 = "tf.Tanh"(%a13) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c13 = "tf.MatMul"(%b13, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d13 = "tf.Tanh"(%c13) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e13 = "tf.MatMul"(%d13, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y13 = "tf.Tanh"(%e13) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at14 = "tf.Const"() {value = dense<[308, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x14 = "tf.Slice"(%x, %at14, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a14 = "tf.MatMul"(%x14, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b14 = "tf.Tanh"(%a14) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c14 = "tf.MatMul"(%b14, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d14 = "tf.Tanh"(%c14) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e14 = "tf.MatMul"(%d14, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y14 = "tf.Tanh"(%e14) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %at15 = "tf.Const"() {value = dense<[330, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x15 = "tf.Slice"(%x, %at15, %size) : (tensor<360x64xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<22x64xf32>
  %a15 = "tf.MatMul"(%x15, %w1) : (tensor<22x64xf32>, tensor<64x256xf32>) -> tensor<22x256xf32>
  %b15 = "tf.Tanh"(%a15) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %c15 = "tf.MatMul"(%b15, %w2) : (tensor<22x256xf32>, tensor<256x256xf32>) -> tensor<22x256xf32>
  %d15 = "tf.Tanh"(%c15) : (tensor<22x256xf32>) -> tensor<22x256xf32>
  %e15 = "tf.MatMul"(%d15, %w3) : (tensor<22x256xf32>, tensor<256x64xf32>) -> tensor<22x64xf32>
  %y15 = "tf.Tanh"(%e15) : (tensor<22x64xf32>) -> tensor<22x64xf32>

  %y = "tf.ConcatV2"(%y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8, %y9, %y10, %y11, %y12, %y13, %y14, %y15, %axis) : (tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<22x64xf32>, tensor<i32>) -> tensor<352x64xf32>
  tfrt.return %y : tensor<352x64xf32>
}
