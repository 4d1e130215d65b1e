// The division of graphs with dataflow control flow: each part has a graph of its own.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts)' | FileCheck %s
// RUN: bef-exec %s --no-functionalize -O0 --devices CPU:2 --partition device --work-queue s 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --no-functionalize -O2 --devices CPU:2 --partition device --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --no-functionalize -O2 --devices CPU:2 --partition device --seed 3 2>&1 | FileCheck %s --check-prefix=EXEC

// The sum of 0 + 1 + ... on the other device than the counter: the counter and the condition cross.
// CHECK-LABEL: func.func private @sum.CPU_1(
// CHECK: dev.enter %{{.*}} {bef.frame = "w#1"}
// CHECK: %[[C:.*]] = dev.recv
// CHECK: tf_executor.LoopCond %[[C]]
// CHECK-LABEL: func.func private @sum.CPU_0(
// CHECK: tf_executor.LoopCond
// CHECK: %[[F:.*]] = dev.enter %{{.*}} {bef.frame = "w#1"}
// CHECK: %[[E:.*]] = tf_executor.Enter %[[F]] frame "w"
// CHECK: %[[S:.*]]:2 = tf_executor.Merge %[[E]], %{{.*}} : (!dev.step, !dev.step) -> (!dev.step, tensor<i32>)
// CHECK: %[[GO:.*]]:2 = tf_executor.Switch %[[S]]#0
// CHECK: dev.next %[[GO]]#1
// CHECK: dev.send %{{.*}} in %[[S]]#0 channel {{[0-9]}}
// EXEC-LABEL: 'sum' returned
// EXEC-SAME: array(45,
func.func @sum() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %ten = "tf.Const"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
    %limit = tf_executor.Enter %ten frame "w" constant true : (tensor<i32>) -> tensor<i32>
    %i0 = tf_executor.Enter %zero frame "w" : (tensor<i32>) -> tensor<i32>
    %s0 = tf_executor.Enter %zero frame "w" : (tensor<i32>) -> tensor<i32>
    %ni, %ti = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %ns, %ts = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %i, %from0 = tf_executor.Merge %i0, %ni : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %s, %from1 = tf_executor.Merge %s0, %ns : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %less = "tf.Less"(%i, %limit) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %go = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %last, %i1 = tf_executor.Switch %i, %go : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %all, %s1 = tf_executor.Switch %s, %go : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %it, %live = "tf.Identity"(%i1) {device = "/cpu:0"} : (tensor<i32>) -> (tensor<i32>, !tfrt.chain)
    %one = "tf.Const"(%live) {value = dense<1> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
    %i2 = "tf.AddV2"(%it, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %s2 = "tf.AddV2"(%s1, %it) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink %ti, %i2 : (!tf_executor.token, tensor<i32>) -> ()
    tf_executor.NextIteration.Sink %ts, %s2 : (!tf_executor.token, tensor<i32>) -> ()
    %x = tf_executor.Exit %all : (tensor<i32>) -> tensor<i32>
    tf_executor.fetch %x : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// A conditional whose predicate and whose ways are on different devices: what is not taken crosses dead.
// EXEC-LABEL: 'conditional' returned
// EXEC-SAME: array(-10,
func.func @conditional() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %five = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %x = "tf.Neg"(%five) {device = "/cpu:1"} : (tensor<i32>) -> tensor<i32>
    %p = "tf.Less"(%x, %five) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %a = "tf.Square"(%f) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
    %b = "tf.AddV2"(%t, %t) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %m, %i = tf_executor.Merge %a, %b : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// A loop on both devices in a way that is not taken: one iteration of dead values, and the other way's value.
// EXEC-LABEL: 'dead_loop' returned
// EXEC-SAME: array(7,
func.func @dead_loop() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %no = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
    %seven = "tf.Const"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
    %f, %t = tf_executor.Switch %seven, %no : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %i0 = tf_executor.Enter %t frame "d" : (tensor<i32>) -> tensor<i32>
    %ni, %ti = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %i, %from0 = tf_executor.Merge %i0, %ni : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %less = "tf.Less"(%i, %i) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %go = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %last, %i1 = tf_executor.Switch %i, %go : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %i2 = "tf.AddV2"(%i1, %i1) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink %ti, %i2 : (!tf_executor.token, tensor<i32>) -> ()
    %x = tf_executor.Exit %last : (tensor<i32>) -> tensor<i32>
    %a = "tf.Neg"(%x) {device = "/cpu:1"} : (tensor<i32>) -> tensor<i32>
    %m, %n = tf_executor.Merge %a, %f : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m : tensor<i32>
  }
  func.return %r : tensor<i32>
}
