// An op that is replaced by its own operand does not move the op that makes it.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1,SIM:1 policy=first},tf-transfers{devices=CPU:1,SIM:1 last},tf-to-kernels)' | FileCheck %s
// RUN: bef-exec %s -O0 --devices CPU:1,SIM:1 2>&1 | FileCheck %s --check-prefix=EXEC

// CHECK-LABEL: func.func @read(
// CHECK: "tf.ReadVariableOp"
// CHECK-NOT: bef.device
// CHECK: "tf.Neg"
// EXEC: 'read' returned
// EXEC-SAME: array(-2.,
func.func @read() -> tensor<f32> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %v = "tf.VarHandleOp"() {device = "/cpu:0", dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  "tf.AssignVariableOp"(%v, %two) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %x, %read = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> (tensor<f32>, !tfrt.chain)
  %after = "tf.NoOp"(%read) {device = "/device:SIM:0"} : (!tfrt.chain) -> !tfrt.chain
  %y = "tf.Neg"(%x, %after) {device = "/cpu:0"} : (tensor<f32>, !tfrt.chain) -> tensor<f32>
  func.return %y : tensor<f32>
}
