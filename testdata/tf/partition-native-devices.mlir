// The devices of what dataflow control flow adds.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-lower-functional-ops)' | FileCheck %s --check-prefix=LOWER
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:3 policy=first},tf-lower-functional-ops,tf-partition{devices=CPU:3},verify-parts)' | FileCheck %s
// RUN: bef-exec %s --no-functionalize -O0 --devices CPU:3 --partition device --functions merges --input i32:4 --work-queue s | FileCheck %s --check-prefix=MERGES
// RUN: bef-exec %s --no-functionalize -O0 --devices CPU:3 --partition device --functions loop --input i32:4 --work-queue s | FileCheck %s --check-prefix=LOOP
// RUN: bef-exec %s --no-functionalize -O2 --devices CPU:3 --partition device --functions merges --input i32:4 --seed 3 | FileCheck %s --check-prefix=MERGES
// RUN: bef-exec %s --no-functionalize -O2 --devices CPU:3 --partition device --functions loop --input i32:4 --seed 3 | FileCheck %s --check-prefix=LOOP

// Two merges in a row have nothing to do with the first device: they are where their values and readers are.
// CHECK-LABEL: func.func private @merges.CPU_2(
// CHECK-COUNT-2: = tf_executor.Merge
// CHECK-LABEL: func.func private @merges.CPU_0(
// CHECK-NOT: Merge
// CHECK-NOT: dev.send
// MERGES: 'merges' returned {{.*}}array(-16,
func.func @merges(%x: tensor<i32>) -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %five = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %y = "tf.Identity"(%x) {device = "/cpu:2"} : (tensor<i32>) -> tensor<i32>
    %p = "tf.Less"(%five, %y) {device = "/cpu:2"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %q = "tf.Less"(%y, %five) {device = "/cpu:2"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f, %t = tf_executor.Switch %y, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %ff, %ft = tf_executor.Switch %f, %q : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %a = "tf.Neg"(%ff) {device = "/cpu:2"} : (tensor<i32>) -> tensor<i32>
    %b = "tf.Square"(%ft) {device = "/cpu:1"} : (tensor<i32>) -> tensor<i32>
    %c = "tf.Abs"(%t) {device = "/cpu:2"} : (tensor<i32>) -> tensor<i32>
    %m, %i = tf_executor.Merge %a, %b : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %n, %j = tf_executor.Merge %m, %c : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %z = "tf.Neg"(%n) {device = "/cpu:1"} : (tensor<i32>) -> tensor<i32>
    tf_executor.fetch %z : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// What constants of a body wait for is on the device of the loop: it does not cross.
// LOWER-LABEL: func.func @loop(
// LOWER: %[[LIVE:.*]]:2 = "tf.Identity"(%{{.*}}) {device = "/cpu:2"} : (tensor<i32>) -> (tensor<i32>, !tfrt.chain)
// LOWER: "tf.Const"(%[[LIVE]]#1)
// CHECK-LABEL: func.func private @loop.CPU_2(
// CHECK: tf_executor.graph
// CHECK-NOT: dev.recv
// CHECK: "tf.AddV2"
// LOOP: 'loop' returned {{.*}}array(12,
func.func @loop(%x: tensor<i32>) -> tensor<i32> {
  %y = "tf.Identity"(%x) {device = "/cpu:2"} : (tensor<i32>) -> tensor<i32>
  %r = "tf.While"(%y) {cond = @below, body = @next, device = "/cpu:2"} : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}

func.func private @below(%i: tensor<i32>) -> tensor<i1> {
  %ten = "tf.Const"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
  %less = "tf.Less"(%i, %ten) {device = "/cpu:2"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %less : tensor<i1>
}

func.func private @next(%i: tensor<i32>) -> tensor<i32> {
  %four = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %n = "tf.AddV2"(%i, %four) {device = "/cpu:2"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %n : tensor<i32>
}
