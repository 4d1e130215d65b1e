// Ten mistakes give ten errors, each at its place, and what is right in between is read.
//
// RUN: not ir-opt %s 2>&1 | FileCheck %s --implicit-check-not='{{^[^ ][^:]*:[0-9]+:[0-9]+: error}}'

func.func @f(%x: i32) -> i32 {
  // CHECK: invalid.mlir:[[@LINE+1]]:24: error[E0204]: expected the attribute `value`, found its end
  %0 = tfrt.constant.i32
  // CHECK: invalid.mlir:[[@LINE+1]]:24: error[E0204]: expected the end of the operation, found `%x`
  %1 = tfrt.add.i32 %x %x
  // CHECK: invalid.mlir:[[@LINE+1]]:22: error[E0201]: this `(` is never closed
  %2 = "tfrt.add.i32"(%x, %x : (i32, i32) -> i32
  %3 = tfrt.add.i32 %0, %1
  // CHECK: invalid.mlir:[[@LINE+1]]:26: error[E0207]: 99999999999 does not fit in type i32
  %4 = tfrt.constant.i32 99999999999
  // CHECK: invalid.mlir:[[@LINE+2]]:8: error[E0301]: unknown operation `tfrt.ad.i32`
  // CHECK: {{^ *}}help: did you mean `tfrt.add.i32`?
  %5 = tfrt.ad.i32 %x, %x
  // CHECK: invalid.mlir:[[@LINE+1]]:21: error[E0302]: use of undefined value `%undefined`
  %6 = tfrt.add.i32 %undefined, %2
  // CHECK: invalid.mlir:[[@LINE+1]]:35: error[E0206]: expected 2 operand types, found 1
  %7 = "tfrt.minus.i32"(%x, %x) : (i32) -> i32
  // CHECK: invalid.mlir:[[@LINE+1]]:3: error[E0303]: redefinition of `%3`
  %3 = tfrt.constant.i32 1
  // CHECK: {{^[^ ].*}} note: first defined here
  // CHECK: invalid.mlir:[[@LINE+1]]:36: error[E0209]: unknown type `i32x`
  %8 = tfrt.call @f(%7) : (i32) -> i32x
  // CHECK: invalid.mlir:[[@LINE+1]]:21: error[E0305]: `%f` is used as i32 but has type f32
  %9 = tfrt.add.i32 %f, %x
  %f = tfrt.constant.f32 1.0
  tfrt.return %8 : i32
}
