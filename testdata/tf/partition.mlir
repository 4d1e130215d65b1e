// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-partition{devices=CPU:2})' | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-partition{devices=CPU:2 only=CPU_1},symbol-dce)' | FileCheck %s --check-prefix=ONLY
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-partition{devices=CPU:2})' | ir-opt | FileCheck %s
// RUN: bef-exec %s --devices CPU:2 --partition device -O0 --functions chain --input f32[2]:1,4 | FileCheck %s --check-prefix=CHAIN
// RUN: bef-exec %s --devices CPU:2 --partition device -O2 --functions loop --input i32:5 --input f32:1 --work-queue s | FileCheck %s --check-prefix=LOOP
// RUN: bef-exec %s --devices CPU:2 --partition device -O0 --functions loop --input i32:5 --input f32:1 --seed 4 | FileCheck %s --check-prefix=LOOP
// RUN: bef-exec %s --devices CPU:2 -O0 --functions loop --input i32:5 --input f32:1 | FileCheck %s --check-prefix=LOOP
// RUN: not bef-exec %s --devices CPU:2 --partition device --functions fails --input i32:9 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: ir-translate %s --devices CPU:2 --partition device -o %t/
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t/parts.json
// RUN: ir-translate %t/CPU_1.bef | FileCheck %s --check-prefix=PART
// RUN: ir-translate %t/CPU_0.bef | FileCheck %s --check-prefix=PRUNED

// RUN: not ir-opt %s --pass-pipeline='builtin.module(tf-partition{devices=CPU:2 only=CPU_7})' 2>&1 | FileCheck %s --check-prefix=NO-PART
// NO-PART: error[E1007]: there is no such part
// NO-PART: the parts are CPU_0, CPU_1

// A value crosses once, to all of its readers; results end with the client.
// CHECK-LABEL: func.func @chain(
// CHECK: dev.parts(%arg0) {gives = {{.*}}, parts = [@chain.CPU_0, @chain.CPU_1], takes = {{.*}}}
// CHECK-LABEL: func.func private @chain.CPU_1(
// CHECK: %[[V:.*]] = dev.recv in %arg0 channel [[N:[0-9]+]] from "/job:localhost/replica:0/task:0/device:CPU:0"{{.*}} : tensor<2xf32>
// CHECK-NOT: dev.recv
// CHECK: "tf.Neg"(%[[V]])
// CHECK: "tf.AddV2"
// CHECK: dev.send
// CHECK-LABEL: func.func private @chain.CPU_0(
// CHECK: %[[S:.*]] = "tf.Sqrt"(%arg0)
// CHECK: dev.send %[[S]] in %arg1 channel [[N]] to "/job:localhost/replica:0/task:0/device:CPU:1" : tensor<2xf32>
// CHAIN: 'chain' returned array([0., 0.]
// JSON: "name": "CPU_0", "file": "CPU_0.bef", "functions": [{"name": "chain", "takes": [0], "gives": [0]}
// JSON: "name": "CPU_1", "file": "CPU_1.bef", "functions": [{"name": "chain", "takes": [], "gives": []}
// PART-LABEL: func.func @chain(%arg0: !dev.step)
// PART: dev.recv in %arg0
// What a part does not need is not in its file: the table of the other part's gather.
// PRUNED-NOT: tf.GatherV2
// PRUNED-NOT: dense<[1.
// ONLY-LABEL: func.func @chain(%arg0: !dev.step)
// ONLY-NOT: tf.Sqrt
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tf.Sqrt"(%x) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<2xf32>) -> tensor<2xf32>
  %b = "tf.Neg"(%a) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<2xf32>) -> tensor<2xf32>
  %c = "tf.AddV2"(%a, %b) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %c : tensor<2xf32>
}

// Each part has a loop of its own; whoever computes the condition sends it to the others.
// CHECK-LABEL: func.func private @loop.CPU_1(
// CHECK: %[[F:.*]] = dev.enter %{{.*}} {bef.frame = "[[FRAME:.*]]"}
// CHECK: "tf.While"({{.*}}%[[F]]){{.*}}@body.CPU_1
// CHECK-LABEL: func.func private @loop.CPU_0(
// CHECK: dev.enter %{{.*}} {bef.frame = "[[FRAME]]"}
// CHECK-LABEL: func.func private @cond.CPU_1(
// CHECK: dev.recv
// CHECK-LABEL: func.func private @body.CPU_1(
// CHECK: dev.next
// LOOP: 'loop' returned{{.*}}16
func.func @loop(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %zero = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %r:3 = "tf.While"(%zero, %n, %x) {cond = @cond, body = @body} : (tensor<i32>, tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<i32>, tensor<f32>)
  tfrt.return %r#2 : tensor<f32>
}
func.func private @cond(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<f32>) -> tensor<i1> {
  %p = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<i32>, tensor<f32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %j = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.AddV2"(%x, %x) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %j, %n, %y : tensor<i32>, tensor<i32>, tensor<f32>
}

// An error crosses as it is.
// FAILS: error: {{.*}}9 is not in [0, 2)
func.func @fails(%i: tensor<i32>) -> tensor<f32> {
  %t = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %a = "tf.GatherV2"(%t, %i, %axis) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  %b = "tf.Neg"(%a) : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}
