// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:3})' | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:3 print})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-resolve-devices{devices=CPU:3})' | FileCheck %s --check-prefix=SPEC
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place)' | FileCheck %s --check-prefix=ALONE
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:3},tf-transfers{devices=CPU:3})' | FileCheck %s --check-prefix=CROSS

// Without devices, specs say nothing.
// ALONE-NOT: device
// ALONE-NOT: colocate

// CHECK-LABEL: func.func @specs
// CROSS-LABEL: func.func @specs
func.func @specs(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: tf.Sin{{.*}}device = "/job:localhost/replica:0/task:0/device:CPU:1"
  // CROSS: %[[X:.*]] = dev.transfer %arg0 to "/job:localhost/replica:0/task:0/device:CPU:1" : tensor<3xf32>
  // CROSS: %[[A:.*]] = "tf.Sin"(%[[X]])
  // CROSS: %[[T:.*]] = dev.transfer %[[A]] to "/job:localhost/replica:0/task:0/device:CPU:2" : tensor<3xf32>
  // CROSS-NOT: dev.transfer
  // TABLE: `tf.Sin` {{.*}}CPU:1 {{ *}}spec
  %a = "tf.Sin"(%x) {device = "/cpu:1"} : (tensor<3xf32>) -> tensor<3xf32>
  // One transfer for both of its readers.
  // CHECK: tf.Neg{{.*}}CPU:2"
  %b = "tf.Neg"(%a) {device = "/device:CPU:2"} : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: tf.Mul{{.*}}CPU:2"
  %c = "tf.Mul"(%a, %b) {device = "/device:*:2"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CROSS: %[[R:.*]] = dev.transfer {{.*}} to "/job:localhost/replica:0/task:0/device:CPU:0"
  // CROSS: return %[[R]]
  tfrt.return %c : tensor<3xf32>
}

// The callee's fields win, and a function on two devices is copied.
// SPEC-LABEL: func.func @calls
// SPEC: f = @inner
// SPEC: f = @inner_on
func.func @calls(%x: tensor<3xf32>) -> tensor<3xf32> {
  %a = "tf.PartitionedCall"(%x) {f = @inner, device = "/job:localhost/device:CPU:1"} : (tensor<3xf32>) -> tensor<3xf32>
  %b = "tf.PartitionedCall"(%a) {f = @inner, device = "/device:CPU:2"} : (tensor<3xf32>) -> tensor<3xf32>
  tfrt.return %b : tensor<3xf32>
}

// SPEC-LABEL: func.func private @inner(
// SPEC: tf.Sin{{.*}}device = "/job:localhost/device:CPU:1"
// SPEC: tf.Neg{{.*}}device = "/job:localhost/device:CPU:0"
// SPEC-LABEL: func.func private @inner_on
// SPEC: tf.Sin{{.*}}device = "/device:CPU:2"
// SPEC: tf.Neg{{.*}}device = "/device:CPU:0"
func.func private @inner(%x: tensor<3xf32>) -> tensor<3xf32> {
  %a = "tf.Sin"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %b = "tf.Neg"(%a) {device = "/device:CPU:0"} : (tensor<3xf32>) -> tensor<3xf32>
  tfrt.return %b : tensor<3xf32>
}

// What works on a resource follows it; ops of a group are together.
// CHECK-LABEL: func.func @together
// TABLE: `tf.ReadVariableOp` {{.*}}CPU:1 {{ *}}resource
// TABLE: `tf.Abs` {{.*}}CPU:2 {{ *}}colocated with `tf.Exp`
func.func @together(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: tf.VarHandleOp{{.*}}CPU:1"
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v", device = "/device:CPU:1"} : () -> tensor<!tf_type.resource>
  // CHECK: tf.AssignVariableOp{{.*}}CPU:1"
  "tf.AssignVariableOp"(%v, %x) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  // CHECK: tf.ReadVariableOp{{.*}}CPU:1"
  %a = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  // CHECK: tf.Exp{{.*}}CPU:2"
  %b = "tf.Exp"(%x) {device = "/device:CPU:2", colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  // CHECK: tf.Abs{{.*}}CPU:2"
  %c = "tf.Abs"(%x) {colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  %d = "tf.AddV2"(%b, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %a, %d : tensor<f32>, tensor<f32>
}
// TABLE: makespan {{.*}}, lower bound
