// What passes a value on to another device takes the type of the call's operand.
// RUN: ir-opt %s --pass-pipeline='builtin.module(inline{dialect=tf})' | FileCheck %s
// CHECK-LABEL: func.func @transferred(
// CHECK: dev.transfer %arg0 to "D" : tensor<2xf32>
func.func @transferred(%x: tensor<2xf32>) -> tensor<*xf32> {
  %y = "tf.PartitionedCall"(%x) {f = @transfers} : (tensor<2xf32>) -> tensor<*xf32>
  tfrt.return %y : tensor<*xf32>
}
func.func private @transfers(%x: tensor<*xf32>) -> tensor<*xf32> {
  %y = dev.transfer %x to "D" : tensor<*xf32>
  %z = "tf.Neg"(%y) : (tensor<*xf32>) -> tensor<*xf32>
  tfrt.return %z : tensor<*xf32>
}
