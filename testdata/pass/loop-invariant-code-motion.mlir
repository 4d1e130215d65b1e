// What is the same in every iteration is computed once.
//
// RUN: ir-opt %s --loop-invariant-code-motion --allow-unregistered-dialect --verify-each | FileCheck %s
// RUN: ir-opt %s --loop-invariant-code-motion --allow-unregistered-dialect | ir-opt --allow-unregistered-dialect | FileCheck %s

// What uses only values of before the loop moves, and what uses that.
// CHECK-LABEL: func.func @plain(
// CHECK: %[[A:.*]] = arith.addi %arg0, %arg0 : i32
// CHECK: %[[B:.*]] = arith.muli %[[A]], %arg0 : i32
// CHECK: scf.for
// CHECK-NOT: arith.muli
// CHECK: arith.addi %{{.*}}, %[[B]] : i32
func.func @plain(%x: i32, %n: index) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%sum = %x) -> (i32) {
    %a = arith.addi %x, %x : i32
    %b = arith.muli %a, %x : i32
    %s = arith.addi %sum, %b : i32
    scf.yield %s : i32
  }
  func.return %r : i32
}

// A division stays, unless its divisor is known: the loop may not run at all.
// CHECK-LABEL: func.func @division(
// CHECK: arith.divsi %arg0, %c3_i32 : i32
// CHECK: scf.for
// CHECK: arith.divsi %arg0, %arg1 : i32
func.func @division(%x: i32, %y: i32, %n: index) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%sum = %x) -> (i32) {
    %a = arith.divsi %x, %three : i32
    %b = arith.divsi %x, %y : i32
    %c = arith.addi %a, %b : i32
    %s = arith.addi %sum, %c : i32
    scf.yield %s : i32
  }
  func.return %r : i32
}

// A loop of tfrt carries what moved: %x is the same in every iteration, as the body hands it on; %a is not.
// CHECK-LABEL: func.func @repeat(
// CHECK-NEXT: %[[C:.*]] = tfrt.constant.i32 5
// CHECK-NEXT: %[[S:.*]] = tfrt.add.i32 %arg2, %[[C]]
// CHECK-NEXT: %[[Y:.*]] = tfrt.mul.i32 %[[S]], %arg2
// CHECK-NEXT: %[[R:.*]]:3 = tfrt.repeat.i32 %arg0, %arg1, %arg2, %[[Y]] : i32, i32, i32 {
// CHECK-NEXT:   %[[C2:.*]] = tfrt.constant.i32 5
// CHECK-NEXT:   %[[B:.*]] = tfrt.add.i32 %arg1, %[[Y]]
// CHECK-NEXT:   %[[D:.*]] = tfrt.add.i32 %[[B]], %[[C2]]
// CHECK-NEXT:   tfrt.return %[[D]], %arg2, %[[Y]] : i32, i32, i32
// CHECK-NEXT: }
// CHECK-NEXT: tfrt.return %[[R]]#0 : i32
func.func @repeat(%n: i32, %a: i32, %x: i32) -> i32 {
  %r:2 = tfrt.repeat.i32 %n, %a, %x : i32, i32 {
    %c = tfrt.constant.i32 5
    %s = tfrt.add.i32 %x, %c
    %y = tfrt.mul.i32 %s, %x
    %b = tfrt.add.i32 %a, %y
    %d = tfrt.add.i32 %b, %c
    tfrt.return %d, %x : i32, i32
  }
  tfrt.return %r#0 : i32
}

// A division stays, as its error would be that of the whole loop.
// CHECK-LABEL: func.func @parallel(
// CHECK-NEXT: %[[Y:.*]] = tfrt.add.i32 %arg2, %arg2
// CHECK-NEXT: tfrt.parallel_for.i32 %arg0 to %arg1 fixed %arg1, %arg2, %[[Y]] : i32, i32 {
// CHECK-NEXT:   tfrt.div.i32 %[[Y]], %arg2
func.func @parallel(%start: i32, %end: i32, %x: i32) -> !tfrt.chain {
  %done = tfrt.parallel_for.i32 %start to %end fixed %end, %x : i32 {
    %y = tfrt.add.i32 %x, %x
    %q, %m = tfrt.div.i32 %y, %x
    %c = tfrt.new.chain
    tfrt.return %c : !tfrt.chain
  }
  tfrt.return %done : !tfrt.chain
}

// Out of both loops.
// CHECK-LABEL: func.func @nested(
// CHECK-NEXT: %[[Y:.*]] = tfrt.mul.i32 %arg1, %arg1
// CHECK-NEXT: tfrt.repeat.i32 %arg0, %arg0, %arg1, %[[Y]]
// CHECK-NEXT: tfrt.repeat.i32 %arg0, %arg1, %[[Y]]
// CHECK-NOT: tfrt.mul
func.func @nested(%n: i32, %x: i32) -> i32 {
  %r:2 = tfrt.repeat.i32 %n, %n, %x : i32, i32 {
    %q = tfrt.repeat.i32 %n, %x : i32 {
      %y = tfrt.mul.i32 %x, %x
      "t.use"(%y) : (i32) -> ()
      tfrt.return %x : i32
    }
    tfrt.return %n, %x : i32, i32
  }
  tfrt.return %r#0 : i32
}
