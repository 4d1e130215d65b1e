// Options of placement and partition.

// With one device the same bytes as without any.
// RUN: ir-translate %s -o %t.bef && ir-translate %s --devices CPU:1 -o %t.one.bef && cmp %t.bef %t.one.bef
// RUN: ir-translate %s --devices CPU:1 --partition device --place greedy -o %t.one.bef && cmp %t.bef %t.one.bef
// RUN: ir-translate %s -O0 -o %t.bef && ir-translate %s -O0 --devices CPU:1 -o %t.one.bef && cmp %t.bef %t.one.bef

// An iteration of the loop is 10 times in the estimate, or as often as one says.
// RUN: ir-translate %s --devices CPU:2 --place first --print-placement -o %t.bef 2>&1 | FileCheck %s --check-prefix=TEN
// RUN: ir-translate %s --devices CPU:2 --place first --assume-trips 1000 --print-placement -o %t.bef 2>&1 | FileCheck %s --check-prefix=MANY
// TEN: `tf.While` {{.*}} 0.2 us {{ *}}6.{{[0-9]}} us
// MANY: `tf.While` {{.*}} 0.2 us {{ *}}60{{[0-9]}}.{{[0-9]}} us

// Divided, whatever the policy.
// RUN: ir-translate %s --devices CPU:2 --place greedy --partition device --to mlir | FileCheck %s --check-prefix=PARTS
// RUN: ir-translate %s --devices CPU:2 --place list --partition device --to mlir | FileCheck %s --check-prefix=PARTS
// PARTS-DAG: @main.CPU_0
// PARTS-DAG: @main.CPU_1
// RUN: bef-exec %s --devices CPU:2 --place greedy --partition device --input f32[4]:1,2,3,4 | FileCheck %s --check-prefix=RESULT
// RUN: bef-exec %s --devices CPU:2 --place list --partition device --input f32[4]:1,2,3,4 | FileCheck %s --check-prefix=RESULT
// RUN: bef-exec %s --input f32[4]:1,2,3,4 | FileCheck %s --check-prefix=RESULT
// RESULT: 'main' returned array([

// Between tasks as f16.
// RUN: ir-translate %s --devices CPU:1,/job:w/CPU:2 --partition worker --wire f16 --to mlir | FileCheck %s --check-prefix=WIRE
// RUN: ir-translate %s --devices CPU:1,/job:w/CPU:2 --partition worker --to mlir | FileCheck %s --check-prefix=PLAIN
// WIRE: dev.send {{.*}}tensor<4xf16>
// PLAIN-NOT: f16
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "tf.Sin"(%x) {device = "/device:CPU:*"} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "tf.Cos"(%x) {device = "/device:*:1"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tf.While"(%a) {cond = @cond, body = @body} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "tf.AddV2"(%y, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %c : tensor<4xf32>
}
func.func private @cond(%x: tensor<4xf32>) -> tensor<i1> {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %limit = "tf.Const"() {value = dense<1.0e3> : tensor<f32>} : () -> tensor<f32>
  %sum = "tf.Sum"(%x, %axis) : (tensor<4xf32>, tensor<i32>) -> tensor<f32>
  %p = "tf.Less"(%sum, %limit) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Mul"(%x, %two) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  tfrt.return %y : tensor<4xf32>
}
