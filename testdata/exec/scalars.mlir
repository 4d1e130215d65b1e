// Scalars of every type, and how they print.
//
// RUN: bef-exec %s --work-queue s --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check | FileCheck %s
// RUN: ir-translate %s -o %t.bef && bef-exec %t.bef | FileCheck %s
// RUN: cat %s | bef-exec - | FileCheck %s

// CHECK: {{^}}--- Running 'integers':
// CHECK-NEXT: {{^}}int32 = 42{{$}}
// CHECK-NEXT: {{^}}int64 = -9223372036854775808{{$}}
// CHECK-NEXT: {{^}}int1 = 1{{$}}
// CHECK-NEXT: {{^}}'integers' returned 42,-9223372036854775808,1{{$}}
func.func @integers() -> (i32, i64, i1) {
  %ch0 = tfrt.new.chain
  %a = tfrt.constant.i32 41
  %b = tfrt.constant.i32 1
  %c = tfrt.add.i32 %a, %b
  %ch1 = tfrt.print.i32 %c, %ch0
  %d = tfrt.constant.i64 9223372036854775807
  %e = tfrt.constant.i64 1
  %f = tfrt.add.i64 %d, %e
  %ch2 = tfrt.print.i64 %f, %ch1
  %g = tfrt.equal.i32 %a, %a
  %ch3 = tfrt.print.i1 %g, %ch2
  tfrt.return %c, %f, %g : i32, i64, i1
}

// CHECK-NEXT: --- Running 'floats':
// CHECK-NEXT: {{^}}f32 = 1.500000{{$}}
// CHECK-NEXT: {{^}}f64 = 0.250000{{$}}
// CHECK-NEXT: {{^}}'floats' returned 1.500000,0.250000{{$}}
func.func @floats() -> (f32, f64) {
  %ch0 = tfrt.new.chain
  %a = tfrt.constant.f32 0.5
  %b = tfrt.constant.f32 1.0
  %c = tfrt.add.f32 %a, %b
  %ch1 = tfrt.print.f32 %c, %ch0
  %d = tfrt.constant.f64 1.0
  %e = tfrt.constant.f64 4.0
  %f = "tfrt.div.f64"(%d, %e) : (f64, f64) -> f64
  %ch2 = tfrt.print.f64 %f, %ch1
  tfrt.return %c, %f : f32, f64
}

// CHECK-NEXT: --- Running 'division':
// CHECK-NEXT: 'division' returned -3,-1
func.func @division() -> (i32, i32) {
  %a = tfrt.constant.i32 -7
  %b = tfrt.constant.i32 2
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q, %r : i32, i32
}

// CHECK-NEXT: --- Running 'chain':
// CHECK-NEXT: 'chain' returned !tfrt.chain value
func.func @chain() -> !tfrt.chain {
  %a = tfrt.new.chain
  %b = tfrt.new.chain
  %c = tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
  tfrt.return %c : !tfrt.chain
}

// A function without results prints no line of its own.
// CHECK-NEXT: --- Running 'nothing':
// CHECK-NEXT: {{^}}hello host executor!{{$}}
// CHECK-NEXT: --- Running 'last':
// CHECK-NEXT: 'last' returned 1
// CHECK-NOT: {{.}}
func.func @nothing() {
  %a = tfrt.new.chain
  %b = "tfrt_test.print_hello"(%a) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return
}

func.func @last() -> i64 {
  %a = tfrt.constant.i64 1
  tfrt.return %a : i64
}
