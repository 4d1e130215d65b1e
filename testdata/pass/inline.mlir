// Calls become what they call, where that makes no difference.
//
// RUN: ir-opt %s --inline --allow-unregistered-dialect --verify-each | FileCheck %s
// RUN: ir-opt %s --inline --allow-unregistered-dialect --print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: ir-opt %s --inline=partial-errors --allow-unregistered-dialect | FileCheck %s --check-prefix=PARTIAL
// RUN: ir-opt %s --inline=max-new-ops=0 --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=BUDGET

// BUDGET: remark[E0507]: not inlined: too many operations would be added
// BUDGET: tfrt.call @twice

// CHECK-NOT:   @unused
// CHECK-NOT:   @gone
func.func private @unused() {
  tfrt.return
}

// CHECK-LABEL: func.func @twice
func.func @twice(%x: i32) -> (i32, i32) {
  %0 = tfrt.add.i32 %x, %x
  tfrt.return %0, %x : i32, i32
}
func.func private @gone(%x: i32) -> i32 {
  %0:2 = tfrt.call @twice(%x) : (i32) -> (i32, i32)
  tfrt.return %0#0 : i32
}

// Constants are no errors, so nothing is skipped.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %[[C:.*]] = tfrt.constant.i32 1
// CHECK-NEXT:    %[[A:.*]] = tfrt.add.i32 %[[C]], %[[C]]
// CHECK-NEXT:    %[[B:.*]] = tfrt.add.i32 %[[A]], %[[A]]
// CHECK-NEXT:    tfrt.return %[[B]], %[[A]] : i32, i32
func.func @constants() -> (i32, i32) {
  %0 = tfrt.constant.i32 1
  %1 = tfrt.call @gone(%0) : (i32) -> i32
  %2:2 = tfrt.call @twice(%1) : (i32) -> (i32, i32)
  // LOC-LABEL: func.func @constants
  // LOC: tfrt.add.i32 {{.*}} loc(#[[LOC:.*]])
  tfrt.return %2#0, %2#1 : i32, i32
}

// All results of `twice` are its argument's error if that is one, with or without the call.
// CHECK-LABEL: func.func @argument
// CHECK-NOT:     tfrt.call
// CHECK:         tfrt.return
func.func @argument(%x: i32) -> (i32, i32) {
  %0:2 = tfrt.call @twice(%x) : (i32) -> (i32, i32)
  tfrt.return %0#0, %0#1 : i32, i32
}

// The print would happen although %x is an error.
// CHECK-LABEL: func.func @prints
// CHECK-LABEL: func.func @effect
// CHECK:         tfrt.call @prints
func.func @prints(%x: i32, %c: !tfrt.chain) -> !tfrt.chain {
  %0 = tfrt.constant.i32 7
  %1 = tfrt.print.i32 %0, %c
  tfrt.return %1 : !tfrt.chain
}
func.func @effect(%x: i32, %c: !tfrt.chain) -> !tfrt.chain {
  %0 = tfrt.call @prints(%x, %c) : (i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %0 : !tfrt.chain
}

// If both arguments are errors, the call gives that of the first one, the sum in `@swapped` that of the second.
// CHECK-LABEL: func.func @both
// CHECK:         tfrt.add.i32 %arg0, %arg1
// CHECK:         tfrt.call @swapped
func.func private @straight(%x: i32, %y: i32) -> i32 {
  %0 = tfrt.add.i32 %x, %y
  tfrt.return %0 : i32
}
func.func private @swapped(%x: i32, %y: i32) -> i32 {
  %0 = tfrt.add.i32 %y, %x
  tfrt.return %0 : i32
}
func.func @both(%x: i32, %y: i32) -> (i32, i32) {
  %0 = tfrt.call @straight(%x, %y) : (i32, i32) -> i32
  %1 = tfrt.call @swapped(%x, %y) : (i32, i32) -> i32
  tfrt.return %0, %1 : i32, i32
}

// Recursion stays, declarations stay, unknown ops stay where they are.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT:    tfrt.call @recursive
// CHECK-NEXT:    tfrt.call @ping
// CHECK-NEXT:    tfrt.call @unknown
// CHECK-NEXT:    tfrt.call @native
func.func @stays() {
  tfrt.call @recursive() : () -> ()
  tfrt.call @ping() : () -> ()
  tfrt.call @unknown() : () -> ()
  tfrt.call @native() : () -> ()
  tfrt.return
}
func.func private @recursive() {
  tfrt.call @recursive() : () -> ()
  tfrt.return
}
func.func private @ping() {
  tfrt.call @pong() : () -> ()
  tfrt.return
}
func.func private @pong() {
  tfrt.call @ping() : () -> ()
  tfrt.return
}
func.func private @unknown() {
  "u.v"() : () -> ()
  tfrt.return
}
func.func private @native() attributes {tfrt.native}

// LOC: #[[LOC]] = loc(callsite(

// A result would be an error for an argument that it does not depend on: only `partial-errors` inlines that, and
// not where the call has its place among effects.
// PARTIAL-LABEL: func.func @partial
// PARTIAL-NOT:     tfrt.call @independent
// PARTIAL:         tfrt.call @ordered
func.func private @independent(%x: i32, %y: i32) -> (i32, i32) {
  %0 = tfrt.add.i32 %x, %x
  %1 = tfrt.add.i32 %y, %y
  tfrt.return %0, %1 : i32, i32
}
func.func private @ordered(%x: i32, %y: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %0 = tfrt.add.i32 %x, %x
  %1 = tfrt.print.i32 %y, %ch
  tfrt.return %0, %1 : i32, !tfrt.chain
}
// CHECK-LABEL: func.func @partial
// CHECK:         tfrt.call @independent
// CHECK:         tfrt.call @ordered
func.func @partial(%x: i32, %y: i32, %ch: !tfrt.chain) -> (i32, i32, i32, !tfrt.chain) {
  %0:2 = tfrt.call @independent(%x, %y) : (i32, i32) -> (i32, i32)
  %1:2 = tfrt.call @ordered(%x, %y, %ch) : (i32, i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %0#0, %0#1, %1#0, %1#1 : i32, i32, i32, !tfrt.chain
}
