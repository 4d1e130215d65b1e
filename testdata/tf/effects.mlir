// Effects wait for those on the same resource, and for those on what is not known; nothing else.
//
// RUN: ir-opt %s --tf-to-kernels | FileCheck %s
// RUN: bef-exec %s -O0 --functions run | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 --functions run --work-queue mstd:2 | FileCheck %s --check-prefix=EXEC

!f = tensor<f32>
!r = tensor<!tf_type.resource>

// Two names, two lanes; what reads waits for the last write, what writes for the reads since.
// CHECK-LABEL: func.func private @lanes_effects(
// CHECK: %[[V:.*]] = "tf.VarHandleOp"() {{.*}}"v"
// CHECK: %[[W:.*]] = "tf.VarHandleOp"() {{.*}}"w"
// CHECK: %[[SETV:.*]] = "tf.AssignVariableOp"(%[[V]], %arg1, %arg2)
// CHECK: %[[SETW:.*]] = "tf.AssignVariableOp"(%[[W]], %arg1, %arg2)
// CHECK: %[[R1:.*]]:2 = "tf.ReadVariableOp"(%[[V]], %[[SETV]])
// CHECK: %[[R2:.*]]:2 = "tf.ReadVariableOp"(%[[V]], %[[SETV]])
// CHECK: %[[ADDW:.*]] = "tf.AssignAddVariableOp"(%[[W]], %arg1, %[[SETW]])
// CHECK: %[[ADDV:.*]] = "tf.AssignAddVariableOp"(%[[V]], %{{[^,)]*}}, %[[R1]]#1, %[[R2]]#1)
// What works on no resource that is known waits for all, and all wait for it.
// CHECK: %[[ALL:.*]] = "tf.Assert"(%arg0, %arg1, %[[ADDW]], %[[ADDV]])
// CHECK: "tf.ReadVariableOp"(%[[V]], %[[ALL]])
// CHECK: "tf.ReadVariableOp"(%[[W]], %[[ALL]])
func.func @lanes(%yes: tensor<i1>, %x: !f) -> (!f, !f) {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> !r
  %w = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "w"} : () -> !r
  "tf.AssignVariableOp"(%v, %x) : (!r, !f) -> ()
  "tf.AssignVariableOp"(%w, %x) : (!r, !f) -> ()
  %a = "tf.ReadVariableOp"(%v) : (!r) -> !f
  %b = "tf.ReadVariableOp"(%v) : (!r) -> !f
  "tf.AssignAddVariableOp"(%w, %x) : (!r, !f) -> ()
  %sum = "tf.AddV2"(%a, %b) : (!f, !f) -> !f
  "tf.AssignAddVariableOp"(%v, %sum) : (!r, !f) -> ()
  "tf.Assert"(%yes, %x) : (tensor<i1>, !f) -> ()
  %c = "tf.ReadVariableOp"(%v) : (!r) -> !f
  %d = "tf.ReadVariableOp"(%w) : (!r) -> !f
  tfrt.return %c, %d : !f, !f
}

// Two handles of one name are one variable; variables without a name are as many as ops make them; a handle that was passed may be any one.
// CHECK-LABEL: @same
// CHECK: %[[P:.*]] = "tf.VarHandleOp"()
// CHECK: %[[Q:.*]] = "tf.VarHandleOp"()
// CHECK: %[[O:.*]] = "tf.VarHandleOp"()
// CHECK: %[[SETP:.*]] = "tf.AssignVariableOp"(%[[P]], %{{[^,)]*}})
// CHECK: %[[SETO:.*]] = "tf.AssignVariableOp"(%[[O]], %{{[^,)]*}})
// CHECK: %[[SETQ:.*]] = "tf.AssignVariableOp"(%[[Q]], %{{[^,)]*}}, %[[SETP]])
// CHECK: "tf.AssignVariableOp"(%arg0, %{{[^,)]*}}, %[[SETO]], %[[SETQ]])
func.func @same(%any: !r, %x: !f) {
  %p = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> !r
  %q = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> !r
  %o = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = ""} : () -> !r
  "tf.AssignVariableOp"(%p, %x) : (!r, !f) -> ()
  "tf.AssignVariableOp"(%o, %x) : (!r, !f) -> ()
  "tf.AssignVariableOp"(%q, %x) : (!r, !f) -> ()
  "tf.AssignVariableOp"(%any, %x) : (!r, !f) -> ()
  tfrt.return
}

// A reference is passed on by what assigns.
// CHECK-LABEL: @references
// CHECK: %[[S:.*]]:2 = "tf.VariableV2"()
// CHECK: %[[T:.*]]:2 = "tf.VariableV2"()
// CHECK: %[[U:.*]]:2 = "tf.Assign"(%[[S]]#0, %arg0, %[[S]]#1)
// CHECK: %[[W:.*]]:2 = "tf.Assign"(%[[T]]#0, %arg0, %[[T]]#1)
// CHECK: "tf._ReadRef"(%[[U]]#0, %[[U]]#1)
// CHECK: "tf._ReadRef"(%[[W]]#0, %[[W]]#1)
func.func @references(%x: !f) -> (!f, !f) {
  %s = "tf.VariableV2"() {shape = #tf_type.shape<>, shared_name = "s"} : () -> tensor<!tf_type.f32ref>
  %t = "tf.VariableV2"() {shape = #tf_type.shape<>, shared_name = "t"} : () -> tensor<!tf_type.f32ref>
  %u = "tf.Assign"(%s, %x) : (tensor<!tf_type.f32ref>, !f) -> tensor<!tf_type.f32ref>
  %w = "tf.Assign"(%t, %x) : (tensor<!tf_type.f32ref>, !f) -> tensor<!tf_type.f32ref>
  %a = "tf._ReadRef"(%u) : (tensor<!tf_type.f32ref>) -> !f
  %b = "tf._ReadRef"(%w) : (tensor<!tf_type.f32ref>) -> !f
  tfrt.return %a, %b : !f, !f
}

// EXEC: 'run' returned {{.*}}array(6., {{.*}}array(4., 
func.func @run() -> (!f, !f) {
  %yes = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %x = "tf.Const"() {value = dense<2.0> : !f} : () -> !f
  %0:2 = "tf.StatefulPartitionedCall"(%yes, %x) {f = @lanes} : (tensor<i1>, !f) -> (!f, !f)
  tfrt.return %0#0, %0#1 : !f, !f
}
