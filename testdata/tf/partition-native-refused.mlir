// Graphs of primitives that cannot be divided.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2,SIM:1},tf-partition{devices=CPU:2,SIM:1})' --split-input-file --verify-diagnostics
// RUN: not ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2,SIM:1},tf-transfers{devices=CPU:2,SIM:1})' --split-input-file 2>&1 | FileCheck %s
// CHECK: error[E1008]: `tf.Neg` of a graph of primitives cannot run on /job:localhost/replica:0/task:0/device:SIM:0: it reads other memory

func.func @memory(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %r = tf_executor.graph -> tensor<f32> {
    %f, %t = tf_executor.Switch %x, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
    // expected-error @+1 {{`tf.Neg` of a graph of primitives cannot run on /job:localhost/replica:0/task:0/device:SIM:0: it reads other memory}}
    %a = "tf.Neg"(%f) {device = "/device:SIM:0"} : (tensor<f32>) -> tensor<f32>
    %m, %i = tf_executor.Merge %a, %t : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    tf_executor.fetch %m : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// -----

// A loop that nothing ends: the parts would not know how often to go round.
func.func @endless(%x: tensor<f32>) -> tensor<f32> {
  %r = tf_executor.graph -> tensor<f32> {
    // expected-error @+1 {{enters a loop with 0 LoopConds, which cannot be divided}}
    %e = tf_executor.Enter %x frame "w" : (tensor<f32>) -> tensor<f32>
    %n, %token = tf_executor.NextIteration.Source : () -> (tensor<f32>, !tf_executor.token)
    %m, %i = tf_executor.Merge %e, %n : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    %a = "tf.Neg"(%m) {device = "/device:CPU:0"} : (tensor<f32>) -> tensor<f32>
    %b = "tf.Abs"(%a) {device = "/device:CPU:1"} : (tensor<f32>) -> tensor<f32>
    tf_executor.NextIteration.Sink %token, %b : (!tf_executor.token, tensor<f32>) -> ()
    %s = "tf.AsString"(%b) {device = "/device:CPU:1"} : (tensor<f32>) -> tensor<!tf_type.string>
    "tf.PrintV2"(%s) {device = "/device:CPU:1"} : (tensor<!tf_type.string>) -> ()
    %y = "tf.Neg"(%x) {device = "/device:CPU:0"} : (tensor<f32>) -> tensor<f32>
    tf_executor.fetch %y : tensor<f32>
  }
  func.return %r : tensor<f32>
}
