// A recv has the simulated start of its first reader: that of the op, of the op that calls the reader's function, or
// the end of the program for a result. They are the times that `tf-simulate` computes for the same devices.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2{overhead=1us} policy=first},tf-partition{devices=CPU:2{overhead=1us}},verify-parts)' | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2{overhead=1us} policy=first},tf-partition{devices=CPU:2{overhead=1us}},verify-parts)' | ir-opt | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2{overhead=1us} policy=first},tf-simulate{devices=CPU:2{overhead=1us}})' 2>&1 | FileCheck %s --check-prefix=SIM
// RUN: bef-exec %s -O0 --devices CPU:2 --partition device --input f32:0.5 | FileCheck %s --check-prefix=EXEC

// %a ends at 1 us and arrives 1 us later. The comparison behind it ends at 4 us.
// SIM: makespan 6.0 us
// CHECK-LABEL: func.func private @main.CPU_1(
// CHECK: dev.recv {{.*}} {start = 2000 : i64} : tensor<f32>
// CHECK-LABEL: func.func private @main.CPU_0(
// CHECK: %[[B:.*]]:2 = dev.recv {{.*}} {start = 4002 : i64} : tensor<f32>, tensor<i1>
// CHECK: "tf.If"(%[[B]]#1
// EXEC: 'main' returned
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %a = "tf.Sin"(%x) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  %b = "tf.Cos"(%a) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %p = "tf.Less"(%b, %zero) {device = "/cpu:1"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r = "tf.If"(%p, %b) {then_branch = @then, else_branch = @else, device = "/cpu:1"} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @then(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Neg"(%x) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @else(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Square"(%x) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
