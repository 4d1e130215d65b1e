// A control edge from a branch or a loop with effects waits for these: it is no error if a result is. Without
// effects it waits for the results. It is the same as one function, in parts, and with primitives.
//
// RUN: not bef-exec %s -O0 --input i32:7 --work-queue s | FileCheck %s
// RUN: not bef-exec %s -O2 --input i32:7 --work-queue mstd:2 | FileCheck %s
// RUN: not bef-exec %s -O0 --input i32:7 --devices CPU:2 --partition device --seed 1 | FileCheck %s
// RUN: not bef-exec %s -O2 --input i32:7 --devices CPU:2 --partition device --work-queue mstd:2 | FileCheck %s
// RUN: not bef-exec %s --devices CPU:2 --pass-pipeline="builtin.module(tf-place{devices=CPU:2},tf-lower-functional-ops,tf-executor-to-kernels,tf-to-kernels)" --input i32:7 --seed 2 | FileCheck %s
// RUN: not bef-exec %s --devices CPU:2 --pass-pipeline="builtin.module(tf-place{devices=CPU:2},tf-lower-functional-ops,tf-functionalize-control-flow,tf-outline-regions,tf-to-kernels)" --input i32:7 --work-queue s | FileCheck %s
// RUN: bef-exec %s -O0 --input i32:1 --devices CPU:2 --partition device --seed 1 | FileCheck %s --check-prefix=RIGHT
// RUN: bef-exec %s -O2 --input i32:1 --work-queue mstd:2 | FileCheck %s --check-prefix=RIGHT

// CHECK: {{^}}in the branch{{$}}
// CHECK-NEXT: {{^}}behind{{$}}
// CHECK-NEXT: 'main' returned array([1., 2.], {{.*}}),<<error: `GatherV2`: indices[] = 7
// RIGHT: {{^}}in the branch{{$}}
// RIGHT-NEXT: {{^}}behind{{$}}
// RIGHT-NEXT: 'main' returned array([1., 2.], {{.*}}array([1., 2.],
func.func @main(%i: tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %text = "tf.Const"() {value = dense<"behind"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %yes = "tf.Less"(%zero, %i) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r, %done = "tf.If"(%yes, %x, %i) {then_branch = @then, else_branch = @else} : (tensor<i1>, tensor<2xf32>, tensor<i32>) -> (tensor<f32>, !tfrt.chain)
  "tf.PrintV2"(%text) {device = "/cpu:0", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  %a = "tf.Identity"(%x, %done) {device = "/cpu:0"} : (tensor<2xf32>, !tfrt.chain) -> tensor<2xf32>
  %w:2, %ended = "tf.While"(%zero, %i) {cond = @cond, body = @body} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, !tfrt.chain)
  %b = "tf.Identity"(%x, %ended) {device = "/cpu:1"} : (tensor<2xf32>, !tfrt.chain) -> tensor<2xf32>
  tfrt.return %a, %b : tensor<2xf32>, tensor<2xf32>
}
func.func private @then(%x: tensor<2xf32>, %i: tensor<i32>) -> tensor<f32> {
  %text = "tf.Const"() {value = dense<"in the branch"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  "tf.PrintV2"(%text) {device = "/cpu:0", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  %y = "tf.GatherV2"(%x, %i, %zero) {device = "/cpu:1"} : (tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @else(%x: tensor<2xf32>, %i: tensor<i32>) -> tensor<f32> {
  %y = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @cond(%k: tensor<i32>, %i: tensor<i32>) -> tensor<i1> {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %p = "tf.Less"(%k, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%k: tensor<i32>, %i: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %two = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %n = "tf.AddV2"(%k, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.GatherV2"(%two, %i, %zero) {device = "/cpu:1"} : (tensor<2xi32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %n, %y : tensor<i32>, tensor<i32>
}
