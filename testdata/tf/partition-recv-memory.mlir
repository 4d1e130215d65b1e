// A part that reads late: without a limit it receives everything at once, with one a recv waits for a reader.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts)' | FileCheck %s --check-prefix=ALL
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2 recv-memory=40},verify-parts)' | FileCheck %s
// RUN: bef-exec %s -O0 --devices CPU:2 --partition device --recv-memory 40 --work-queue s 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --recv-memory 40 --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --recv-memory 1 --seed 3 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: not bef-exec %s --devices CPU:2 --partition device --recv-memory 0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: invalid value '0' for '--recv-memory <BYTES>'

// ALL-NOT: after
// CHECK-LABEL: func.func private @main.CPU_1(
// CHECK: dev.recv in %{{.*}} channel
// CHECK: %[[A:.*]] = "tf.AddV2"
// CHECK: dev.recv in %{{.*}} channel
// CHECK: "tf.AddV2"
// CHECK: %[[READ:.*]] = tfrt.merge.chains %[[A]]
// CHECK: dev.recv in %{{.*}} after %[[READ]] channel
// EXEC-LABEL: 'main' returned
// EXEC-SAME: array([23., 23., 23., 23.]
func.func @main() -> tensor<4xf32> {
  %one = "tf.Const"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %a = "tf.AddV2"(%one, %one) {device = "/cpu:0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = "tf.AddV2"(%a, %a) {device = "/cpu:0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = "tf.AddV2"(%b, %b) {device = "/cpu:0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = "tf.AddV2"(%c, %b) {device = "/cpu:0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = "tf.AddV2"(%a, %one) {device = "/cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v = "tf.AddV2"(%u, %b) {device = "/cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %w = "tf.AddV2"(%v, %c) {device = "/cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %x = "tf.AddV2"(%w, %d) {device = "/cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "tf.Sub"(%x, %u) {device = "/cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = "tf.Sub"(%y, %one) {device = "/cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %z : tensor<4xf32>
}
