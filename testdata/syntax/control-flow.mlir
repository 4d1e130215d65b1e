// RUN: ir-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: ir-opt --generic %s --allow-unregistered-dialect | ir-opt --allow-unregistered-dialect | FileCheck %s

module {
  func.func private @decl(i32, index) -> (i32 {x.y = 1 : i32})
  func.func @f(%a: i32 {foo.bar}, %b: index, %c: i1, %m: memref<?xf32>) -> (i32, f32) attributes {llvm.emit_c_interface} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = arith.constant 1.0 : f32
    %y = arith.constant 2.0 : f32
    %one = arith.constant 1 : i32
    %one2 = arith.constant 1 : i32
    %t = arith.constant true
    %f = arith.constant false
    %d = arith.constant dense<1> : tensor<2xi32>
    %neg = arith.constant -7 : i64
    %g = func.constant @g : (i32) -> i32
    %g2 = func.constant @g : (i32) -> i32
    %r = func.call_indirect %g(%a) : (i32) -> i32
    %r2 = call @g(%a) {foo} : (i32) -> i32
    %s:2 = scf.for %i = %c0 to %b step %c1 iter_args(%p = %a, %q = %x) -> (i32, f32) {
      %z = arith.constant 5 : i32
      scf.yield %z, %q : i32, f32
    } {attr = 1}
    scf.for %i = %c0 to %b step %c1 {
      %z = arith.constant 5 : i32
    }
    scf.for %i = %one to %one step %one : i32 {
    }
    %w = scf.if %c -> (i32) {
      scf.yield %a : i32
    } else {
      scf.yield %one : i32
    } {foo}
    scf.if %c {
      %zz = arith.constant 5 : i32
    }
    scf.if %c {
    } else {
      %zz = arith.constant 5 : i32
    }
    scf.if %c {
    } else {
    }
    %ww:2 = scf.while (%aa = %a, %bb = %x) : (i32, f32) -> (i32, f32) {
      scf.condition(%c) %aa, %bb : i32, f32
    } do {
    ^bb0(%aa: i32, %bb: f32):
      scf.yield %aa, %bb : i32, f32
    } attributes {foo}
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      scf.yield
    }
    %er = scf.execute_region -> i32 {
      scf.yield %a : i32
    } {foo}
    scf.execute_region {
      cf.br ^bb1
    ^bb1:
      scf.yield
    }
    cf.assert %c, "msg" {foo}
    cf.switch %a : i32, [
      default: ^bb1(%a : i32),
      42: ^bb2,
      43: ^bb1(%one : i32)
    ] {foo}
  ^bb1(%k: i32):
    cf.cond_br %c, ^bb3(%k, %x : i32, f32), ^bb2 {foo}
  ^bb2:
    cf.br ^bb1(%a : i32) {foo}
  ^bb3(%l: i32, %mm: f32):
    cf.br ^bb4
  ^bb4:
    return {foo} %l, %mm : i32, f32
  }
  func.func private @g(%a : i32) -> i32 {
    return %a : i32
  }
  func.func @h() {
    %0:2 = "foo.multi"() : () -> (i32, i32)
    "foo.x"(%0#1) ({
      ^bb0(%q: i32):
      %idx = arith.constant 3 : index
      "foo.end"() : () -> ()
    }) : (i32) -> ()
    cf.switch %0#0 : i32, [
      default: ^bb1
    ]
    ^bb1:
    return
  }
}

// CHECK: module {
// CHECK-NEXT: func.func private @decl(i32, index) -> (i32 {x.y = 1 : i32})
// CHECK-NEXT: func.func @f(%arg0: i32 {foo.bar}, %arg1: index, %arg2: i1, %arg3: memref<?xf32>) -> (i32, f32) attributes {llvm.emit_c_interface} {
// CHECK-NEXT: %c0 = arith.constant 0 : index
// CHECK-NEXT: %c1 = arith.constant 1 : index
// CHECK-NEXT: %cst = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %cst_0 = arith.constant 2.000000e+00 : f32
// CHECK-NEXT: %c1_i32 = arith.constant 1 : i32
// CHECK-NEXT: %c1_i32_1 = arith.constant 1 : i32
// CHECK-NEXT: %true = arith.constant true
// CHECK-NEXT: %false = arith.constant false
// CHECK-NEXT: %cst_2 = arith.constant dense<1> : tensor<2xi32>
// CHECK-NEXT: %c-7_i64 = arith.constant -7 : i64
// CHECK-NEXT: %f = constant @g : (i32) -> i32
// CHECK-NEXT: %f_3 = constant @g : (i32) -> i32
// CHECK-NEXT: %0 = call_indirect %f(%arg0) : (i32) -> i32
// CHECK-NEXT: %1 = call @g(%arg0) {foo} : (i32) -> i32
// CHECK-NEXT: %2:2 = scf.for %arg4 = %c0 to %arg1 step %c1 iter_args(%arg5 = %arg0, %arg6 = %cst) -> (i32, f32) {
// CHECK-NEXT: %c5_i32 = arith.constant 5 : i32
// CHECK-NEXT: scf.yield %c5_i32, %arg6 : i32, f32
// CHECK-NEXT: } {attr = 1 : i64}
// CHECK-NEXT: scf.for %arg4 = %c0 to %arg1 step %c1 {
// CHECK-NEXT: %c5_i32 = arith.constant 5 : i32
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %arg4 = %c1_i32 to %c1_i32 step %c1_i32  : i32 {
// CHECK-NEXT: }
// CHECK-NEXT: %3 = scf.if %arg2 -> (i32) {
// CHECK-NEXT: scf.yield %arg0 : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %c1_i32 : i32
// CHECK-NEXT: } {foo}
// CHECK-NEXT: scf.if %arg2 {
// CHECK-NEXT: %c5_i32 = arith.constant 5 : i32
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %arg2 {
// CHECK-NEXT: } else {
// CHECK-NEXT: %c5_i32 = arith.constant 5 : i32
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %arg2 {
// CHECK-NEXT: } else {
// CHECK-NEXT: }
// CHECK-NEXT: %4:2 = scf.while (%arg4 = %arg0, %arg5 = %cst) : (i32, f32) -> (i32, f32) {
// CHECK-NEXT: scf.condition(%arg2) %arg4, %arg5 : i32, f32
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%arg4: i32, %arg5: f32):
// CHECK-NEXT: scf.yield %arg4, %arg5 : i32, f32
// CHECK-NEXT: } attributes {foo}
// CHECK-NEXT: scf.while : () -> () {
// CHECK-NEXT: scf.condition(%arg2)
// CHECK-NEXT: } do {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: %5 = scf.execute_region -> i32 {
// CHECK-NEXT: scf.yield %arg0 : i32
// CHECK-NEXT: } {foo}
// CHECK-NEXT: scf.execute_region {
// CHECK-NEXT: cf.br ^bb1
// CHECK-NEXT: ^bb1:  // pred: ^bb0
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: cf.assert %arg2, "msg" {foo}
// CHECK-NEXT: cf.switch %arg0 : i32, [
// CHECK-NEXT: default: ^bb1(%arg0 : i32),
// CHECK-NEXT: 42: ^bb2,
// CHECK-NEXT: 43: ^bb1(%c1_i32 : i32)
// CHECK-NEXT: ] {foo}
// CHECK-NEXT: ^bb1(%6: i32):  // 3 preds: ^bb0, ^bb0, ^bb2
// CHECK-NEXT: cf.cond_br %arg2, ^bb3(%6, %cst : i32, f32), ^bb2 {foo}
// CHECK-NEXT: ^bb2:  // 2 preds: ^bb0, ^bb1
// CHECK-NEXT: cf.br ^bb1(%arg0 : i32) {foo}
// CHECK-NEXT: ^bb3(%7: i32, %8: f32):  // pred: ^bb1
// CHECK-NEXT: cf.br ^bb4
// CHECK-NEXT: ^bb4:  // pred: ^bb3
// CHECK-NEXT: return {foo} %7, %8 : i32, f32
// CHECK-NEXT: }
// CHECK-NEXT: func.func private @g(%arg0: i32) -> i32 {
// CHECK-NEXT: return %arg0 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.func @h() {
// CHECK-NEXT: %0:2 = "foo.multi"() : () -> (i32, i32)
// CHECK-NEXT: "foo.x"(%0#1) ({
// CHECK-NEXT: ^bb0(%arg0: i32):
// CHECK-NEXT: %c3 = arith.constant 3 : index
// CHECK-NEXT: "foo.end"() : () -> ()
// CHECK-NEXT: }) : (i32) -> ()
// CHECK-NEXT: cf.switch %0#0 : i32, [
// CHECK-NEXT: default: ^bb1]
// CHECK-NEXT: ^bb1:  // pred: ^bb0
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
