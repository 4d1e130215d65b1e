// Text with several errors: all are reported, in the order of the text, each with an excerpt; nothing is written.
//
// RUN: not ir-translate %s -o %t.bef 2>&1 | FileCheck %s
// RUN: not test -e %t.bef
// RUN: not ir-opt %s 2>&1 | FileCheck %s
// RUN: not bef-exec %s 2>&1 | FileCheck %s
// RUN: not ir-translate --mlir-to-bef < %s 2>&1 | FileCheck %s --check-prefix=STDIN

// STDIN: {{^}}<stdin>:{{[0-9]+}}:8: error[E0301]: unknown operation `tfrt.ad.i32`

// CHECK: {{^}}{{.*}}text-errors.mlir:[[@LINE+9]]:8: error[E0301]: unknown operation `tfrt.ad.i32`
// CHECK-NEXT: ,-[{{.*}}text-errors.mlir:[[@LINE+8]]:8]
// CHECK-NEXT: {{[0-9]+}} |   %b = tfrt.ad.i32 %a, %a
// CHECK-NEXT: :        ^^^^^^^^^^^
// CHECK: help: did you mean `tfrt.add.i32`?
// CHECK: text-errors.mlir:[[@LINE+5]]:25: error[E0302]: use of undefined value `%zz`
// CHECK: text-errors.mlir:[[@LINE+5]]:15: error[E0305]: `%c` is used as f32 but has type i32
func.func @f() -> f32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.ad.i32 %a, %a
  %c = tfrt.add.i32 %a, %zz
  tfrt.return %c : f32
}
