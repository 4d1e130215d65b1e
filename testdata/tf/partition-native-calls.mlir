// Calls, effects and handles in divided graphs with dataflow control flow.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts)' | FileCheck %s
// RUN: bef-exec %s --no-functionalize -O0 --devices CPU:2 --partition device --work-queue s 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --no-functionalize -O2 --devices CPU:2 --partition device --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --no-functionalize -O1 --devices CPU:2 --partition device --seed 3 2>&1 | FileCheck %s --check-prefix=EXEC

// The function of the way that is not taken prints nothing, on a part that takes none of the arguments.
// CHECK-LABEL: func.func private @call_of_the_dead.CPU_1(
// CHECK: %[[GATE:.*]] = dev.recv {{.*}} : !tfrt.chain
// CHECK: %[[STEP:.*]] = dev.enter %{{.*}} if %[[GATE]] {bef.frame = "call#1"}
// CHECK: "tf.StatefulPartitionedCall"(%[[STEP]]) <{f = @says.CPU_1}>
// EXEC-LABEL: --- Running 'call_of_the_dead'
// EXEC-NOT: said no
// EXEC: said yes
// EXEC-NOT: said no
// EXEC: 'call_of_the_dead' returned
// EXEC-SAME: array(5,
func.func private @says(%x: tensor<i32>) -> tensor<i32> {
  %text = "tf.Const"() {value = dense<"said no"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%text) {device = "/cpu:1", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  %y = "tf.Neg"(%x) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
  func.return %y : tensor<i32>
}
func.func private @says_yes(%x: tensor<i32>) -> tensor<i32> {
  %text = "tf.Const"() {value = dense<"said yes"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%text) {device = "/cpu:1", output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  %y = "tf.Abs"(%x) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
  func.return %y : tensor<i32>
}
func.func @call_of_the_dead() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %five = "tf.Const"() {value = dense<-5> : tensor<i32>} : () -> tensor<i32>
    %x = "tf.Identity"(%five) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
    %p = "tf.Less"(%x, %x) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %a = "tf.StatefulPartitionedCall"(%t) {f = @says} : (tensor<i32>) -> tensor<i32>
    %b = "tf.StatefulPartitionedCall"(%f) {f = @says_yes} : (tensor<i32>) -> tensor<i32>
    %m, %i = tf_executor.Merge %a, %b : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// Of two control edges, one of which is dead, another op waits for the other one alone.
// CHECK-LABEL: func.func private @signals.CPU_1(
// CHECK: %[[DEAD:.*]] = dev.recv {{.*}} : !tfrt.chain
// CHECK: %[[LIVE:.*]] = dev.recv {{.*}} : !tfrt.chain
// CHECK: "tf.Neg"(%{{.*}}, %[[DEAD]], %[[LIVE]])
// CHECK: "tf.Square"(%{{.*}}, %[[LIVE]])
// EXEC-LABEL: 'signals' returned
// EXEC-SAME: array(9,
func.func @signals() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %x = "tf.Identity"(%three) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
    %p = "tf.Less"(%x, %x) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %u, %dead = "tf.Identity"(%t) {device = "/cpu:0"} : (tensor<i32>) -> (tensor<i32>, !tfrt.chain)
    %v, %live = "tf.Identity"(%f) {device = "/cpu:0"} : (tensor<i32>) -> (tensor<i32>, !tfrt.chain)
    %a = "tf.Neg"(%three, %dead, %live) {device = "/cpu:1"} : (tensor<i32>, !tfrt.chain, !tfrt.chain) -> tensor<i32>
    %b = "tf.Square"(%three, %live) {device = "/cpu:1"} : (tensor<i32>, !tfrt.chain) -> tensor<i32>
    %m, %i = tf_executor.Merge %a, %b : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// A call in a loop of one part needs the step of the iteration.
// CHECK-LABEL: func.func private @call_in_a_loop.CPU_0(
// CHECK: dev.enter %{{.*}} {bef.frame = "l#{{[0-9]+}}"}
// CHECK: dev.next
// CHECK: tf_executor.NextIteration.Sink
// EXEC-LABEL: 'call_in_a_loop' returned
// EXEC-SAME: array(16,
func.func private @doubled(%x: tensor<i32>) -> tensor<i32> {
  %y = "tf.AddV2"(%x, %x) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %y : tensor<i32>
}
func.func @call_in_a_loop() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %ten = "tf.Const"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
    %limit = tf_executor.Enter %ten frame "l" constant true : (tensor<i32>) -> tensor<i32>
    %x0 = tf_executor.Enter %one frame "l" : (tensor<i32>) -> tensor<i32>
    %nx, %tx = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %x, %from = tf_executor.Merge %x0, %nx : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %less = "tf.Less"(%x, %limit) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %go = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %last, %x1 = tf_executor.Switch %x, %go : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %x2 = "tf.PartitionedCall"(%x1) {device = "/cpu:0", f = @doubled} : (tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink %tx, %x2 : (!tf_executor.token, tensor<i32>) -> ()
    %e = tf_executor.Exit %last : (tensor<i32>) -> tensor<i32>
    %r = "tf.Identity"(%e) {device = "/cpu:1"} : (tensor<i32>) -> tensor<i32>
    tf_executor.fetch %r : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// The second graph assigns after the loop of the first one. What passes a handle on is where its variable is.
// CHECK-LABEL: func.func private @counts.CPU_1(
// CHECK: tf_executor.Switch %{{.*}} {device = "{{.*}}CPU:1"} : (tensor<!tf_type.resource>
// CHECK-LABEL: func.func private @counts.CPU_0(
// EXEC-LABEL: 'graphs_in_order' returned
// EXEC-SAME: array(-7,
func.func private @counts(%v: tensor<!tf_type.resource>) {
  tf_executor.graph {
    %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %ten = "tf.Const"() {value = dense<100> : tensor<i32>} : () -> tensor<i32>
    %limit = tf_executor.Enter %ten frame "c" constant true : (tensor<i32>) -> tensor<i32>
    %i0 = tf_executor.Enter %zero frame "c" : (tensor<i32>) -> tensor<i32>
    %v0 = tf_executor.Enter %v frame "c" : (tensor<!tf_type.resource>) -> tensor<!tf_type.resource>
    %ni, %ti = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %nv, %tv = tf_executor.NextIteration.Source : () -> (tensor<!tf_type.resource>, !tf_executor.token)
    %i, %from0 = tf_executor.Merge %i0, %ni : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %w, %from1 = tf_executor.Merge %v0, %nv : (tensor<!tf_type.resource>, tensor<!tf_type.resource>) -> (tensor<!tf_type.resource>, tensor<i32>)
    %less = "tf.Less"(%i, %limit) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %go = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %last, %i1 = tf_executor.Switch %i, %go : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %unused, %v1 = tf_executor.Switch %w, %go : (tensor<!tf_type.resource>, tensor<i1>) -> (tensor<!tf_type.resource>, tensor<!tf_type.resource>)
    %done = "tf.AssignVariableOp"(%v1, %i1) : (tensor<!tf_type.resource>, tensor<i32>) -> !tfrt.chain
    %one = "tf.Const"(%done) {value = dense<1> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
    %i2 = "tf.AddV2"(%i1, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink %ti, %i2 : (!tf_executor.token, tensor<i32>) -> ()
    tf_executor.NextIteration.Sink %tv, %v1 : (!tf_executor.token, tensor<!tf_type.resource>) -> ()
    tf_executor.fetch
  }
  func.return
}
func.func private @assigns(%v: tensor<!tf_type.resource>, %x: tensor<i32>) {
  tf_executor.graph {
    %p = "tf.Less"(%x, %x) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %done = "tf.AssignVariableOp"(%v, %f) : (tensor<!tf_type.resource>, tensor<i32>) -> !tfrt.chain
    tf_executor.fetch
  }
  func.return
}
func.func @graphs_in_order() -> tensor<i32> {
  %x = "tf.Const"() {value = dense<-7> : tensor<i32>} : () -> tensor<i32>
  %v = "tf.VarHandleOp"() {device = "/cpu:1", dtype = i32, shape = #tf_type.shape<>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  "tf.StatefulPartitionedCall"(%v) {f = @counts} : (tensor<!tf_type.resource>) -> ()
  "tf.StatefulPartitionedCall"(%v, %x) {f = @assigns} : (tensor<!tf_type.resource>, tensor<i32>) -> ()
  %r = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<i32>
  func.return %r : tensor<i32>
}

// An island waits for a value of the other part: what it does not read crosses as a signal. A call without ops
// in any part is dead with its operand, and so is what waits for it.
// EXEC-LABEL: 'islands' returned
// EXEC-SAME: array(4,
func.func private @nothing(%x: tensor<i32>) {
  func.return
}
func.func @islands() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %four = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %x = "tf.Identity"(%four) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
    %p = "tf.Less"(%x, %x) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %done = "tf.PartitionedCall"(%t) {f = @nothing} : (tensor<i32>) -> !tfrt.chain
    %a = "tf.Neg"(%four, %done) {device = "/cpu:1"} : (tensor<i32>, !tfrt.chain) -> tensor<i32>
    %b = tf_executor.island -> tensor<i32> {
      %u = "tf.Neg"(%f) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
      %w = "tf.Abs"(%four) {device = "/cpu:1"} : (tensor<i32>) -> tensor<i32>
      tf_executor.yield %w : tensor<i32>
    }
    %c = tf_executor.island -> tensor<i32> {
      %u = "tf.Neg"(%t) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
      %w = "tf.Square"(%four) {device = "/cpu:1"} : (tensor<i32>) -> tensor<i32>
      tf_executor.yield %w : tensor<i32>
    }
    %m, %i = tf_executor.Merge %a, %b, %c : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// What reads a variable after a call waits for the effects of the call, not for the op of another part that fails.
// EXEC-LABEL: 'reads_after_a_failure' returned
// EXEC-SAME: array(6,{{.*}}<<error: {{.*}}7 is not in
func.func private @writes_and_fails(%v: tensor<!tf_type.resource>, %x: tensor<i32>) -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %p = "tf.Less"(%x, %x) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %done = "tf.AssignVariableOp"(%v, %f) : (tensor<!tf_type.resource>, tensor<i32>) -> !tfrt.chain
    %table = "tf.Const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
    %seven = "tf.Const"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
    %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %no = "tf.GatherV2"(%table, %seven, %axis) {device = "/cpu:1"} : (tensor<2xi32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.fetch %no : tensor<i32>
  }
  func.return %r : tensor<i32>
}
func.func @reads_after_a_failure() -> (tensor<i32>, tensor<i32>) {
  %x = "tf.Const"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
  %v = "tf.VarHandleOp"() {device = "/cpu:0", dtype = i32, shape = #tf_type.shape<>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  %r:2 = tf_executor.graph -> (tensor<i32>, tensor<i32>) {
    %no, %done = "tf.StatefulPartitionedCall"(%v, %x) {f = @writes_and_fails} : (tensor<!tf_type.resource>, tensor<i32>) -> (tensor<i32>, !tfrt.chain)
    %read = "tf.ReadVariableOp"(%v, %done) : (tensor<!tf_type.resource>, !tfrt.chain) -> tensor<i32>
    tf_executor.fetch %read, %no : tensor<i32>, tensor<i32>
  }
  func.return %r#0, %r#1 : tensor<i32>, tensor<i32>
}
