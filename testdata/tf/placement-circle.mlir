// Two calls, each of which has an op on the other's resource inside: their groups end on one device.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=list})' | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=greedy})' | FileCheck %s

// CHECK: shared_name = "v"{{.*}}device:CPU:[[DEVICE:[01]]]
// CHECK: shared_name = "w"{{.*}}device:CPU:[[DEVICE]]
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v", colocate = ["a"]} : () -> tensor<!tf_type.resource>
  %w = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "w", colocate = ["b"]} : () -> tensor<!tf_type.resource>
  %y = "tf.StatefulPartitionedCall"(%x) {f = @f, colocate = ["a"]} : (tensor<f32>) -> tensor<f32>
  %z = "tf.StatefulPartitionedCall"(%x) {f = @g, colocate = ["b"]} : (tensor<f32>) -> tensor<f32>
  func.return %y, %z : tensor<f32>, tensor<f32>
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  %w = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "w"} : () -> tensor<!tf_type.resource>
  %r = "tf.ReadVariableOp"(%w) : (tensor<!tf_type.resource>) -> tensor<f32>
  %y = "tf.AddV2"(%x, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}
func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  %r = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  %y = "tf.AddV2"(%x, %r) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}
