// RUN: ir-opt %s --tf-functionalize-control-flow --split-input-file 2>&1 | FileCheck %s
// RUN: ir-opt %s --tf-functionalize-control-flow --split-input-file 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: ir-opt %s --tf-functionalize-control-flow --tf-outline-regions --tf-lower-functional-ops --tf-functionalize-control-flow --split-input-file 2>&1 | FileCheck %s --check-prefix=AGAIN

// Two Merges by one predicate are one conditional. The branch of true is the first region. A constant is no
// longer dead, so it waits for nothing.
// CHECK-LABEL: func.func @choose
// CHECK-SAME: %[[X:.*]]: tensor<f32>, %[[P:.*]]: tensor<i1>
// CHECK: %[[R:.*]]:2 = "tf.IfRegion"(%[[P]]) <{is_stateless = true}> ({
// CHECK: %[[E:.*]] = "tf.Exp"(%[[X]])
// CHECK: "tf.Yield"(%[[E]], %[[X]])
// CHECK: }, {
// CHECK: %[[TWO:.*]] = "tf.Const"() <{value = dense<2.0
// CHECK: %[[M:.*]] = "tf.Mul"(%[[X]], %[[TWO]])
// CHECK: "tf.Yield"(%[[X]], %[[M]])
// CHECK: return %[[R]]#0, %[[R]]#1
// AGAIN-LABEL: func.func @choose
// AGAIN-NOT: tf_executor
// AGAIN: "tf.IfRegion"
func.func @choose(%x: tensor<f32>, %p: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
  %0:2 = tf_executor.graph -> (tensor<f32>, tensor<f32>) {
    %f, %t = tf_executor.Switch %x, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %no, %yes = tf_executor.Switch %p, %p : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
    %pivot, %ch = "tf.Identity"(%no) : (tensor<i1>) -> (tensor<i1>, !tfrt.chain)
    %two = "tf.Const"(%ch) {value = dense<2.0> : tensor<f32>} : (!tfrt.chain) -> tensor<f32>
    %e = "tf.Exp"(%t) : (tensor<f32>) -> tensor<f32>
    %m = "tf.Mul"(%f, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %a, %i = tf_executor.Merge %f, %e : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    %b, %j = tf_executor.Merge %m, %t : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    tf_executor.fetch %a, %b : tensor<f32>, tensor<f32>
  }
  func.return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

// A loop with an invariant, which the regions capture.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[LIMIT:.*]]: tensor<i32>
// CHECK: %[[W:.*]] = "tf.WhileRegion"(%{{.*}}) <{parallel_iterations = 3 : i64}> ({
// CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i32>):
// CHECK-NEXT: %[[C:.*]] = "tf.Less"(%[[I]], %[[LIMIT]])
// CHECK-NEXT: "tf.Yield"(%[[C]])
// CHECK: ^bb0(%[[J:.*]]: tensor<i32>):
// CHECK: %[[ONE:.*]] = "tf.OnesLike"(%[[J]])
// CHECK: %[[N:.*]] = "tf.AddV2"(%[[J]], %[[ONE]])
// CHECK: "tf.Yield"(%[[N]])
// CHECK: return %[[W]]
// AGAIN-LABEL: func.func @sum
// AGAIN-NOT: tf_executor
// AGAIN: "tf.WhileRegion"
// AGAIN: parallel_iterations = 3
func.func @sum(%limit: tensor<i32>) -> tensor<i32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r = tf_executor.graph -> tensor<i32> {
    %next, %token = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %l = tf_executor.Enter %limit frame "w" constant true {parallel_iterations = 3 : i64} : (tensor<i32>) -> tensor<i32>
    %e = tf_executor.Enter %zero frame "w" {parallel_iterations = 3 : i64} : (tensor<i32>) -> tensor<i32>
    %i, %from = tf_executor.Merge %e, %next : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %less = "tf.Less"(%i, %l) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %done, %go = tf_executor.Switch %i, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %one = "tf.OnesLike"(%go) : (tensor<i32>) -> tensor<i32>
    %sum = "tf.AddV2"(%go, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tf_executor.NextIteration.Sink %token, %sum : (!tf_executor.token, tensor<i32>) -> ()
    %x = tf_executor.Exit %done : (tensor<i32>) -> tensor<i32>
    tf_executor.fetch %x : tensor<i32>
  }
  func.return %r : tensor<i32>
}

// -----

// The Merge is dead if p holds and q does not, so it is no conditional.
// REMARK: remark[E0513]: a graph stays dataflow control flow because of 'partly' (Merge): 'partly' (Merge) is not live under exactly one condition
// CHECK-LABEL: func.func @partly
// CHECK: tf_executor.Merge
func.func @partly(%x: tensor<f32>, %p: tensor<i1>, %q: tensor<i1>) -> tensor<f32> {
  %r = tf_executor.graph -> tensor<f32> {
    %f, %t = tf_executor.Switch %x, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %g, %u = tf_executor.Switch %t, %q : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %y, %i = tf_executor.Merge %f, %u : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>) loc("partly")
    tf_executor.fetch %y : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// -----

// The second conditional needs something outside of the first, and a value inside of it.
// CHECK-LABEL: func.func @twice
// CHECK: %[[A:.*]]:2 = "tf.IfRegion"(%arg1)
// CHECK: %[[S:.*]] = "tf.Sin"
// CHECK: "tf.Yield"(%{{.*}}, %[[S]])
// CHECK: %[[ZERO:.*]] = "tf.Const"() <{value = dense<0.0
// CHECK: "tf.Yield"(%{{.*}}, %[[ZERO]])
// CHECK: %[[T:.*]] = "tf.Tanh"(%[[A]]#0)
// CHECK: "tf.IfRegion"(%arg1)
// CHECK: "tf.Mul"(%[[T]], %[[A]]#1)
func.func @twice(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %r = tf_executor.graph -> tensor<f32> {
    %f, %t = tf_executor.Switch %x, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %s = "tf.Sin"(%t) : (tensor<f32>) -> tensor<f32>
    %e = "tf.Exp"(%s) : (tensor<f32>) -> tensor<f32>
    %a, %i = tf_executor.Merge %f, %e : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    %out = "tf.Tanh"(%a) : (tensor<f32>) -> tensor<f32>
    %g, %u = tf_executor.Switch %out, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %m = "tf.Mul"(%u, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %b, %j = tf_executor.Merge %g, %m : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    tf_executor.fetch %b : tensor<f32>
  }
  func.return %r : tensor<f32>
}
