// RUN: ir-opt %s --tf-to-kernels | FileCheck %s
// RUN: bef-exec %s --functions main --input f32:3 --input i1:true --work-queue s | FileCheck %s --check-prefix=THEN
// RUN: bef-exec %s --functions main --input f32:3 --input i1:false --work-queue mstd:2 | FileCheck %s --check-prefix=ELSE

// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = "tf._Predicate"(%arg1)
// CHECK: tfrt.cond %[[P]] @double @square(%arg0)
// CHECK: tfrt.while {{.*}} @body_step
// THEN: 'main' returned array(24., shape=(), dtype=float32)
// ELSE: 'main' returned array(18., shape=(), dtype=float32)
func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %a = "tf.If"(%p, %x) {then_branch = @double, else_branch = @square} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  %b = "tf.While"(%a) {cond = @small, body = @body} : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}
func.func private @double(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.AddV2"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @square(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Square"(%x) : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @small(%x: tensor<f32>) -> tensor<i1> {
  %limit = "tf.Const"() {value = dense<15.0> : tensor<f32>} : () -> tensor<f32>
  %p = "tf.Less"(%x, %limit) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%x: tensor<f32>) -> tensor<f32> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Mul"(%x, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
