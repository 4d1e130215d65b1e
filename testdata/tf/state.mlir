// Operators with state and those of lists: variables outlive what made them, lists are values, assertions fail with what they were given.
//
// RUN: bef-exec %s 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec -O2 %s --work-queue mstd:2 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --init-function variable --functions again 2>/dev/null | FileCheck %s --check-prefix=AGAIN

// CHECK-LABEL: --- Running 'list':
// CHECK-NEXT: 'list' returned
// CHECK-NEXT: array({{\[\[}}1., 2.],
// CHECK-NEXT: [1., 2.]], shape=(2, 2), dtype=float32)
func.func @list() -> tensor<2x2xf32> {
  %shape = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %max = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tf.EmptyTensorList"(%shape, %max) {element_dtype = f32} : (tensor<1xi32>, tensor<i32>) -> tensor<!tf_type.variant>
  %1 = "tf.TensorListPushBack"(%0, %x) : (tensor<!tf_type.variant>, tensor<2xf32>) -> tensor<!tf_type.variant>
  %2 = "tf.TensorListPushBack"(%1, %x) : (tensor<!tf_type.variant>, tensor<2xf32>) -> tensor<!tf_type.variant>
  %3 = "tf.TensorListStack"(%2, %shape) : (tensor<!tf_type.variant>, tensor<1xi32>) -> tensor<2x2xf32>
  tfrt.return %3 : tensor<2x2xf32>
}

// CHECK-LABEL: --- Running 'variable':
// CHECK-NEXT: array([2., 4.]
func.func @variable() -> tensor<2xf32> {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<2>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  "tf.AssignVariableOp"(%v, %x) : (tensor<!tf_type.resource>, tensor<2xf32>) -> ()
  "tf.AssignAddVariableOp"(%v, %x) : (tensor<!tf_type.resource>, tensor<2xf32>) -> ()
  %y = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

// Another handle of the same name, after a call that stays in the same resources.
// AGAIN: 'again' returned array([2., 4.]
func.func @again() -> tensor<2xf32> {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<2>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  %y = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

// A reader keeps what it read, whatever is written afterwards. A variable that was destroyed has no value.
// CHECK-LABEL: --- Running 'written':
// CHECK-NEXT: array([1., 2.]{{.*}}array([3., 2.]{{.*}}array(False,
func.func @written() -> (tensor<2xf32>, tensor<2xf32>, tensor<i1>) {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<2>, shared_name = "d"} : () -> tensor<!tf_type.resource>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %i = "tf.Const"() {value = dense<[0, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  "tf.AssignVariableOp"(%v, %x) : (tensor<!tf_type.resource>, tensor<2xf32>) -> ()
  %old = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<2xf32>
  "tf.ResourceScatterAdd"(%v, %i, %one) : (tensor<!tf_type.resource>, tensor<2xi32>, tensor<2xf32>) -> ()
  %new = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<2xf32>
  "tf.DestroyResourceOp"(%v) : (tensor<!tf_type.resource>) -> ()
  %is = "tf.VarIsInitializedOp"(%v) : (tensor<!tf_type.resource>) -> tensor<i1>
  tfrt.return %old, %new, %is : tensor<2xf32>, tensor<2xf32>, tensor<i1>
}

// CHECK-LABEL: --- Running 'unset':
// CHECK-NEXT: <<error: the variable 'u' is read before it is initialized>>
// ERR: state.mlir:[[#@LINE+3]]:8: error: the variable 'u' is read before it is initialized
func.func @unset() -> tensor<2xf32> {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<2>, shared_name = "u"} : () -> tensor<!tf_type.resource>
  %y = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

// CHECK-LABEL: --- Running 'reference':
// CHECK-NEXT: array([1., 2.]
func.func @reference() -> tensor<2xf32> {
  %v = "tf.VariableV2"() {shape = #tf_type.shape<2>, shared_name = "r"} : () -> tensor<2x!tf_type.f32ref>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %w = "tf.Assign"(%v, %x) : (tensor<2x!tf_type.f32ref>, tensor<2xf32>) -> tensor<2x!tf_type.f32ref>
  %y = "tf._ReadRef"(%w) : (tensor<2x!tf_type.f32ref>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

// CHECK-LABEL: --- Running 'assert':
// CHECK-NEXT: <<error: assertion failed: DenseHostTensor dtype = f32, shape = [], values = [4.000000e+00]>>
func.func @assert() -> tensor<f32> {
  %no = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %x = "tf.Const"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  "tf.Assert"(%no, %x) : (tensor<i1>, tensor<f32>) -> ()
  tfrt.return %x : tensor<f32>
}

// Variables without a name are as many as there are ops that make them.
// CHECK-LABEL: --- Running 'two_variables':
// CHECK-NEXT: array(1., shape=()
func.func @two_variables() -> tensor<f32> {
  %a = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>} : () -> tensor<!tf_type.resource>
  %b = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>} : () -> tensor<!tf_type.resource>
  %x = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  "tf.AssignVariableOp"(%a, %x) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  "tf.AssignVariableOp"(%b, %y) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %z = "tf.ReadVariableOp"(%a) : (tensor<!tf_type.resource>) -> tensor<f32>
  tfrt.return %z : tensor<f32>
}
