// The canonical forms of integer arithmetic: mostly those of upstream.
//
// RUN: ir-opt %s --canonicalize | FileCheck %s
// RUN: ir-opt %s --canonicalize --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @addi(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant -4 : i32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant 6 : i32
// CHECK: %[[V2:[^ :,#]+]] = arith.addi %arg0, %[[V1]] : i32
// CHECK: %[[V3:[^ :,#]+]] = arith.subi %arg0, %arg1 : i32
// CHECK: %[[V4:[^ :,#]+]] = arith.subi %[[V1]], %arg0 : i32
// CHECK: %[[V5:[^ :,#]+]] = arith.addi %arg0, %[[V0]] : i32
// CHECK: tfrt.return %arg0, %[[V2]], %arg0, %[[V3]], %[[V4]], %[[V5]] : i32, i32, i32, i32, i32, i32
func.func @addi(%x: i32, %y: i32) -> (i32, i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %m1 = arith.constant -1 : i32
  %a = arith.addi %c0, %x : i32
  %b0 = arith.addi %x, %c1 : i32
  %b = arith.addi %b0, %c5 : i32
  %s = arith.subi %x, %y : i32
  %c = arith.addi %s, %y : i32
  %n = arith.muli %m1, %y : i32
  %d = arith.addi %x, %n : i32
  %e0 = arith.subi %c5, %x : i32
  %e = arith.addi %e0, %c1 : i32
  %f0 = arith.subi %x, %c5 : i32
  %f = arith.addi %f0, %c1 : i32
  tfrt.return %a, %b, %c, %d, %e, %f : i32, i32, i32, i32, i32, i32
}

// CHECK-LABEL: func.func @subi(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant -4 : i32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant 0 : i32
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant 4 : i32
// CHECK: %[[V3:[^ :,#]+]] = arith.addi %arg0, %[[V2]] : i32
// CHECK: %[[V4:[^ :,#]+]] = arith.subi %[[V0]], %arg0 : i32
// CHECK: %[[V5:[^ :,#]+]] = arith.subi %[[V2]], %arg0 : i32
// CHECK: %[[V6:[^ :,#]+]] = arith.addi %arg0, %[[V0]] : i32
// CHECK: %[[V7:[^ :,#]+]] = arith.subi %[[V1]], %arg1 : i32
// CHECK: tfrt.return %[[V1]], %arg1, %[[V3]], %[[V4]], %[[V5]], %[[V6]], %[[V7]] : i32, i32, i32, i32, i32, i32, i32
func.func @subi(%x: i32, %y: i32) -> (i32, i32, i32, i32, i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %a = arith.subi %x, %x : i32
  %s = arith.addi %x, %y : i32
  %b = arith.subi %s, %x : i32
  %c0 = arith.addi %x, %c5 : i32
  %c = arith.subi %c0, %c1 : i32
  %d = arith.subi %c1, %c0 : i32
  %e0 = arith.subi %c5, %x : i32
  %e = arith.subi %e0, %c1 : i32
  %f = arith.subi %c1, %e0 : i32
  %g0 = arith.subi %x, %y : i32
  %g = arith.subi %g0, %x : i32
  tfrt.return %a, %b, %c, %d, %e, %f, %g : i32, i32, i32, i32, i32, i32, i32
}

// CHECK-LABEL: func.func @bits(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 0 : i32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant -1 : i32
// CHECK: %[[V2:[^ :,#]+]] = arith.andi %arg0, %arg1 : i32
// CHECK: %[[V3:[^ :,#]+]] = arith.andi %arg2, %arg3 : i8
// CHECK: %[[V4:[^ :,#]+]] = arith.extui %[[V3]] : i8 to i32
// CHECK: %[[V5:[^ :,#]+]] = arith.xori %arg2, %arg3 : i8
// CHECK: %[[V6:[^ :,#]+]] = arith.extsi %[[V5]] : i8 to i32
// CHECK: %[[V7:[^ :,#]+]] = arith.cmpi slt, %arg2, %arg3 : i8
// CHECK: tfrt.return %[[V0]], %[[V1]], %[[V0]], %[[V1]], %arg0, %[[V2]], %[[V4]], %[[V6]], %[[V7]] : i32, i32, i32, i32, i32, i32, i32, i32, i1
func.func @bits(%x: i32, %y: i32, %p: i8, %q: i8) -> (i32, i32, i32, i32, i32, i32, i32, i32, i1) {
  %c0 = arith.constant 0 : i32
  %m1 = arith.constant -1 : i32
  %not = arith.xori %x, %m1 : i32
  %a = arith.andi %x, %not : i32
  %b = arith.ori %not, %x : i32
  %c = arith.andi %x, %c0 : i32
  %d = arith.ori %x, %m1 : i32
  %e0 = arith.xori %x, %y : i32
  %e = arith.xori %e0, %y : i32
  %f0 = arith.andi %x, %y : i32
  %f = arith.andi %x, %f0 : i32
  %ep = arith.extui %p : i8 to i32
  %eq = arith.extui %q : i8 to i32
  %g = arith.andi %ep, %eq : i32
  %sp = arith.extsi %p : i8 to i32
  %sq = arith.extsi %q : i8 to i32
  %h = arith.xori %sp, %sq : i32
  %i = arith.cmpi slt, %sp, %sq : i32
  tfrt.return %a, %b, %c, %d, %e, %f, %g, %h, %i : i32, i32, i32, i32, i32, i32, i32, i32, i1
}

// CHECK-LABEL: func.func @cmp(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant false
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant true
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant 5 : i32
// CHECK: %[[V3:[^ :,#]+]] = arith.cmpi sgt, %arg0, %[[V2]] : i32
// CHECK: %[[V4:[^ :,#]+]] = arith.cmpi sle, %arg0, %[[V2]] : i32
// CHECK: tfrt.return %[[V3]], %[[V1]], %arg1, %arg1, %[[V4]], %arg1, %[[V0]] : i1, i1, i1, i1, i1, i1, i1
func.func @cmp(%x: i32, %c: i1) -> (i1, i1, i1, i1, i1, i1, i1) {
  %c5 = arith.constant 5 : i32
  %true = arith.constant true
  %false = arith.constant false
  %a = arith.cmpi slt, %c5, %x : i32
  %b = arith.cmpi ule, %x, %x : i32
  %d = arith.cmpi eq, %c, %true : i1
  %e = arith.cmpi ne, %c, %false : i1
  %f0 = arith.cmpi sgt, %x, %c5 : i32
  %f = arith.xori %f0, %true : i1
  %g0 = arith.extui %c : i1 to i32
  %z = arith.constant 0 : i32
  %g = arith.cmpi ne, %g0, %z : i32
  %h = arith.cmpi ult, %c5, %z : i32
  tfrt.return %a, %b, %d, %e, %f, %g, %h : i1, i1, i1, i1, i1, i1, i1
}

// CHECK-LABEL: func.func @select(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant true
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant 1 : i32
// CHECK: %[[V2:[^ :,#]+]] = arith.xori %arg0, %[[V0]] : i1
// CHECK: %[[V3:[^ :,#]+]] = arith.extui %arg0 : i1 to i32
// CHECK: %[[V4:[^ :,#]+]] = arith.xori %arg0, %[[V0]] : i1
// CHECK: %[[V5:[^ :,#]+]] = arith.extui %[[V4]] : i1 to i32
// CHECK: %[[V6:[^ :,#]+]] = arith.select %arg0, %arg3, %arg2 : i32
// CHECK: %[[V7:[^ :,#]+]] = arith.select %arg0, %arg2, %arg3 : i32
// CHECK: %[[V8:[^ :,#]+]] = arith.select %arg0, %arg3, %[[V1]] : i32
// CHECK: tfrt.return %arg2, %arg0, %[[V2]], %[[V3]], %[[V5]], %[[V6]], %[[V7]], %[[V8]], %arg3 : i32, i1, i1, i32, i32, i32, i32, i32, i32
func.func @select(%c: i1, %d: i1, %x: i32, %y: i32) -> (i32, i1, i1, i32, i32, i32, i32, i32, i32) {
  %true = arith.constant true
  %false = arith.constant false
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = arith.select %true, %x, %y : i32
  %b = arith.select %c, %true, %false : i1
  %e = arith.select %c, %false, %true : i1
  %f = arith.select %c, %c1, %c0 : i32
  %g = arith.select %c, %c0, %c1 : i32
  %n = arith.xori %c, %true : i1
  %h = arith.select %n, %x, %y : i32
  %i0 = arith.select %c, %x, %c1 : i32
  %i = arith.select %c, %i0, %y : i32
  %j = arith.select %c, %y, %i0 : i32
  %k0 = arith.cmpi eq, %x, %y : i32
  %k = arith.select %k0, %x, %y : i32
  tfrt.return %a, %b, %e, %f, %g, %h, %i, %j, %k : i32, i1, i1, i32, i32, i32, i32, i32, i32
}

// CHECK-LABEL: func.func @extended(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 1 : i32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant false
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant 0 : i32
// CHECK-DAG: %[[V3:[^ :,#]+]] = arith.constant -20 : i8
// CHECK-DAG: %[[V4:[^ :,#]+]] = arith.constant -31 : i8
// CHECK-DAG: %[[V5:[^ :,#]+]] = arith.constant -23 : i8
// CHECK: %[[V6:[^ :,#]+]] = arith.addi %arg0, %[[V0]] : i32
// CHECK: %[[V7:[^ :,#]+]] = arith.muli %arg0, %arg0 : i32
// CHECK: tfrt.return %arg0, %[[V1]], %arg0, %[[V2]], %[[V3]], %[[V4]], %[[V5]], %[[V1]], %[[V6]], %[[V7]] : i32, i1, i32, i32, i8, i8, i8, i1, i32, i32
func.func @extended(%x: i32) -> (i32, i1, i32, i32, i8, i8, i8, i1, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a:2 = arith.addui_extended %x, %c0 : i32, i1
  %b:2 = arith.mului_extended %x, %c1 : i32
  %p = arith.constant -100 : i8
  %q = arith.constant 77 : i8
  %c:2 = arith.mulsi_extended %p, %q : i8
  %d:2 = arith.addui_extended %p, %q : i8, i1
  %e, %unused = arith.addui_extended %x, %c1 : i32, i1
  %f, %unused2 = arith.mulsi_extended %x, %x : i32
  tfrt.return %a#0, %a#1, %b#0, %b#1, %c#0, %c#1, %d#0, %d#1, %e, %f : i32, i1, i32, i32, i8, i8, i8, i1, i32, i32
}

// CHECK-LABEL: func.func @minmax(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant -128 : i8
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant 127 : i8
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant 0 : i8
// CHECK-DAG: %[[V3:[^ :,#]+]] = arith.constant -1 : i8
// CHECK: tfrt.return %arg0, %[[V1]], %[[V0]], %arg0, %arg0, %[[V3]], %[[V2]], %arg0, %arg0 : i8, i8, i8, i8, i8, i8, i8, i8, i8
func.func @minmax(%x: i8) -> (i8, i8, i8, i8, i8, i8, i8, i8, i8) {
  %min = arith.constant -128 : i8
  %max = arith.constant 127 : i8
  %z = arith.constant 0 : i8
  %m1 = arith.constant -1 : i8
  %a = arith.maxsi %x, %min : i8
  %b = arith.maxsi %x, %max : i8
  %c = arith.minsi %x, %min : i8
  %d = arith.minsi %x, %max : i8
  %e = arith.maxui %x, %z : i8
  %f = arith.maxui %x, %m1 : i8
  %g = arith.minui %x, %z : i8
  %h = arith.minui %x, %m1 : i8
  %i = arith.minui %x, %x : i8
  tfrt.return %a, %b, %c, %d, %e, %f, %g, %h, %i : i8, i8, i8, i8, i8, i8, i8, i8, i8
}

// CHECK-LABEL: func.func @muldiv(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 0 : i32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant 12 : i32
// CHECK: %[[V2:[^ :,#]+]] = arith.muli %arg0, %[[V1]] : i32
// CHECK: %[[V3:[^ :,#]+]] = arith.muli %arg0, %arg1 overflow<nsw> : i32
// CHECK: %[[V4:[^ :,#]+]] = arith.divui %[[V3]], %arg1 : i32
// CHECK: tfrt.return %[[V2]], %arg0, %[[V4]], %[[V0]], %arg0 : i32, i32, i32, i32, i32
func.func @muldiv(%x: i32, %y: i32) -> (i32, i32, i32, i32, i32) {
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %a0 = arith.muli %x, %c3 : i32
  %a = arith.muli %a0, %c4 : i32
  %b0 = arith.muli %x, %y overflow<nsw> : i32
  %b = arith.divsi %b0, %y : i32
  %c = arith.divui %b0, %y : i32
  %d = arith.remui %x, %c1 : i32
  %e = arith.divsi %x, %c1 : i32
  tfrt.return %a, %b, %c, %d, %e : i32, i32, i32, i32, i32
}
