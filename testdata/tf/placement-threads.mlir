// Estimates: unknown sizes, threads, what crosses.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 print})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2{threads=4} print})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2},tf-simulate{devices=CPU:2})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LINKS

// The unknown dimension counts as 1: 2 * 512^3 operations, 20 in a nanosecond. Four threads share them, and run
// short ops beside each other.
// ONE: `tf.BatchMatMulV2` {{.*}} 0.0 us  134{{[0-9.]+}} us
// ONE: `tf.Tan` {{.*}} 0.0 us  0.2 us
// ONE: `tf.Exp` {{.*}} 0.2 us  0.4 us
// ONE: device:CPU:0: 2 operators, busy 134{{[0-9.]+}} us, peak {{[0-9]+}} bytes, in 4 bytes, out 0 bytes
// ONE: device:CPU:1: 3 operators, busy 0.6 us, peak {{[0-9]+}} bytes, in 0 bytes, out 4 bytes
// ONE: makespan 134{{[0-9.]+}} us, lower bound 134{{[0-9.]+}} us, critical path 134{{[0-9.]+}} us, 4 bytes cross
// FOUR: `tf.BatchMatMulV2` {{.*}} 0.0 us  33{{[0-9.]+}} us
// FOUR: `tf.Tan` {{.*}} 0.0 us  0.2 us
// FOUR: `tf.Exp` {{.*}} 0.0 us  0.2 us
// LINKS: makespan {{[0-9.]+}} us, lower bound {{[0-9.]+}} us, critical path {{[0-9.]+}} us, 4 bytes cross
// LINKS-NEXT: /job:localhost/replica:0/task:0/device:CPU:1 to /job:localhost/replica:0/task:0/device:CPU:0: 4 bytes
func.func @main(%x: tensor<?x512x512xf32>, %s: tensor<f32>) -> (tensor<?x512x512xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %y = "tf.BatchMatMulV2"(%x, %x) {device = "/cpu:0"} : (tensor<?x512x512xf32>, tensor<?x512x512xf32>) -> tensor<?x512x512xf32>
  %a = "tf.Tan"(%s) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  %b = "tf.Exp"(%s) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  %c = "tf.Log"(%s) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  %d = "tf.Cos"(%a) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %y, %b, %c, %d : tensor<?x512x512xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}
