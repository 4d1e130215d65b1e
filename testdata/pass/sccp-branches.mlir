// Constants through branches and loops of blocks.
//
// RUN: ir-opt %s --sccp --verify-each | FileCheck %s

// CHECK-LABEL: func.func @known_branch(%arg0: i32) -> i32 {
// CHECK-NEXT: %true = arith.constant true
// CHECK-NEXT: %c1_i32 = arith.constant 1 : i32
// CHECK-NEXT: %c2_i32 = arith.constant 2 : i32
// CHECK-NEXT: cf.cond_br %true, ^bb1(%c1_i32 : i32), ^bb1(%c2_i32 : i32)
// CHECK-NEXT: ^bb1(%0: i32):
// CHECK-NEXT: %c1_i32_0 = arith.constant 1 : i32
// CHECK-NEXT: %c2_i32_1 = arith.constant 2 : i32
// CHECK-NEXT: return %c2_i32_1 : i32
// CHECK-NEXT: }
func.func @known_branch(%a: i32) -> i32 {
  %t = arith.constant true
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  cf.cond_br %t, ^x(%one : i32), ^x(%two : i32)
^x(%c: i32):
  %d = arith.addi %c, %one : i32
  return %d : i32
}

// CHECK-LABEL: func.func @both_same(%arg0: i1) -> i32 {
// CHECK-NEXT: %c1_i32 = arith.constant 1 : i32
// CHECK-NEXT: %c1_i32_0 = arith.constant 1 : i32
// CHECK-NEXT: cf.cond_br %arg0, ^bb2(%c1_i32 : i32), ^bb1
// CHECK-NEXT: ^bb1:
// CHECK-NEXT: cf.br ^bb2(%c1_i32_0 : i32)
// CHECK-NEXT: ^bb2(%0: i32):
// CHECK-NEXT: %c1_i32_1 = arith.constant 1 : i32
// CHECK-NEXT: return %c1_i32_1 : i32
// CHECK-NEXT: }
func.func @both_same(%c: i1) -> i32 {
  %one = arith.constant 1 : i32
  %uno = arith.constant 1 : i32
  cf.cond_br %c, ^x(%one : i32), ^y
^y:
  cf.br ^x(%uno : i32)
^x(%v: i32):
  return %v : i32
}

// CHECK-LABEL: func.func @differ(%arg0: i1) -> i32 {
// CHECK-NEXT: %c1_i32 = arith.constant 1 : i32
// CHECK-NEXT: %c2_i32 = arith.constant 2 : i32
// CHECK-NEXT: cf.cond_br %arg0, ^bb1(%c1_i32 : i32), ^bb1(%c2_i32 : i32)
// CHECK-NEXT: ^bb1(%0: i32):
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @differ(%c: i1) -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  cf.cond_br %c, ^x(%one : i32), ^x(%two : i32)
^x(%v: i32):
  return %v : i32
}

// CHECK-LABEL: func.func @loop(%arg0: i32) -> i32 {
// CHECK-NEXT: %c0_i32 = arith.constant 0 : i32
// CHECK-NEXT: %c1_i32 = arith.constant 1 : i32
// CHECK-NEXT: cf.br ^bb1(%c0_i32, %arg0 : i32, i32)
// CHECK-NEXT: ^bb1(%0: i32, %1: i32):
// CHECK-NEXT: %c0_i32_0 = arith.constant 0 : i32
// CHECK-NEXT: %2 = arith.muli %c0_i32_0, %1 : i32
// CHECK-NEXT: %3 = arith.cmpi sgt, %1, %c0_i32 : i32
// CHECK-NEXT: cf.cond_br %3, ^bb2, ^bb3
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: %4 = arith.subi %1, %c1_i32 : i32
// CHECK-NEXT: cf.br ^bb1(%c0_i32_0, %4 : i32, i32)
// CHECK-NEXT: ^bb3:
// CHECK-NEXT: return %c0_i32_0 : i32
// CHECK-NEXT: }
func.func @loop(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero, %n : i32, i32)
^head(%k: i32, %i: i32):
  %same = arith.muli %k, %i : i32
  %more = arith.cmpi sgt, %i, %zero : i32
  cf.cond_br %more, ^body, ^end
^body:
  %j = arith.subi %i, %one : i32
  cf.br ^head(%k, %j : i32, i32)
^end:
  return %k : i32
}
