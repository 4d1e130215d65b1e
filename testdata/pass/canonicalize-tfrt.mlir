// Numbers and chains of tfrt: what an error may reach stays.
//
// RUN: ir-opt %s --canonicalize | FileCheck %s
// RUN: ir-opt %s --canonicalize --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @fold(
// CHECK-DAG: %[[V0:[^ :,#]+]] = tfrt.constant.i32 2147483647
// CHECK-DAG: %[[V1:[^ :,#]+]] = tfrt.constant.i32 -2147483648
// CHECK-DAG: %[[V2:[^ :,#]+]] = tfrt.constant.i32 0
// CHECK-DAG: %[[V3:[^ :,#]+]] = tfrt.constant.i1 true
// CHECK-DAG: %[[V4:[^ :,#]+]] = tfrt.constant.i1 false
// CHECK-DAG: %[[V5:[^ :,#]+]] = tfrt.constant.f32 -2.500000e+00
// CHECK-DAG: %[[V6:[^ :,#]+]] = tfrt.constant.f64 1.000000e+00
// CHECK-DAG: %[[V7:[^ :,#]+]] = tfrt.constant.f32 0x7FC00000
// CHECK: tfrt.return %[[V0]], %[[V0]], %[[V1]], %[[V2]], %[[V3]], %[[V4]], %[[V4]], %[[V5]], %[[V6]], %[[V7]] : i32, i32, i32, i32, i1, i1, i1, f32, f64, f32
func.func @fold() -> (i32, i32, i32, i32, i1, i1, i1, f32, f64, f32) {
  %a = tfrt.constant.i32 -2147483648
  %b = tfrt.constant.i32 -1
  %sum = tfrt.add.i32 %a, %b
  %difference = "tfrt.minus.i32"(%b, %a) : (i32, i32) -> i32
  %q, %r = tfrt.div.i32 %a, %b
  %equal = tfrt.equal.i32 %q, %a
  %less = "tfrt.lessequal.i32"(%b, %a) : (i32, i32) -> i1
  %both = tfrt.and.i1 %equal, %less
  %c = tfrt.constant.f32 1.5
  %d = tfrt.constant.f32 -4.0
  %x = tfrt.add.f32 %c, %d
  %e = tfrt.constant.f64 3.0
  %y = "tfrt.div.f64"(%e, %e) : (f64, f64) -> f64
  %nan = tfrt.constant.f32 0x7FC00000
  %z = "tfrt.minimum.f32"(%nan, %c) : (f32, f32) -> f32
  tfrt.return %sum, %difference, %q, %r, %equal, %less, %both, %x, %y, %z : i32, i32, i32, i32, i1, i1, i1, f32, f64, f32
}

// What ends with an error at run time stays, and so does what an error may reach.
// CHECK-LABEL: func.func @stays(
// CHECK-DAG: %[[V0:[^ :,#]+]] = tfrt.constant.i32 0
// CHECK-DAG: %[[V1:[^ :,#]+]] = tfrt.constant.i32 1
// CHECK-DAG: %[[V2:[^ :,#]+]] = tfrt.constant.f32 0.000000e+00
// CHECK: %[[V3:[^ :,#]+]]:2 = tfrt.div.i32 %[[V1]], %[[V0]]
// CHECK: %[[V4:[^ :,#]+]] = tfrt.div.f32 %arg1, %[[V2]]
// CHECK: %[[V5:[^ :,#]+]] = tfrt.mul.i32 %arg0, %[[V0]]
// CHECK: %[[V6:[^ :,#]+]] = "tfrt.add.i32"(%[[V1]], %[[V1]], %arg2) : (i32, i32, !tfrt.chain) -> i32
// CHECK: %[[V7:[^ :,#]+]] = tfrt.equal.i32 %arg0, %arg0
// CHECK: %[[V8:[^ :,#]+]] = tfrt.add.f32 %arg1, %[[V2]]
// CHECK: tfrt.return %[[V3]]#0, %[[V3]]#1, %[[V4]], %[[V5]], %[[V6]], %[[V7]], %[[V8]] : i32, i32, f32, i32, i32, i1, f32
func.func @stays(%x: i32, %f: f32, %ch: !tfrt.chain) -> (i32, i32, f32, i32, i32, i1, f32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %nought = tfrt.constant.f32 0.0
  %q, %r = tfrt.div.i32 %one, %zero
  %s = "tfrt.div.f32"(%f, %nought) : (f32, f32) -> f32
  %p = tfrt.mul.i32 %x, %zero
  %c = "tfrt.add.i32"(%one, %one, %ch) : (i32, i32, !tfrt.chain) -> i32
  %e = tfrt.equal.i32 %x, %x
  %t = tfrt.add.f32 %f, %nought
  tfrt.return %q, %r, %s, %p, %c, %e, %t : i32, i32, f32, i32, i32, i1, f32
}

// CHECK-LABEL: func.func @neutral(
// CHECK: tfrt.return %arg0, %arg0, %arg0, %arg1, %arg1, %arg1, %arg2, %arg0, %arg2 : i32, i32, i32, f32, f32, f32, i1, i32, i1
func.func @neutral(%x: i32, %f: f32, %b: i1) -> (i32, i32, i32, f32, f32, f32, i1, i32, i1) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %minus = tfrt.constant.f32 -0.0
  %unit = tfrt.constant.f32 1.0
  %true = tfrt.constant.i1 true
  %0 = tfrt.add.i32 %zero, %x
  %1 = "tfrt.minus.i32"(%x, %zero) : (i32, i32) -> i32
  %2 = tfrt.mul.i32 %one, %x
  %3 = tfrt.add.f32 %f, %minus
  %4 = "tfrt.multiply.f32"(%f, %unit) : (f32, f32) -> f32
  %5 = "tfrt.div.f32"(%f, %unit) : (f32, f32) -> f32
  %6 = tfrt.and.i1 %true, %b
  %7 = "tfrt.minimum.i32"(%x, %x) : (i32, i32) -> i32
  %8 = tfrt.and.i1 %b, %b
  tfrt.return %0, %1, %2, %3, %4, %5, %6, %7, %8 : i32, i32, i32, f32, f32, f32, i1, i32, i1
}

// Constants to the right, and one constant instead of two.
// CHECK-LABEL: func.func @order(
// CHECK-DAG: %[[V0:[^ :,#]+]] = tfrt.constant.i32 12
// CHECK-DAG: %[[V1:[^ :,#]+]] = tfrt.constant.i32 7
// CHECK: %[[V2:[^ :,#]+]] = tfrt.add.i32 %arg0, %[[V1]]
// CHECK: %[[V3:[^ :,#]+]] = tfrt.mul.i32 %arg0, %[[V0]]
// CHECK: tfrt.return %[[V2]], %[[V3]] : i32, i32
func.func @order(%x: i32) -> (i32, i32) {
  %three = tfrt.constant.i32 3
  %four = tfrt.constant.i32 4
  %0 = tfrt.add.i32 %three, %x
  %1 = tfrt.add.i32 %0, %four
  %2 = tfrt.mul.i32 %three, %x
  %3 = tfrt.mul.i32 %four, %2
  tfrt.return %1, %3 : i32, i32
}

// CHECK-LABEL: func.func @chains(
// CHECK: %[[V0:[^ :,#]+]] = tfrt.merge.chains %arg0, %arg1, %arg2 : !tfrt.chain, !tfrt.chain, i32
// CHECK: %[[V1:[^ :,#]+]] = tfrt.merge.chains %arg2 : i32
// CHECK: tfrt.return %arg0, %arg0, %[[V0]], %[[V1]] : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain
func.func @chains(%a: !tfrt.chain, %b: !tfrt.chain, %v: i32) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %new = tfrt.new.chain
  %0 = tfrt.merge.chains %a : !tfrt.chain
  %1 = tfrt.merge.chains %a, %new, %a : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %2 = tfrt.merge.chains %b, %v : !tfrt.chain, i32
  %3 = tfrt.merge.chains %a, %2, %b : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %4 = tfrt.merge.chains %v : i32
  tfrt.return %0, %1, %3, %4 : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain
}

// What another operand has waited for is not waited for again: if that stands before it, or next to it and has its error before all others.
// CHECK-LABEL: func.func @waited_for(
// CHECK: %[[A:.*]] = tfrt.print.i32 %{{.*}}, %arg1
// CHECK: %[[B:.*]] = tfrt.print.i32 %{{.*}}, %[[A]]
// CHECK: tfrt.return %[[B]], %[[B]] : !tfrt.chain, !tfrt.chain
func.func @waited_for(%x: i32, %ch: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %a = tfrt.print.i32 %one, %ch
  %b = tfrt.print.i32 %one, %a
  %after = tfrt.merge.chains %b, %a, %ch : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %before = tfrt.merge.chains %ch, %a, %b : !tfrt.chain, !tfrt.chain, !tfrt.chain
  tfrt.return %after, %before : !tfrt.chain, !tfrt.chain
}
// CHECK-LABEL: func.func @another_error(
// CHECK: %[[A:.*]] = tfrt.print.i32 %arg0, %arg1
// CHECK: %[[M:.*]] = tfrt.merge.chains %arg1, %[[A]] : !tfrt.chain, !tfrt.chain
// CHECK: %[[B:.*]] = tfrt.print.i32 %arg0, %arg1 {bef.operand_modes = ["required", "lenient"]}
// CHECK: %[[N:.*]] = tfrt.merge.chains %[[B]], %arg1 : !tfrt.chain, !tfrt.chain
// CHECK: tfrt.return %[[M]], %[[N]] : !tfrt.chain, !tfrt.chain
func.func @another_error(%x: i32, %ch: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %a = tfrt.print.i32 %x, %ch
  %m = tfrt.merge.chains %ch, %a : !tfrt.chain, !tfrt.chain
  %b = "tfrt.print.i32"(%x, %ch) {bef.operand_modes = ["required", "lenient"]} : (i32, !tfrt.chain) -> !tfrt.chain
  %n = tfrt.merge.chains %b, %ch : !tfrt.chain, !tfrt.chain
  tfrt.return %m, %n : !tfrt.chain, !tfrt.chain
}
