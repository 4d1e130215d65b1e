// Branches, conditions and loops whose way is known or that do not matter.
//
// RUN: ir-opt %s --canonicalize --allow-unregistered-dialect --verify-each | FileCheck %s

// CHECK-LABEL: func.func @cond_true(%arg0: i32, %arg1: i32) -> i32 {
// CHECK-NEXT: return %arg0 : i32
// CHECK-NEXT: }
func.func @cond_true(%a: i32, %b: i32) -> i32 {
  %t = arith.constant true
  cf.cond_br %t, ^x(%a : i32), ^y(%b : i32)
^x(%c: i32):
  return %c : i32
^y(%d: i32):
  return %d : i32
}

// CHECK-LABEL: func.func @br_chain(%arg0: i32) -> i32 {
// CHECK-NEXT: %0 = arith.addi %arg0, %arg0 : i32
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @br_chain(%a: i32) -> i32 {
  cf.br ^x
^x:
  cf.br ^y(%a : i32)
^y(%c: i32):
  %d = arith.addi %c, %c : i32
  return %d : i32
}

// CHECK-LABEL: func.func @same_dest(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
// CHECK-NEXT: %0 = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @same_dest(%c: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^x(%a : i32), ^x(%b : i32)
^x(%d: i32):
  return %d : i32
}

// CHECK-LABEL: func.func @pass_through(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
// CHECK-NEXT: %0 = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @pass_through(%c: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^x, ^y
^x:
  cf.br ^z(%a : i32)
^y:
  cf.br ^z(%b : i32)
^z(%d: i32):
  return %d : i32
}

// CHECK-LABEL: func.func @switch(%arg0: i32, %arg1: i32) -> i32 {
// CHECK-NEXT: return %arg1 : i32
// CHECK-NEXT: }
func.func @switch(%a: i32, %b: i32) -> i32 {
  %f = arith.constant 7 : i32
  cf.switch %f : i32, [
    default: ^x(%a : i32),
    7: ^y(%b : i32)
  ]
^x(%c: i32):
  return %c : i32
^y(%d: i32):
  return %d : i32
}

// CHECK-LABEL: func.func @assert() {
// CHECK-NEXT: return
// CHECK-NEXT: }
func.func @assert() {
  %t = arith.constant true
  cf.assert %t, "never"
  return
}

// CHECK-LABEL: func.func @if_const(%arg0: i32, %arg1: i32) -> i32 {
// CHECK-NEXT: %0 = arith.addi %arg1, %arg1 : i32
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @if_const(%a: i32, %b: i32) -> i32 {
  %t = arith.constant false
  %r = scf.if %t -> (i32) {
    scf.yield %a : i32
  } else {
    %s = arith.addi %b, %b : i32
    scf.yield %s : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @if_select(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
// CHECK-NEXT: %0 = arith.select %arg0, %arg1, %arg2 : i32
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @if_select(%c: i1, %a: i32, %b: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @if_unused(%arg0: i1, %arg1: i32) -> i32 {
// CHECK-NEXT: %0 = scf.if %arg0 -> (i32) {
// CHECK-NEXT: %1 = arith.addi %arg1, %arg1 : i32
// CHECK-NEXT: scf.yield %1 : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: "t.effect"() : () -> ()
// CHECK-NEXT: scf.yield %arg1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @if_unused(%c: i1, %a: i32) -> i32 {
  %r:2 = scf.if %c -> (i32, i32) {
    %x = arith.addi %a, %a : i32
    scf.yield %x, %a : i32, i32
  } else {
    "t.effect"() : () -> ()
    scf.yield %a, %a : i32, i32
  }
  return %r#0 : i32
}

// CHECK-LABEL: func.func @for_never(%arg0: i32) -> i32 {
// CHECK-NEXT: return %arg0 : i32
// CHECK-NEXT: }
func.func @for_never(%a: i32) -> i32 {
  %c5 = arith.constant 5 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c5 to %c1 step %c1 iter_args(%s = %a) -> (i32) {
    %t = arith.addi %s, %s : i32
    scf.yield %t : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @for_once(%arg0: i32) -> i32 {
// CHECK-NEXT: %0 = arith.addi %arg0, %arg0 : i32
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @for_once(%a: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %a) -> (i32) {
    %t = arith.addi %s, %s : i32
    scf.yield %t : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @for_handed_on(%arg0: i32, %arg1: index) -> (i32, i32) {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %0 = scf.for %arg2 = %c0 to %arg1 step %c1 iter_args(%arg3 = %arg0) -> (i32) {
// CHECK-NEXT: %1 = arith.addi %arg3, %arg0 : i32
// CHECK-NEXT: scf.yield %1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: return %0, %arg0 : i32, i32
// CHECK-NEXT: }
func.func @for_handed_on(%a: i32, %n: index) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %u = %a) -> (i32, i32) {
    %t = arith.addi %s, %u : i32
    scf.yield %t, %u : i32, i32
  }
  return %r#0, %r#1 : i32, i32
}

// CHECK-LABEL: func.func @while_false(%arg0: i32) -> i32 {
// CHECK-NEXT: %0 = arith.addi %arg0, %arg0 : i32
// CHECK-NEXT: return %0 : i32
// CHECK-NEXT: }
func.func @while_false(%a: i32) -> i32 {
  %f = arith.constant false
  %r = scf.while (%x = %a) : (i32) -> i32 {
    %y = arith.addi %x, %x : i32
    scf.condition(%f) %y : i32
  } do {
  ^bb0(%z: i32):
    scf.yield %z : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @unreachable(%arg0: i32) -> i32 {
// CHECK-NEXT: return %arg0 : i32
// CHECK-NEXT: }
func.func @unreachable(%a: i32) -> i32 {
  return %a : i32
^x:
  "t.effect"() : () -> ()
  cf.br ^x
}
