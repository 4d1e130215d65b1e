// `!tfrt_tensor.tensor` and `!t.tensor` are one type, also in attributes and in types of ops that are not registered.
//
// RUN: tfrt_opt %s | FileCheck %s
// RUN: ir-translate --allow-unregistered-dialect --mlir-to-bef %s | ir-translate --bef-to-mlir | FileCheck %s

// CHECK-LABEL: func.func @types(
// CHECK: "x.op"(%{{.*}}) {type = tuple<!t.tensor>} : (!t.tensor) -> tensor<1x!t.tensor>
func.func @types(%a: !tfrt_tensor.tensor) {
  %b = "x.op"(%a) {type = tuple<!tfrt_tensor.tensor>} : (!t.tensor) -> tensor<1x!tfrt_tensor.tensor>
  tfrt.return
}

