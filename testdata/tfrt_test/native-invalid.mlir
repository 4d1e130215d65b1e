// Native functions that there are not, or that are used wrongly.
//
// RUN: ir-translate --mlir-to-bef %s -o %t.bef
// RUN: not bef-exec %t.bef 2>&1 | FileCheck %s

// CHECK: native-invalid.mlir:[[@LINE+1]]:1: error: this runtime has no native function 'no_such_function' (in 'no_such_function')
func.func private @no_such_function(i32) -> i32 attributes {tfrt.native}
// CHECK: native-invalid.mlir:[[@LINE+1]]:1: error: 'native_add' takes 2 operands, got 1 (in 'native_add')
func.func private @native_add(i32) -> i32 attributes {tfrt.native}
// CHECK: native-invalid.mlir:[[@LINE+1]]:1: error: result #0 of 'native_async_add' has type i64, expected i32 or si32 (in 'native_async_add')
func.func private @native_async_add(i32, i32) -> i64 attributes {tfrt.native}
// A kernel is native code as well, unless it needs attributes or functions.
func.func private @tfrt.add.i32(i32, i32) -> i32 attributes {tfrt.native}
// CHECK: native-invalid.mlir:[[@LINE+1]]:1: error: 'tfrt.constant.i32' needs 1 attribute, got 0 (in 'tfrt.constant.i32')
func.func private @tfrt.constant.i32() -> i32 attributes {tfrt.native}
// CHECK-NOT: error
