// A value in the memory of an accelerator is concrete before its launch has ended. What waits for it by a
// control edge waits for the launch, and fails with it: here the edge of a loop that passes the value on.
//
// RUN: bef-exec %s -O0 --devices CPU:1,SIM:1 --functions assigned --input i32:1 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not bef-exec %s -O0 --devices CPU:1,SIM:1 --functions assigned --input i32:9 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not bef-exec %s -O0 --devices CPU:1,SIM:1 --work-queue mstd:2 --functions assigned --input i32:9 2>&1 | FileCheck %s --check-prefix=WRONG
// RIGHT: 'assigned' returned array(2., shape=(), dtype=float32)
// WRONG: 'assigned' returned <<error: {{.*}}9 is not in [0, 2){{.*}}>>
func.func @assigned(%i: tensor<i32>) -> tensor<f32> {
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %v = "tf.VarHandleOp"() {device = "/device:CPU:0", dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  "tf.AssignVariableOp"(%v, %one) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %table = "tf.Const"() {value = dense<[3.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %x = "tf.GatherV2"(%table, %i, %zero) {device = "/device:SIM:0"} : (tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  %passed:3 = "tf.While"(%zero, %x) {cond = @never, body = @same} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>, !tfrt.chain)
  "tf.AssignVariableOp"(%v, %two, %passed#2) : (tensor<!tf_type.resource>, tensor<f32>, !tfrt.chain) -> ()
  %y = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  func.return %y : tensor<f32>
}

func.func private @never(%i: tensor<i32>, %x: tensor<f32>) -> tensor<i1> {
  %less = "tf.Less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %less : tensor<i1>
}

func.func private @same(%i: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  func.return %i, %x : tensor<i32>, tensor<f32>
}
