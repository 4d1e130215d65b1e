// Effects on several parts keep their order: a part waits for a signal before its own effect, and for the last
// one of an iteration before the next iteration's.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-partition{devices=CPU:2},verify-parts)' | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-partition{devices=CPU:2},verify-parts)' | ir-opt | FileCheck %s
// RUN: bef-exec %s --devices CPU:2 --partition device -O0 --functions lines --work-queue s | FileCheck %s --check-prefix=LINES
// RUN: bef-exec %s --devices CPU:2 --partition device -O0 --functions lines --seed 3 | FileCheck %s --check-prefix=LINES
// RUN: bef-exec %s --devices CPU:2 --partition device -O2 --functions lines --work-queue mstd:2 | FileCheck %s --check-prefix=LINES
// RUN: bef-exec %s --devices CPU:2 --partition device -O0 --functions loop --input i32:2 --seed 1 | FileCheck %s --check-prefix=LOOP
// RUN: bef-exec %s --devices CPU:2 --partition device -O2 --functions loop --input i32:2 --seed 2 | FileCheck %s --check-prefix=LOOP
// RUN: bef-exec %s --devices CPU:2 --partition device -O2 --functions loop --input i32:2 --work-queue mstd:2 | FileCheck %s --check-prefix=LOOP

// CHECK-LABEL: func.func private @lines.CPU_1(
// CHECK: "tf.PrintV2"
// CHECK: %[[DONE:.*]] = dev.fence()
// CHECK: dev.send %[[DONE]] in %arg0 channel [[A:[0-9]+]]
// CHECK: %[[AFTER:.*]] = dev.recv in %arg0 channel [[B:[0-9]+]]
// CHECK: dev.fence(%[[AFTER]])
// CHECK: "tf.PrintV2"
// CHECK-LABEL: func.func private @lines.CPU_0(
// CHECK: %[[AFTER:.*]] = dev.recv in %arg0 channel [[A]]
// CHECK: dev.fence(%[[AFTER]])
// CHECK: "tf.PrintV2"
// CHECK: "tf.PrintV2"
// CHECK: %[[DONE:.*]] = dev.fence()
// CHECK: dev.send %[[DONE]] in %arg0 channel [[B]]

// LINES: {{^}}a{{$}}
// LINES-NEXT: {{^}}b{{$}}
// LINES-NEXT: {{^}}c{{$}}
// LINES-NEXT: {{^}}d{{$}}
func.func @lines() {
  %a = "tf.Const"() {value = dense<"a"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %b = "tf.Const"() {value = dense<"b"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %c = "tf.Const"() {value = dense<"c"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %d = "tf.Const"() {value = dense<"d"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%a) {device = "/job:localhost/replica:0/task:0/device:CPU:1", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  "tf.PrintV2"(%b) {device = "/job:localhost/replica:0/task:0/device:CPU:0", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  "tf.PrintV2"(%c) {device = "/job:localhost/replica:0/task:0/device:CPU:0", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  "tf.PrintV2"(%d) {device = "/job:localhost/replica:0/task:0/device:CPU:1", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  tfrt.return
}

// LOOP: {{^}}a{{$}}
// LOOP-NEXT: {{^}}b{{$}}
// LOOP-NEXT: {{^}}c{{$}}
// LOOP-NEXT: {{^}}a{{$}}
// LOOP-NEXT: {{^}}b{{$}}
// LOOP-NEXT: {{^}}c{{$}}
// LOOP-NEXT: {{^}}a{{$}}
// LOOP-NEXT: {{^}}d{{$}}
func.func @loop(%n: tensor<i32>) -> tensor<i32> {
  %d = "tf.Const"() {value = dense<"d"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:2 = "tf.While"(%zero, %n) {cond = @cond, body = @body} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  "tf.PrintV2"(%d) {device = "/job:localhost/replica:0/task:0/device:CPU:1", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  tfrt.return %r#0 : tensor<i32>
}
func.func private @cond(%i: tensor<i32>, %n: tensor<i32>) -> tensor<i1> {
  %a = "tf.Const"() {value = dense<"a"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%a) {device = "/job:localhost/replica:0/task:0/device:CPU:1", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  %p = "tf.Less"(%i, %n) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %b = "tf.Const"() {value = dense<"b"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %c = "tf.Const"() {value = dense<"c"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  "tf.PrintV2"(%b) {device = "/job:localhost/replica:0/task:0/device:CPU:0", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  "tf.PrintV2"(%c) {device = "/job:localhost/replica:0/task:0/device:CPU:1", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  %j = "tf.AddV2"(%i, %one) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %j, %n : tensor<i32>, tensor<i32>
}
