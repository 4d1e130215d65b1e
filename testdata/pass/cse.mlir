// What is computed twice, and what only looks so.
//
// RUN: ir-opt %s --cse --allow-unregistered-dialect --verify-each | FileCheck %s
// RUN: ir-opt %s --cse --allow-unregistered-dialect --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT

// COUNT:      Pass statistics report
// COUNT:      {{^}}CSE
// COUNT-NEXT: (S) {{[0-9]+}} num-cse'd - Number of operations CSE'd
// COUNT-NEXT: (S) {{ *}}1 num-dce'd - Number of operations DCE'd

// CHECK-LABEL: func.func @same
// CHECK:         %[[A:.*]] = tfrt.constant.i32 1
// CHECK-NEXT:    %[[B:.*]] = tfrt.add.i32 %[[A]], %arg0
// CHECK-NEXT:    tfrt.return %[[B]], %[[B]], %[[B]] : i32, i32, i32
func.func @same(%x: i32) -> (i32, i32, i32) {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %a, %x
  %c = tfrt.constant.i32 1
  %d = tfrt.add.i32 %c, %x
  // The order does not matter.
  %e = tfrt.add.i32 %x, %a
  tfrt.return %b, %d, %e : i32, i32, i32
}

// CHECK-LABEL: func.func @different
// CHECK-COUNT-2: tfrt.constant.i32
// CHECK-COUNT-2: tfrt.minus.i32
// CHECK-COUNT-2: tfrt.constant.i32 1 {tag = {{[12]}} : i32}
func.func @different(%x: i32) -> (i32, i32, i32, i32) {
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 2
  %c = "tfrt.minus.i32"(%x, %a) : (i32, i32) -> i32
  %d = "tfrt.minus.i32"(%a, %x) : (i32, i32) -> i32
  %e = tfrt.constant.i32 1 {tag = 1 : i32}
  %f = tfrt.constant.i32 1 {tag = 2 : i32}
  %g = tfrt.add.i32 %e, %f
  %h = tfrt.add.i32 %b, %g
  tfrt.return %c, %d, %g, %h : i32, i32, i32, i32
}

// Prints are effects, and what is not registered may do anything.
// CHECK-LABEL: func.func @effects
// CHECK-COUNT-2: tfrt.print.i32
// CHECK-COUNT-2: "u.v"
// CHECK-NOT:     tfrt.constant
func.func @effects(%x: i32, %c: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %0 = tfrt.print.i32 %x, %c
  %1 = tfrt.print.i32 %x, %c
  %2 = "u.v"() : () -> i32
  %3 = "u.v"() : () -> i32
  %4 = tfrt.constant.i32 4
  tfrt.return %0, %1 : !tfrt.chain, !tfrt.chain
}

// A block sees what its dominators computed, not what its neighbours did.
// CHECK-LABEL: func.func @blocks
// CHECK:         %[[A:.*]] = arith.addi %arg1, %arg1
// CHECK:         "u.branch"
// CHECK:       ^bb1:
// CHECK-NEXT:    %[[B:.*]] = arith.muli %arg1, %arg1
// CHECK-NEXT:    "u.use"(%[[A]], %[[B]])
// CHECK:       ^bb2:
// CHECK-NEXT:    %[[C:.*]] = arith.muli %arg1, %arg1
// CHECK-NEXT:    "u.use"(%[[A]], %[[C]])
func.func @blocks(%c: i1, %x: i32) {
  %a = arith.addi %x, %x : i32
  "u.use"(%a, %a) : (i32, i32) -> ()
  "u.branch"(%c)[^bb1, ^bb2] : (i1) -> ()
^bb1:
  %b = arith.muli %x, %x : i32
  %d = arith.addi %x, %x : i32
  "u.use"(%d, %b) : (i32, i32) -> ()
  "u.end"() : () -> ()
^bb2:
  %e = arith.muli %x, %x : i32
  %f = arith.addi %x, %x : i32
  "u.use"(%f, %e) : (i32, i32) -> ()
  "u.end"() : () -> ()
}

// What is inside of an isolated op does not see what is outside, and nothing is known of ops that are not registered.
// CHECK-LABEL: "u.region"
// CHECK:         tfrt.constant.i32 5
func.func @isolated() -> i32 {
  %a = tfrt.constant.i32 5
  "u.region"() ({
    %b = tfrt.constant.i32 5
    "u.use"(%b) : (i32) -> ()
  }) : () -> ()
  tfrt.return %a : i32
}
