// Native functions that there are not, or that are used wrongly.
//
// RUN: ir-translate --mlir-to-bef %s -o %t.bef
// RUN: not bef-exec %t.bef 2>&1 | FileCheck %s

func.func private @no_such_function(i32) -> i32 attributes {tfrt.native}
func.func private @native_add(i32) -> i32 attributes {tfrt.native}

func.func @f(%a: i32, %cond: i1) {
  // CHECK: native-invalid.mlir:[[@LINE+1]]:8: error: this runtime has no native function 'no_such_function'
  %b = tfrt.call @no_such_function(%a) : (i32) -> i32
  // CHECK: native-invalid.mlir:[[@LINE+1]]:8: error: 'native_add' takes 2 operands, got 1
  %c = tfrt.call @native_add(%a) : (i32) -> i32
  // CHECK: native-invalid.mlir:[[@LINE+1]]:8: error: 'tfrt.cond' cannot run 'native_add', which is native code: only a call can
  %d = tfrt.cond %cond @native_add @native_add (%a) : (i32) -> (i32)
  tfrt.return
}
