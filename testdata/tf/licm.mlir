// What is the same in every iteration is computed before the loop, by way of loops in loops too.
//
// RUN: ir-opt %s --tf-loop-invariant-code-motion | FileCheck %s
// RUN: ir-translate -O0 %s -o %t.0 && bef-exec %t.0 | FileCheck %s --check-prefix=GIVES
// RUN: ir-translate -O2 %s -o %t.2 && bef-exec %t.2 | FileCheck %s --check-prefix=GIVES
// RUN: bef-exec %t.2 --work-queue mstd:2 | FileCheck %s --check-prefix=GIVES

// GIVES-LABEL: 'main' returned
// GIVES-SAME: array([ 6., 12.]
// CHECK-LABEL: func.func @main
func.func @main() -> tensor<2xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %sum = "tf.Const"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  // Of the inner loop's work all that hangs on %x only; not the variable's, nor what it reads.
  // CHECK: %[[TWO:.*]] = "tf.Const"() <{value = dense<2.000000e+00>
  // CHECK: %[[TWICE:.*]] = "tf.Mul"(%{{.*}}, %[[TWO]])
  // CHECK: %[[NEG:.*]] = "tf.Neg"(%[[TWICE]])
  // CHECK: "tf.While"(%{{.*}}, %{{.*}}, %{{.*}}, %[[TWICE]], %[[NEG]]) <{body = @outer, cond = @outer_less
  %0:3 = "tf.While"(%zero, %x, %sum) {body = @outer, cond = @outer_less} : (tensor<i32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>)
  tfrt.return %0#2 : tensor<2xf32>
}

// CHECK: func.func private @outer_less(%{{.*}}: tensor<i32>, %{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xf32>) -> tensor<i1>
func.func private @outer_less(%i: tensor<i32>, %x: tensor<2xf32>, %sum: tensor<2xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %0 : tensor<i1>
}

// CHECK: func.func private @outer(%{{.*}}: tensor<i32>, %{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xf32>, %[[TWICE:.*]]: tensor<2xf32>, %[[NEG:.*]]: tensor<2xf32>)
// CHECK-NOT: "tf.Mul"
// CHECK: "tf.While"(%{{.*}}, %{{.*}}, %{{.*}}, %[[TWICE]], %[[NEG]]) <{body = @inner
func.func private @outer(%i: tensor<i32>, %x: tensor<2xf32>, %sum: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %same = "tf.Identity"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %0:3 = "tf.While"(%zero, %same, %sum) {body = @inner, cond = @inner_less} : (tensor<i32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>)
  tfrt.return %next, %same, %0#2 : tensor<i32>, tensor<2xf32>, tensor<2xf32>
}

func.func private @inner_less(%i: tensor<i32>, %x: tensor<2xf32>, %sum: tensor<2xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %0 : tensor<i1>
}

// Even iterations add twice x and odd ones its negative three times less.
// CHECK: func.func private @inner(
// CHECK-NOT: "tf.Neg"
// CHECK: "tf.SelectV2"
func.func private @inner(%i: tensor<i32>, %x: tensor<2xf32>, %sum: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %twice = "tf.Mul"(%x, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %neg = "tf.Neg"(%twice) : (tensor<2xf32>) -> tensor<2xf32>
  %first = "tf.Equal"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %more = "tf.SelectV2"(%first, %twice, %neg) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %half = "tf.AddV2"(%more, %twice) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %part = "tf.Div"(%half, %two) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %new = "tf.AddV2"(%sum, %part) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %next, %x, %new : tensor<i32>, tensor<2xf32>, tensor<2xf32>
}

// A loop without an iteration: what would fail stays where it is.
// GIVES-LABEL: 'nothing' returned
// GIVES-SAME: array([1., 2.]
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: "tf.Reshape"
// CHECK: "tf.While"
func.func @nothing() -> tensor<2xf32> {
  %n = "tf.Const"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Const"() {value = dense<[3, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0:3 = "tf.While"(%n, %x, %shape) {body = @fails, cond = @never} : (tensor<i32>, tensor<2xf32>, tensor<2xi32>) -> (tensor<i32>, tensor<2xf32>, tensor<2xi32>)
  tfrt.return %0#1 : tensor<2xf32>
}

func.func private @never(%i: tensor<i32>, %x: tensor<2xf32>, %shape: tensor<2xi32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %0 : tensor<i1>
}

func.func private @fails(%i: tensor<i32>, %x: tensor<2xf32>, %shape: tensor<2xi32>) -> (tensor<i32>, tensor<2xf32>, tensor<2xi32>) {
  %wrong = "tf.Reshape"(%x, %shape) : (tensor<2xf32>, tensor<2xi32>) -> tensor<*xf32>
  %size = "tf.Size"(%wrong) : (tensor<*xf32>) -> tensor<i32>
  %next = "tf.AddV2"(%i, %size) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %next, %x, %shape : tensor<i32>, tensor<2xf32>, tensor<2xi32>
}

// Functions that somebody else calls, or may call, keep their arguments.
// GIVES-LABEL: 'shared' returned
// GIVES-SAME: array(4,
// CHECK-LABEL: func.func @shared
// CHECK-NOT: "tf.Exp"
// CHECK: "tf.While"(%{{.*}}, %{{.*}}) <{body = @both
func.func @shared() -> tensor<i32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0:2 = "tf.While"(%zero, %x) {body = @both, cond = @both_less} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %1:2 = "tf.StatefulPartitionedCall"(%0#0, %x) {f = @both} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  tfrt.return %1#0 : tensor<i32>
}

func.func private @both_less(%i: tensor<i32>, %x: tensor<f32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %0 : tensor<i1>
}

func.func private @both(%i: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %one = "tf.Exp"(%x) : (tensor<f32>) -> tensor<f32>
  %step = "tf.Cast"(%one) : (tensor<f32>) -> tensor<i32>
  %next = "tf.AddV2"(%i, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %next, %x : tensor<i32>, tensor<f32>
}
