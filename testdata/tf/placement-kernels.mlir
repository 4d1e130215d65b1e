// Kinds of devices that say which kernels they have, how far they are preferred, and where their memory is.
// RUN: ir-opt %s --split-input-file --pass-pipeline='builtin.module(tf-place{devices=CPU:1,TOY:2{priority=200,kernels=Neg/Sin}})' --verify-diagnostics | FileCheck %s
// RUN: ir-opt %s --split-input-file --pass-pipeline='builtin.module(tf-place{devices=CPU:1,TOY:2{kernels=Neg/Sin}})' --verify-diagnostics | FileCheck %s --check-prefix=LAST
// RUN: not ir-opt %s --split-input-file --pass-pipeline='builtin.module(tf-place{devices=CPU:1,TOY:2})' 2>&1 | FileCheck %s --check-prefix=NONE

// A transfer into memory of its own is needed, one into the host's is not.
// RUN: ir-translate %S/placement-kernels-memory.mlir --devices 'CPU:1,TOY:1{kernels=Neg}' --to mlir | FileCheck %s --check-prefix=OWN
// RUN: ir-translate %S/placement-kernels-memory.mlir --devices 'CPU:1,TOY:1{kernels=Neg,space=host}' --to mlir | FileCheck %s --check-prefix=HOST
// OWN: dev.transfer {{.*}}TOY:0"
// HOST-NOT: dev.transfer
// HOST: TOY:0

// CHECK-LABEL: func.func @preferred
// LAST-LABEL: func.func @preferred
func.func @preferred(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: tf.Sin{{.*}}device:TOY:0"
  // LAST: tf.Sin{{.*}}device:CPU:0"
  %a = "tf.Sin"(%x) : (tensor<f32>) -> tensor<f32>
  // CHECK: tf.Neg{{.*}}device:TOY:1"
  // LAST: tf.Neg{{.*}}device:TOY:1"
  // NONE: error[E1003]: `tf.Neg`: no device that matches '/device:TOY:1' has a kernel for it; kinds that have one: CPU
  %b = "tf.Neg"(%a) {device = "/device:TOY:1"} : (tensor<f32>) -> tensor<f32>
  // CHECK: tf.Cos{{.*}}device:CPU:0"
  %c = "tf.Cos"(%b) : (tensor<f32>) -> tensor<f32>
  tfrt.return %c : tensor<f32>
}

// -----

func.func @lacks(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{`tf.Cos`: no device that matches '/device:TOY:0' has a kernel for it; kinds that have one: CPU}}
  %a = "tf.Cos"(%x) {device = "/device:TOY:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}

// -----

func.func @group(%x: tensor<f32>) -> tensor<f32> {
  %a = "tf.Sin"(%x) {device = "/device:TOY:0", colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{`tf.Cos`: no device that matches '/device:TOY:0' has a kernel for it; kinds that have one: CPU}}
  %b = "tf.Cos"(%a) {colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}
