// Kernels that do not exist, or are used as they cannot be, are refused before anything runs; all of them.
//
// RUN: not bef-exec %s --allow-unregistered-dialect 2>&1 | FileCheck %s
// RUN: ir-translate %s --allow-unregistered-dialect -o %t.bef
// RUN: not bef-exec %t.bef 2>&1 | FileCheck %s
// RUN: ir-translate %s --allow-unregistered-dialect --disable-optional-sections -o %t.bef
// RUN: not bef-exec %t.bef 2>&1 | FileCheck %s --check-prefix=STRIPPED

// CHECK-NOT: Running
// CHECK: wrong-kernels.mlir:[[@LINE+5]]:8: error: unknown kernel name 'tfrt.unheard_of' (in 'unknown')
// CHECK-NEXT: wrong-kernels.mlir:[[@LINE+5]]:8: error: unknown kernel name 'elsewhere.op': this runtime has no kernels of 'elsewhere' (in 'unknown')
// STRIPPED: wrong-kernels.mlir.tmp.bef: error: unknown kernel name 'tfrt.unheard_of' (in 'unknown')
// STRIPPED: wrong-kernels.mlir.tmp.bef: error: unknown kernel name 'elsewhere.op': this runtime has no kernels of 'elsewhere' (in 'unknown')
func.func @unknown() -> i32 {
  %a = "tfrt.unheard_of"() : () -> i32
  %b = "elsewhere.op"(%a) : (i32) -> i32
  tfrt.return %b : i32
}
// CHECK-NOT: {{.}}
// STRIPPED-NOT: {{.}}
