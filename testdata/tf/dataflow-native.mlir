// Dataflow control flow run natively: dead values, frames as functions that are instantiated per iteration.
//
// RUN: ir-opt %s --tf-executor-to-kernels | FileCheck %s
// RUN: ir-opt %s --tf-functionalize-control-flow | FileCheck %s --check-prefix=KEPT
// RUN: bef-exec %s --pass-pipeline="builtin.module(tf-executor-to-kernels,tf-to-kernels)" --work-queue s 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --pass-pipeline="builtin.module(tf-executor-to-kernels,tf-to-kernels)" --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --pass-pipeline="builtin.module(tf-executor-to-kernels,tf-to-kernels)" --seed 5 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --no-functionalize -O2 --work-queue s 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --no-functionalize -O2 --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --no-functionalize -O2 --seed 7 2>&1 | FileCheck %s --check-prefix=EXEC

// Each value goes one way; what is on the other one is dead, and does not run.
// CHECK-LABEL: func.func @conditional
// CHECK: "tf._Switch"{{.*}}is_loop_cond = false
// CHECK: "tf._Merge"(%{{.*}}, %{{.*}}) {bef.nonstrict
// CHECK: "tf._IndexTensor"
// EXEC-LABEL: 'conditional' returned
// EXEC-SAME: array(10,
// EXEC-SAME: array(1,
func.func @conditional() -> (tensor<i32>, tensor<i32>) {
  %r:2 = tf_executor.graph -> (tensor<i32>, tensor<i32>) {
    %p = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
    %x = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %a = "tf.Neg"(%f) : (tensor<i32>) -> tensor<i32>
    %b = "tf.AddV2"(%t, %t) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %m, %i = tf_executor.Merge %a, %b : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m, %i : tensor<i32>, tensor<i32>
  }
  func.return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// A control edge carries deadness: the constant is dead on the way that is not taken.
// EXEC-LABEL: 'edges' returned
// EXEC-SAME: array(1,
func.func @edges() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %p = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
    %f, %t = tf_executor.Switch %p, %p : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
    %if, %cf = "tf.Identity"(%f) : (tensor<i1>) -> (tensor<i1>, !tfrt.chain)
    %it, %ct = "tf.Identity"(%t) : (tensor<i1>) -> (tensor<i1>, !tfrt.chain)
    %one = "tf.Const"(%cf) {value = dense<1> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
    %two = "tf.Const"(%ct) {value = dense<2> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
    %m, %i = tf_executor.Merge %two, %one : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// A Merge waits for its control edges, and runs though one is dead; so does a ControlTrigger.
// EXEC-LABEL: 'trigger' returned
// EXEC-SAME: array(7,
// EXEC-SAME: array(8,
func.func @trigger() -> (tensor<i32>, tensor<i32>) {
  %r:2 = tf_executor.graph -> (tensor<i32>, tensor<i32>) {
    %p = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
    %x = "tf.Const"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %it, %ct = "tf.Identity"(%t) : (tensor<i32>) -> (tensor<i32>, !tfrt.chain)
    %m, %i = tf_executor.Merge %f, %t, %ct : (tensor<i32>, tensor<i32>, !tfrt.chain) -> (tensor<i32>, tensor<i32>)
    %done = tf_executor.ControlTrigger %ct : (!tfrt.chain) -> !tfrt.chain
    %eight = "tf.Const"(%done) {value = dense<8> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
    tf_executor.fetch %m, %eight : tensor<i32>, tensor<i32>
  }
  func.return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// The sum of the numbers below 5; the Merge's number is 0 in the first iteration only. A loop of functions has no
// such number.
// KEPT-LABEL: func.func @sum()
// KEPT: tf_executor.NextIteration.Sink
// CHECK-LABEL: func.func private @sum_w(
// CHECK-SAME: -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, i1) attributes {tf_executor.frame = "loop"}
// CHECK: "tf._Switch"{{.*}}is_loop_cond = true
// CHECK: "tf._IsLive"
// CHECK-LABEL: func.func @sum()
// CHECK-SAME: tf_executor.frame = "graph"
// CHECK: "tf._Dead"
// CHECK: tfrt.while {{.*}} @sum_w(
// CHECK-SAME: parallel_iterations(10)
// CHECK: "tf._Fetch"
// EXEC-LABEL: 'sum' returned
// EXEC-SAME: array(10,
// EXEC-SAME: array(1,
func.func @sum() -> (tensor<i32>, tensor<i32>) {
  %r:2 = tf_executor.graph -> (tensor<i32>, tensor<i32>) {
    %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %five = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %l = tf_executor.Enter %five frame "w" constant true : (tensor<i32>) -> tensor<i32>
    %ei = tf_executor.Enter %zero frame "w" : (tensor<i32>) -> tensor<i32>
    %es = tf_executor.Enter %zero frame "w" : (tensor<i32>) -> tensor<i32>
    %ni, %ti = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %ns, %ts = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %i, %from = tf_executor.Merge %ei, %ni : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %s, %from2 = tf_executor.Merge %es, %ns : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %less = "tf.Less"(%i, %l) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %di, %gi = tf_executor.Switch %i, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %ds, %gs = tf_executor.Switch %s, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %df, %gf = tf_executor.Switch %from, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %one = "tf.OnesLike"(%gi) : (tensor<i32>) -> tensor<i32>
    %next = "tf.AddV2"(%gi, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %sum = "tf.AddV2"(%gs, %gi) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink %ti, %next : (!tf_executor.token, tensor<i32>) -> ()
    tf_executor.NextIteration.Sink %ts, %sum : (!tf_executor.token, tensor<i32>) -> ()
    %x = tf_executor.Exit %ds : (tensor<i32>) -> tensor<i32>
    %y = tf_executor.Exit %df : (tensor<i32>) -> tensor<i32>
    tf_executor.fetch %x, %y : tensor<i32>, tensor<i32>
  }
  func.return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// A loop that only dead values enter does not run, and its Exit is dead.
// EXEC-LABEL: 'entered_dead' returned
// EXEC-SAME: array(3,
func.func @entered_dead() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %p = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
    %x = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %e = tf_executor.Enter %t frame "never" : (tensor<i32>) -> tensor<i32>
    %n, %token = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %i, %from = tf_executor.Merge %e, %n : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %more = "tf.Less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c = tf_executor.LoopCond %more : (tensor<i1>) -> tensor<i1>
    %d, %g = tf_executor.Switch %i, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    tf_executor.NextIteration.Sink %token, %g : (!tf_executor.token, tensor<i32>) -> ()
    %out = tf_executor.Exit %d : (tensor<i32>) -> tensor<i32>
    %m, %which = tf_executor.Merge %f, %out : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// An Exit delivers the value of the iteration in which it is live, here the third of five.
// EXEC-LABEL: 'early_exit' returned
// EXEC-SAME: array(2,
// EXEC-SAME: array(5,
func.func @early_exit() -> (tensor<i32>, tensor<i32>) {
  %r:2 = tf_executor.graph -> (tensor<i32>, tensor<i32>) {
    %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %five = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %l = tf_executor.Enter %five frame "w" constant true : (tensor<i32>) -> tensor<i32>
    %l2 = tf_executor.Enter %two frame "w" constant true : (tensor<i32>) -> tensor<i32>
    %e = tf_executor.Enter %zero frame "w" : (tensor<i32>) -> tensor<i32>
    %n, %token = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %i, %from = tf_executor.Merge %e, %n : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %less = "tf.Less"(%i, %l) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %d, %g = tf_executor.Switch %i, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %is_two = "tf.Equal"(%g, %l2) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %no, %yes = tf_executor.Switch %g, %is_two : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %one = "tf.OnesLike"(%g) : (tensor<i32>) -> tensor<i32>
    %next = "tf.AddV2"(%g, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink %token, %next : (!tf_executor.token, tensor<i32>) -> ()
    %x = tf_executor.Exit %yes : (tensor<i32>) -> tensor<i32>
    %y = tf_executor.Exit %d : (tensor<i32>) -> tensor<i32>
    tf_executor.fetch %x, %y : tensor<i32>, tensor<i32>
  }
  func.return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// The error of a condition leaves the loop; its body does not run again.
// EXEC-LABEL: 'bad_condition' returned <<error:
// EXEC-SAME: >>
func.func @bad_condition() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %size = "tf.Const"() {value = dense<[3]> : tensor<1xi32>} : () -> tensor<1xi32>
    %s = tf_executor.Enter %size frame "w" constant true : (tensor<1xi32>) -> tensor<1xi32>
    %e = tf_executor.Enter %zero frame "w" : (tensor<i32>) -> tensor<i32>
    %n, %token = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %i, %from = tf_executor.Merge %e, %n : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %three = "tf.Reshape"(%i, %s) : (tensor<i32>, tensor<1xi32>) -> tensor<*xi32>
    %less = "tf.Less"(%three, %three) : (tensor<*xi32>, tensor<*xi32>) -> tensor<i1>
    %c = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %d, %g = tf_executor.Switch %i, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    tf_executor.NextIteration.Sink %token, %g : (!tf_executor.token, tensor<i32>) -> ()
    %x = tf_executor.Exit %d : (tensor<i32>) -> tensor<i32>
    tf_executor.fetch %x : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// An error is a live value: it goes the way that the predicate names, and nowhere else.
// EXEC-LABEL: 'error_on_its_way' returned {{.*}}array(1,
func.func @error_on_its_way() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %p = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
    %x = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %size = "tf.Const"() {value = dense<[3]> : tensor<1xi32>} : () -> tensor<1xi32>
    %bad = "tf.Reshape"(%x, %size) : (tensor<i32>, tensor<1xi32>) -> tensor<*xi32>
    %f, %t = tf_executor.Switch %bad, %p : (tensor<*xi32>, tensor<i1>) -> (tensor<*xi32>, tensor<*xi32>)
    %m, %which = tf_executor.Merge %f, %t : (tensor<*xi32>, tensor<*xi32>) -> (tensor<*xi32>, tensor<i32>)
    tf_executor.fetch %which : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// EXEC-LABEL: 'fetches_dead' returned <<error: 'way' is dead: control flow did not come to it, so it has no value
func.func @fetches_dead() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %p = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
    %x = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %y = "tf.Neg"(%f) : (tensor<i32>) -> tensor<i32> loc("way")
    tf_executor.fetch %y : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// An island lives or dies as one, though its constant has no operand.
// EXEC-LABEL: 'island' returned
// EXEC-SAME: array(4,
func.func @island() -> tensor<i32> {
  %r = tf_executor.graph -> tensor<i32> {
    %p = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
    %x = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %f, %t = tf_executor.Switch %x, %p : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %a = tf_executor.island -> tensor<i32> {
      %n = "tf.Neg"(%t) : (tensor<i32>) -> tensor<i32>
      %nine = "tf.Const"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
      tf_executor.yield %nine : tensor<i32>
    }
    %m, %which = tf_executor.Merge %a, %f : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    tf_executor.fetch %m : tensor<i32>
  }
  func.return %r : tensor<i32>
}
