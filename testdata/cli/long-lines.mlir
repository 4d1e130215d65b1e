// An excerpt of a long line is a window around what is wrong; the place is that in the file.
//
// RUN: not ir-opt %s 2>&1 | FileCheck %s --match-full-lines --strict-whitespace
//      CHECK:{{.*}}long-lines.mlir:[[@LINE+7]]:264: error[E0302]: use of undefined value `%zz`
// CHECK-NEXT:    ,-[{{.*}}long-lines.mlir:[[@LINE+6]]:264]
// CHECK-NEXT: {{[0-9]+}} | ...%a, {{.*}}%a, %zz) : (i32, {{.*}}...
// CHECK-NEXT:    :    {{ +}}^^^
//      CHECK:    `----
func.func @f() {
  %a = tfrt.constant.i32 1
  %s = "tfrt_test.sum"(%a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %zz) : (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) -> i32
  tfrt.return
}
