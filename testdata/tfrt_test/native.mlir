// Native functions: kernels that are called like functions.
//
// RUN: ir-translate --mlir-to-bef %s | ir-translate --bef-to-mlir | FileCheck --check-prefix=TEXT %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 2 --leak-check | FileCheck %s

// TEXT: func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
func.func private @native_async_add(i32, i32) -> i32 attributes {tfrt.native}
func.func private @native_error() -> i32 attributes {tfrt.native}
func.func private @native_sink(i32) attributes {tfrt.native}

// CHECK-LABEL: --- Running 'calls'
func.func @calls() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 20
  // TEXT: tfrt.call @native_add
  %b = tfrt.call @native_add(%a, %a) : (i32, i32) -> i32
  %c = tfrt.call @native_async_add(%b, %a) : (i32, i32) -> i32
  %d = tfrt.call @native_error() : () -> i32
  tfrt.call @native_sink(%c) : (i32) -> ()
  // An error argument, as anywhere.
  %e = tfrt.call @native_add(%c, %d) : (i32, i32) -> i32
  tfrt.return %b, %c, %e : i32, i32, i32
}
// CHECK: 'calls' returned 40,60,<<error: something bad happened>>

// In a line, and through a function.
// CHECK-LABEL: --- Running 'deeper'
func.func @deeper() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.call @twice(%a) : (i32) -> i32
  %c = tfrt.repeat.i32 %b, %a : i32 {
    %d = tfrt.call @native_add(%a, %a) : (i32, i32) -> i32
    tfrt.return %d : i32
  }
  tfrt.return %c : i32
}
// CHECK: 'deeper' returned 4

func.func @twice(%a: i32) -> i32 {
  %b = tfrt.call @native_add(%a, %a) : (i32, i32) -> i32
  tfrt.return %b : i32
}
