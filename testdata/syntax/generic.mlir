// Generic form for any operation: properties, regions with several blocks, forward references, packs of results.
//
// RUN: ir-opt %s --allow-unregistered-dialect --generic | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --generic | ir-opt --allow-unregistered-dialect --generic | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --keep-names | FileCheck %s --check-prefix=NAMES

// CHECK: "builtin.module"() ({
// CHECK-NEXT: "func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
func.func @f(%n: i32) {
  // CHECK-NEXT: ^bb0(%arg0: i32):
  // CHECK-NEXT: %0:2 = "u.early"() : () -> (f32, f32)
  %early:2 = "u.early"() : () -> (f32, f32)
  // CHECK-NEXT: %1:2 = "u.pack"(%arg0, %0#1) <{p = 1 : i64}> {a, b = "x\0Ay"} : (i32, f32) -> (i32, i64)
  // NAMES: %pack:2 = "u.pack"(%n, %early#1)
  %pack:2 = "u.pack"(%n, %early#1) <{p = 1}> {b = "x\ny", a} : (i32, f32) -> (i32, i64)
  // CHECK-NEXT: "u.regions"() ({
  // CHECK-NEXT: ^bb0(%arg1: i1):
  // CHECK-NEXT: "u.branch"(%arg1)[^bb1, ^bb2] : (i1) -> ()
  // CHECK-NEXT: ^bb1:  // 2 preds: ^bb0, ^bb2
  // CHECK-NEXT: "u.end"() : () -> ()
  // CHECK-NEXT: ^bb2:  // pred: ^bb0
  // CHECK-NEXT: "u.branch"()[^bb1] : () -> ()
  // CHECK-NEXT: }, {
  // CHECK-NEXT: "u.use"(%2#1) : (i64) -> ()
  // CHECK-NEXT: %2:2 = "u.later"() : () -> (i32, i64)
  // CHECK-NEXT: }) : () -> ()
  "u.regions"() ({
  ^entry(%c: i1):
    "u.branch"(%c)[^end, ^middle] : (i1) -> ()
  ^end:
    "u.end"() : () -> ()
  ^middle:
    "u.branch"()[^end] : () -> ()
  }, {
    "u.use"(%later#1) : (i64) -> ()
    %later:2 = "u.later"() : () -> (i32, i64)
  }) : () -> ()
  // CHECK-NEXT: "tfrt.return"() : () -> ()
  tfrt.return
}
