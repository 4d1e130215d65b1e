// RUN: ir-opt %s | FileCheck %s
// RUN: ir-opt --generic %s | ir-opt | FileCheck %s

func.func @f(%c: i1, %a: i32, %b: i32) -> i32 {
  %r = tfrt.if %c, %a, %b : (i32, i32) -> (i32) {
    %x = hex.add.i32 %a, %b
    tfrt.return %x : i32
  } else {
    tfrt.return %b : i32
  }
  %q:2 = tfrt.div.i32 %a, %b
  %s:2 = tfrt.repeat.i32 %a, %q#0, %q#1 : i32, i32 {
    tfrt.return %q#1, %q#0 : i32, i32
  }
  %ch = tfrt.parallel_for.i32 %a to %b fixed %r, %c : i1 {
    %y = tfrt.add.i32 %a, %b
    tfrt.return
  }
  %d = tfrt_test.do.async %a, %b : (i32, i32) -> (i32) {
    tfrt.return %a : i32
  }
  %e = tfrt_test.benchmark "x"(%a : i32, %b : i32) max_count = 3, duration_secs = 1 {
    tfrt.return %a : i32
  }
  %z = tfrt.constant.complex64 1.0, 2.0
  %m = tfrt.merge.chains %ch, %ch
  %w:2 = tfrt.while %c @g(%a, %b) parallel_iterations(2) : (i32, i32) -> (i32, i32)
  %k = tfrt.case %a [@h] (%a, %b) : (i32, i32) -> (i32)
  %l = tfrt.cond %c @h @h (%a, %b) : (i32, i32) -> (i32)
  tfrt.return %d : i32
}
func.func private @g(i32, i32) -> (i32, i32, i1)
func.func private @h(i32, i32) -> i32

// CHECK: module {
// CHECK-NEXT: func.func @f(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
// CHECK-NEXT: %0 = tfrt.if %arg0, %arg1, %arg2 : (i32, i32) -> (i32) {
// CHECK-NEXT: %11 = tfrt.add.i32 %arg1, %arg2
// CHECK-NEXT: tfrt.return %11 : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: tfrt.return %arg2 : i32
// CHECK-NEXT: }
// CHECK-NEXT: %1:2 = tfrt.div.i32 %arg1, %arg2
// CHECK-NEXT: %2:2 = tfrt.repeat.i32 %arg1, %1#0, %1#1 : i32, i32 {
// CHECK-NEXT: tfrt.return %1#1, %1#0 : i32, i32
// CHECK-NEXT: }
// CHECK-NEXT: %3 = tfrt.parallel_for.i32 %arg1 to %arg2 fixed %0, %arg0 : i1 {
// CHECK-NEXT: %11 = tfrt.add.i32 %arg1, %arg2
// CHECK-NEXT: tfrt.return
// CHECK-NEXT: }
// CHECK-NEXT: %4 = tfrt_test.do.async %arg1, %arg2 : (i32, i32) -> i32 {
// CHECK-NEXT: tfrt.return %arg1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: %5 = tfrt_test.benchmark "x"(%arg1 : i32, %arg2 : i32) duration_secs = 1, max_count = 3 {
// CHECK-NEXT: tfrt.return %arg1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: %6 = tfrt.constant.complex64 1.000000e+00, 2.000000e+00
// CHECK-NEXT: %7 = tfrt.merge.chains %3, %3 : !tfrt.chain, !tfrt.chain
// CHECK-NEXT: %8:2 = tfrt.while %arg0 @g(%arg1, %arg2) parallel_iterations(2) : (i32, i32) -> (i32, i32)
// CHECK-NEXT: %9 = tfrt.case %arg1 [@h](%arg1, %arg2) : (i32, i32) -> (i32)
// CHECK-NEXT: %10 = tfrt.cond %arg0 @h @h(%arg1, %arg2) : (i32, i32) -> (i32)
// CHECK-NEXT: tfrt.return %4 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @g(i32, i32) -> (i32, i32, i1)
// CHECK-NEXT: func.func private @h(i32, i32) -> i32

// The types of 2020 programs are today's.
// CHECK: func.func @names_of_2020(%arg0: !tfrt.chain, %arg1: !tfrt.string)
func.func @names_of_2020(%ch: !hex.chain, %s: !hex.string) {
  tfrt.return
}
