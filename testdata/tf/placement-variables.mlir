// A variable of 4,000 bytes, in two functions the same one.
// RUN: not ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2{memory=3kB}})' 2>&1 | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2{memory=5kB}})' -o /dev/null
// CHECK: error[E1005]: the program does not fit into memory: /job:localhost/replica:0/task:0/device:CPU:0 needs 4{{[0-9]+}} bytes and has 3000
// CHECK: variables
func.func @main() -> tensor<f32> {
  %i = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<1000>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  %x = "tf.ResourceGather"(%v, %i) : (tensor<!tf_type.resource>, tensor<i32>) -> tensor<f32>
  tfrt.return %x : tensor<f32>
}
func.func @again() -> tensor<f32> {
  %i = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<1000>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  %x = "tf.ResourceGather"(%v, %i) : (tensor<!tf_type.resource>, tensor<i32>) -> tensor<f32>
  tfrt.return %x : tensor<f32>
}
