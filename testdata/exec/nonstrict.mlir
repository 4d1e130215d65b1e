// `bef.nonstrict` means nothing to a kernel that reads its operands: it waits for all of them.
//
// RUN: bef-exec %s --work-queue s | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 | FileCheck %s
// RUN: bef-exec %s --seed 3 | FileCheck %s
// RUN: ir-translate %s -o %t.bef && bef-exec %t.bef --work-queue s | FileCheck %s
// RUN: ir-translate %t.bef | FileCheck %s --check-prefix=TEXT

// TEXT: tfrt.add.i32 %{{.*}}, %{{.*}} {bef.nonstrict}
// CHECK-LABEL: --- Running 'strict'
// CHECK-NEXT: 'strict' returned 5,<<error: something bad happened>>
func.func @strict() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %two = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
  %three = tfrt.add.i32 %one, %two {bef.nonstrict}
  %five = tfrt.add.i32 %three, %two {bef.nonstrict}
  %bad = "tfrt_test.fail"() : () -> i32
  %fails = tfrt.add.i32 %one, %bad {bef.nonstrict}
  tfrt.return %five, %fails : i32, i32
}

func.func @add(%a: i32, %b: i32) -> i32 {
  %c = tfrt.add.i32 %a, %b {bef.nonstrict}
  tfrt.return %c : i32
}

// Where nothing has to wait, too.
// CHECK-LABEL: --- Running 'called'
// CHECK-NEXT: 'called' returned 2
func.func @called() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.call @add(%one, %one) {bef.nonstrict} : (i32, i32) -> i32
  tfrt.return %two : i32
}
