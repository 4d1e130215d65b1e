// A resource belongs to a device: variables of one name on two devices are two variables. One that names no device
// is the first.
//
// RUN: ir-opt %s --tf-place='devices=CPU:2' 2>&1 | FileCheck %s
// RUN: bef-exec %s -O0 --devices CPU:2 --work-queue s | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 --devices CPU:2 --work-queue mstd:2 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --seed 3 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O0 --devices CPU:2 --place list --partition device --work-queue s | FileCheck %s --check-prefix=EXEC

!f = tensor<f32>
!r = tensor<!tf_type.resource>

// EXEC: array(1., {{.*}}array(2., {{.*}}array(1.,
// CHECK-NOT: warning
// CHECK: "tf.VarHandleOp"(){{.*}}CPU:0"
// CHECK: "tf.VarHandleOp"(){{.*}}CPU:1"
// CHECK: "tf.VarHandleOp"(){{.*}}CPU:0"
// CHECK: "tf.AssignVariableOp"({{.*}}CPU:0"
// CHECK: "tf.AssignVariableOp"({{.*}}CPU:1"
// CHECK: "tf.ReadVariableOp"({{.*}}CPU:0"
// CHECK: "tf.ReadVariableOp"({{.*}}CPU:1"
// CHECK: "tf.ReadVariableOp"({{.*}}CPU:0"
func.func @main() -> (!f, !f, !f) {
  %one = "tf.Const"() {value = dense<1.0> : !f} : () -> !f
  %two = "tf.Const"() {value = dense<2.0> : !f} : () -> !f
  %a = "tf.VarHandleOp"() {device = "/cpu:0", dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> !r
  %b = "tf.VarHandleOp"() {device = "/cpu:1", dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> !r
  %c = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> !r
  "tf.AssignVariableOp"(%a, %one) : (!r, !f) -> ()
  "tf.AssignVariableOp"(%b, %two) : (!r, !f) -> ()
  %x = "tf.ReadVariableOp"(%a) : (!r) -> !f
  %y = "tf.ReadVariableOp"(%b) : (!r) -> !f
  %z = "tf.ReadVariableOp"(%c) : (!r) -> !f
  tfrt.return %x, %y, %z : !f, !f, !f
}
