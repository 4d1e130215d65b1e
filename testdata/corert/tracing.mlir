// Scopes of the operators that are executed by name.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor_debug_tracing --enable_tracing --tracing_level=default %t.bef | FileCheck %s
// RUN: bef_executor %t.bef | FileCheck %s --check-prefix=NONE

// NONE-NOT: Scope
// CHECK: Scope:Bef Executor
// CHECK-NEXT: Scope:Function: main
// CHECK-NEXT: Scope:tfrt_test.create_dense_tensor#op_handler=cpu#
// CHECK-NEXT: Scope:RunMetadataFunction
// CHECK-NEXT: End Scope
// CHECK-NEXT: Scope:RunDispatch: tfrt_test.create_dense_tensor
// CHECK-NEXT: End Scope
// CHECK-NEXT: End Scope
// CHECK-NEXT: Scope:tfrt_test.matmul#op_handler=cpu#
// CHECK-NEXT: Scope:RunMetadataFunction
// CHECK-NEXT: End Scope
// CHECK-NEXT: Scope:RunDispatch: tfrt_test.matmul
// CHECK-NEXT: End Scope
// CHECK-NEXT: End Scope
// CHECK-NEXT: End Scope
// CHECK-NEXT: End Scope
// CHECK-NOT: Scope
func.func @main() -> !corert.tensorhandle {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [1, 1], values = [1.0 : f32]} : 1
  %b = corert.executeop(%cpu) "tfrt_test.matmul"(%a, %a) {transpose_a = false, transpose_b = false} : 1
  tfrt.return %b : !corert.tensorhandle
}
