// One error lists all operations that ONNX does not have, with reasons; what calls itself has no form either.

// RUN: not ir-translate %s -O0 --to onnx -o %t.onnx 2>&1 | FileCheck %s
// CHECK: error[E1102]: operations that ONNX does not have: tf.Bitcast (1: 'raw'), tf.Print (2: 'p', 'q'), tf.StatelessIf: 'again' calls itself (1)

func.func @main(%x: tensor<2xf32>, %go: tensor<i1>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = "tf.Print"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("p")
  %1 = "tf.Print"(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("q")
  %2 = "tf.PartitionedCall"(%1, %go) {f = @again} : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  %raw = "tf.Bitcast"(%x) : (tensor<2xf32>) -> tensor<2xi32> loc("raw")
  func.return %2, %raw : tensor<2xf32>, tensor<2xi32>
}

func.func private @again(%x: tensor<2xf32>, %go: tensor<i1>) -> tensor<2xf32> {
  %0 = "tf.StatelessIf"(%go, %x, %go) {then_branch = @again, else_branch = @last} : (tensor<i1>, tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @last(%x: tensor<2xf32>, %go: tensor<i1>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
