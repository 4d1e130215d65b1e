// How many operations there are, as upstream prints it.
//
// RUN: ir-opt %s --print-op-stats 2>&1 >/dev/null | FileCheck %s --match-full-lines --strict-whitespace
// RUN: ir-opt %s --pass-pipeline='builtin.module(func.func(print-op-stats{json=true}))' 2>&1 >/dev/null | FileCheck %s --check-prefix=JSON

//      CHECK:Operations encountered:
// CHECK-NEXT:-----------------------
// CHECK-NEXT:  builtin.module       , 1
// CHECK-NEXT:     func.func         , 1
// CHECK-NEXT:     tfrt.add.i32      , 1
// CHECK-NEXT:     tfrt.constant.i32 , 2
// CHECK-NEXT:     tfrt.return       , 1

//      JSON: {
// JSON-NEXT: "func.func" : 1,
// JSON-NEXT: "tfrt.add.i32" : 1,
// JSON-NEXT: "tfrt.constant.i32" : 2,
// JSON-NEXT: "tfrt.return" : 1
// JSON-NEXT: }
func.func @f() -> i32 {
  %0 = tfrt.constant.i32 1
  %1 = tfrt.constant.i32 2
  %2 = tfrt.add.i32 %0, %1
  tfrt.return %2 : i32
}
