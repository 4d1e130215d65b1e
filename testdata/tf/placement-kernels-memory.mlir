// RUN: ir-translate %s --devices 'CPU:1,TOY:1{kernels=Neg,space=own}' --print-transfers --to mlir -o %t.mlir 2>&1 | FileCheck %s
// CHECK: value {{ *}}type {{ *}}from {{ *}}to {{ *}}readers
// CHECK-NEXT: argument #0 of @main  tensor<4xf32>  {{.*}}CPU:0  {{.*}}TOY:0  2
// CHECK-NEXT: `tf.Neg`{{ *}}tensor<4xf32>  {{.*}}TOY:0  {{.*}}CPU:0  1
// CHECK-NEXT: `tf.Neg`{{ *}}tensor<4xf32>  {{.*}}TOY:0  {{.*}}CPU:0  1
// CHECK-NEXT: 3 transfers
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = "tf.Neg"(%x) {device = "/device:TOY:0"} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "tf.Neg"(%x) {device = "/device:TOY:0", colocate = ["g"]} : (tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %a, %b : tensor<4xf32>, tensor<4xf32>
}
