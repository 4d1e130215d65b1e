// Effects in dataflow control flow: control edges order them, and an effect on a way that is not taken does
// not happen.
//
// RUN: ir-opt %s --tf-lower-functional-ops | FileCheck %s
// RUN: bef-exec %s --pass-pipeline="builtin.module(tf-lower-functional-ops,tf-executor-to-kernels,tf-to-kernels)" --functions count --work-queue s 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --pass-pipeline="builtin.module(tf-lower-functional-ops,tf-executor-to-kernels,tf-to-kernels)" --functions count --seed 4 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --pass-pipeline="builtin.module(tf-lower-functional-ops,tf-functionalize-control-flow,tf-outline-regions,tf-to-kernels)" --functions count --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=EXEC

// The loop waits for the effect in front of it, an iteration for those of the one before, and what is behind
// the loop for its end.
// CHECK-LABEL: func.func @count
// CHECK: tf_executor.graph
// CHECK: %[[BEFORE:.*]] = "tf.PrintV2"
// CHECK: tf_executor.Enter %{{.*}}, %[[BEFORE]] frame
// CHECK: %[[EVEN:.*]] = "tf.PrintV2"
// CHECK: "tf.Identity"(%{{.*}}, %[[EVEN]])
// CHECK: %[[STEP:.*]]:2 = tf_executor.Merge
// CHECK: %[[DONE:.*]]:2 = "tf.Identity"(%[[STEP]]#0)
// CHECK: tf_executor.NextIteration.Sink {{.*}}, %[[DONE]]#1 :
// CHECK: %[[END:.*]]:2 = tf_executor.Exit
// CHECK: "tf.PrintV2"(%{{.*}}, %[[END]]#1)
// EXEC: before
// EXEC-NEXT: odd
// EXEC-NEXT: even
// EXEC-NEXT: odd
// EXEC-NEXT: after
// EXEC-LABEL: 'count' returned array(3,
func.func @count() -> tensor<i32> {
  %before = "tf.Const"() {value = dense<"before"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%before) {output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %true = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %r:2 = "tf.While"(%zero, %true) {cond = @again, body = @step} : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i1>)
  %after = "tf.Const"() {value = dense<"after"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%after) {output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  func.return %r#0 : tensor<i32>
}

func.func private @again(%i: tensor<i32>, %odd: tensor<i1>) -> tensor<i1> {
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %less = "tf.Less"(%i, %three) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %less : tensor<i1>
}

func.func private @step(%i: tensor<i32>, %odd: tensor<i1>) -> (tensor<i32>, tensor<i1>) {
  "tf.If"(%odd) {then_branch = @says_odd, else_branch = @says_even} : (tensor<i1>) -> ()
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %even = "tf.LogicalNot"(%odd) : (tensor<i1>) -> tensor<i1>
  func.return %next, %even : tensor<i32>, tensor<i1>
}

func.func private @says_odd() {
  %text = "tf.Const"() {value = dense<"odd"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%text) {output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  func.return
}

func.func private @says_even() {
  %text = "tf.Const"() {value = dense<"even"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%text) {output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  func.return
}

// An effect that does not happen, since what it waits for fails, is an error of the function's results, as with
// functions.
// RUN: not bef-exec %s --pass-pipeline="builtin.module(tf-lower-functional-ops,tf-executor-to-kernels,tf-to-kernels)" --functions skipped --input i32:9 --work-queue s 2>&1 | FileCheck %s --check-prefix=SKIPPED
// RUN: not bef-exec %s --pass-pipeline="builtin.module(tf-lower-functional-ops,tf-executor-to-kernels,tf-to-kernels)" --functions skipped --input i32:9 --seed 4 2>&1 | FileCheck %s --check-prefix=SKIPPED
// RUN: not bef-exec %s -O0 --functions skipped --input i32:9 2>&1 | FileCheck %s --check-prefix=SKIPPED
// SKIPPED: 'skipped' returned <<error: {{.*}}9 is not in [0, 2){{.*}}>>
// CHECK-LABEL: func.func private @fails
// CHECK: %[[END:.*]]:2 = tf_executor.Exit
// CHECK: tf_executor.fetch %{{.*}}, %[[END]]#1 : tensor<i32>, !tfrt.chain
func.func @skipped(%i: tensor<i32>) -> tensor<i32> {
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  "tf.AssignVariableOp"(%v, %one) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %n = "tf.StatefulPartitionedCall"(%i, %v) {f = @fails} : (tensor<i32>, tensor<!tf_type.resource>) -> tensor<i32>
  func.return %n : tensor<i32>
}

func.func private @fails(%i: tensor<i32>, %v: tensor<!tf_type.resource>) -> tensor<i32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %table = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %a:2 = "tf.GatherV2"(%table, %i, %zero) : (tensor<2xf32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, !tfrt.chain)
  %r:2 = "tf.While"(%zero, %v, %a#1) {cond = @never, body = @doubles} : (tensor<i32>, tensor<!tf_type.resource>, !tfrt.chain) -> (tensor<i32>, tensor<!tf_type.resource>)
  func.return %zero : tensor<i32>
}

func.func private @never(%i: tensor<i32>, %v: tensor<!tf_type.resource>) -> tensor<i1> {
  %less = "tf.Less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %less : tensor<i1>
}

func.func private @doubles(%i: tensor<i32>, %v: tensor<!tf_type.resource>) -> (tensor<i32>, tensor<!tf_type.resource>) {
  %x = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  %y = "tf.AddV2"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "tf.AssignVariableOp"(%v, %y) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  func.return %i, %v : tensor<i32>, tensor<!tf_type.resource>
}

// So it is for what comes behind the call, though it reads none of its results.
// RUN: not bef-exec %s --pass-pipeline="builtin.module(tf-lower-functional-ops,tf-executor-to-kernels,tf-to-kernels)" --functions behind --input i32:9 --work-queue s 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not bef-exec %s --pass-pipeline="builtin.module(tf-lower-functional-ops,tf-executor-to-kernels,tf-to-kernels)" --functions behind --input i32:9 --seed 4 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not bef-exec %s -O0 --functions behind --input i32:9 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: 'behind' returned <<error: {{.*}}9 is not in [0, 2){{.*}}>>
// CHECK-LABEL: func.func @behind
func.func @behind(%i: tensor<i32>) -> tensor<f32> {
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "w"} : () -> tensor<!tf_type.resource>
  "tf.AssignVariableOp"(%v, %one) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %large = "tf.Less"(%two, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  "tf.If"(%large, %i, %v) {then_branch = @calls, else_branch = @does_not} : (tensor<i1>, tensor<i32>, tensor<!tf_type.resource>) -> ()
  %x = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  func.return %x : tensor<f32>
}

func.func private @calls(%i: tensor<i32>, %v: tensor<!tf_type.resource>) {
  %n = "tf.StatefulPartitionedCall"(%i, %v) {f = @fails} : (tensor<i32>, tensor<!tf_type.resource>) -> tensor<i32>
  func.return
}

func.func private @does_not(%i: tensor<i32>, %v: tensor<!tf_type.resource>) {
  func.return
}
