// A variable that each iteration of a loop reads, and nothing in the loop writes, is read before the loop. The
// backward loop is given its value once, not kept in each iteration. A function with other callers is copied.
// A loop that may run no iteration keeps its read.
//
// RUN: ir-opt %s --tf-gradients | FileCheck %s
// RUN: ir-translate -O0 %s -o %t.0 && bef-exec %t.0 | FileCheck %s --check-prefix=GIVES
// RUN: ir-translate -O2 %s -o %t.2 && bef-exec %t.2 | FileCheck %s --check-prefix=GIVES
// RUN: bef-exec %t.2 --work-queue mstd:2 | FileCheck %s --check-prefix=GIVES

// x * w^3 for x = 5 and w = 2: its derivative by w is 3 x w^2.
// GIVES-LABEL: 'main' returned
// GIVES-SAME: array(60., shape=(), dtype=float32)
// GIVES-SAME: array(40., shape=(), dtype=float32)

// CHECK-LABEL: func.func @main
// CHECK: "tf.AssignVariableOp"
// CHECK: %[[W:.*]] = "tf.ReadVariableOp"
// CHECK: "tf.While"(%{{.*}}, %{{.*}}, %{{.*}}, %[[W]], %{{.*}})
func.func @main() -> (tensor<f32>, tensor<f32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<5.0> : tensor<f32>} : () -> tensor<f32>
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %w = "tf.VarHandleOp"() {shared_name = "w", dtype = f32, shape = #tf_type.shape<>} : () -> tensor<!tf_type.resource>
  "tf.AssignVariableOp"(%w, %two) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %0:3 = "tf.While"(%zero, %x, %w) {body = @body, cond = @less} : (tensor<i32>, tensor<f32>, tensor<!tf_type.resource>) -> (tensor<i32>, tensor<f32>, tensor<!tf_type.resource>)
  %dw = "tf._Gradients"(%0#1, %w) {operandSegmentSizes = array<i32: 1, 0, 1, 0>} : (tensor<f32>, tensor<!tf_type.resource>) -> tensor<f32>
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %y = "tf.PartitionedCall"(%n, %w) {f = @some} : (tensor<i32>, tensor<!tf_type.resource>) -> tensor<f32>
  tfrt.return %dw, %y : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @some
// CHECK-NOT: "tf.ReadVariableOp"
// CHECK: "tf.While"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{body = @body_n
func.func @some(%n: tensor<i32>, %w: tensor<!tf_type.resource>) -> tensor<f32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<5.0> : tensor<f32>} : () -> tensor<f32>
  %0:4 = "tf.While"(%zero, %n, %x, %w) {body = @body_n, cond = @less_n} : (tensor<i32>, tensor<i32>, tensor<f32>, tensor<!tf_type.resource>) -> (tensor<i32>, tensor<i32>, tensor<f32>, tensor<!tf_type.resource>)
  tfrt.return %0#2 : tensor<f32>
}

func.func private @less(%i: tensor<i32>, %x: tensor<f32>, %w: tensor<!tf_type.resource>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %0 : tensor<i1>
}

func.func private @body(%i: tensor<i32>, %x: tensor<f32>, %w: tensor<!tf_type.resource>) -> (tensor<i32>, tensor<f32>, tensor<!tf_type.resource>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %now = "tf.ReadVariableOp"(%w) : (tensor<!tf_type.resource>) -> tensor<f32>
  %y = "tf.Mul"(%x, %now) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %next, %y, %w : tensor<i32>, tensor<f32>, tensor<!tf_type.resource>
}

func.func private @less_n(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<f32>, %w: tensor<!tf_type.resource>) -> tensor<i1> {
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %0 : tensor<i1>
}

func.func private @body_n(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<f32>, %w: tensor<!tf_type.resource>) -> (tensor<i32>, tensor<i32>, tensor<f32>, tensor<!tf_type.resource>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %now = "tf.ReadVariableOp"(%w) : (tensor<!tf_type.resource>) -> tensor<f32>
  %y = "tf.Mul"(%x, %now) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %next, %n, %y, %w : tensor<i32>, tensor<i32>, tensor<f32>, tensor<!tf_type.resource>
}
