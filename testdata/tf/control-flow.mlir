// Loops without variables that nothing needs, and selections in place of small branches.
//
// RUN: ir-opt %s --tf-simplify-control-flow | FileCheck %s
// RUN: bef-exec %s --functions needed,selected,errors 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: ir-opt %s --tf-simplify-control-flow | bef-exec - --functions needed,selected,errors 2>&1 | FileCheck %s --check-prefix=EXEC

// The counter of iterations is never read: it goes, with what makes it.
// CHECK-LABEL: func.func private @step(%arg0: i32, %arg1: i32) -> (i32, i32, i1)
// CHECK-NOT:     tfrt.add.i32 %{{.*}}, %{{.*}}tfrt.add
// CHECK:         tfrt.return
func.func private @step(%i: i32, %count: i32, %n: i32) -> (i32, i32, i32, i1) {
  %one = tfrt.constant.i32 1
  %next = tfrt.add.i32 %i, %one
  %counted = tfrt.add.i32 %count, %one
  %go = arith.cmpi slt, %next, %n : i32
  tfrt.return %next, %counted, %n, %go : i32, i32, i32, i1
}
// CHECK-LABEL: func.func @needed
// CHECK: %[[R:.*]]:2 = tfrt.while %{{.*}} @step(%{{.*}}, %{{.*}}) parallel_iterations(4) : (i32, i32) -> (i32, i32)
// CHECK: tfrt.return %[[R]]#0 : i32
// EXEC-LABEL: 'needed' returned 7
func.func @needed() -> i32 {
  %go = arith.constant true
  %zero = tfrt.constant.i32 0
  %n = tfrt.constant.i32 7
  %r:3 = tfrt.while %go @step(%zero, %zero, %n) parallel_iterations(4) : (i32, i32, i32) -> (i32, i32, i32)
  tfrt.return %r#0 : i32
}

// A variable that decides about the end is needed, and so is what an effect reads.
// CHECK-LABEL: func.func private @printed_step(%arg0: i32, %arg1: i32, %arg2: !tfrt.chain)
func.func private @printed_step(%i: i32, %printed: i32, %ch: !tfrt.chain) -> (i32, i32, !tfrt.chain, i1) {
  %one = tfrt.constant.i32 1
  %three = tfrt.constant.i32 3
  %next = tfrt.add.i32 %i, %one
  %ch1 = tfrt.print.i32 %printed, %ch
  %p = tfrt.add.i32 %printed, %three
  %go = arith.cmpi slt, %next, %three : i32
  tfrt.return %next, %p, %ch1, %go : i32, i32, !tfrt.chain, i1
}
// CHECK-LABEL: func.func @with_effects
func.func @with_effects(%ch: !tfrt.chain) -> !tfrt.chain {
  %go = arith.constant true
  %zero = tfrt.constant.i32 0
  %r:3 = tfrt.while %go @printed_step(%zero, %zero, %ch) parallel_iterations(1) : (i32, i32, !tfrt.chain) -> (i32, i32, !tfrt.chain)
  tfrt.return %r#2 : !tfrt.chain
}

func.func private @plus(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.addi %a, %b : i32
  tfrt.return %0, %a : i32, i32
}
func.func private @minus(%a: i32, %b: i32) -> (i32, i32) {
  %0 = arith.subi %a, %b : i32
  tfrt.return %0, %a : i32, i32
}
// What both sides give alike is not selected.
// CHECK-LABEL: func.func @selected
// CHECK: %[[A:.*]] = arith.addi %[[X:.*]], %[[Y:.*]] : i32
// CHECK: %[[B:.*]] = arith.subi %[[X]], %[[Y]] : i32
// CHECK: %[[C:.*]] = arith.select %{{.*}}, %[[A]], %[[B]] : i32
// CHECK-NOT: tfrt.cond
// CHECK: tfrt.return %[[C]], %[[X]]
// EXEC-LABEL: 'selected' returned -1,2
func.func @selected() -> (i32, i32) {
  %p = arith.constant false
  %a = arith.constant 2 : i32
  %b = arith.constant 3 : i32
  %r:2 = tfrt.cond %p @plus @minus (%a, %b) : (i32, i32) -> (i32, i32)
  tfrt.return %r#0, %r#1 : i32, i32
}

func.func private @quotient(%a: i32, %b: i32) -> i32 {
  %0 = arith.divsi %a, %b : i32
  tfrt.return %0 : i32
}
func.func private @first(%a: i32, %b: i32) -> i32 {
  tfrt.return %a : i32
}
// A side that may fail is only computed where it is taken.
// CHECK-LABEL: func.func @errors
// CHECK: tfrt.cond %{{.*}} @quotient @first
// EXEC-LABEL: 'errors' returned 5
func.func @errors() -> i32 {
  %p = arith.constant false
  %a = arith.constant 5 : i32
  %zero = arith.constant 0 : i32
  %r = tfrt.cond %p @quotient @first (%a, %zero) : (i32, i32) -> (i32)
  tfrt.return %r : i32
}
