// A file without names of attributes is raised with a warning, and with other names.
//
// RUN: tfrt_translate -mlir-to-bef --disable-optional-sections %s -o %t.bef
// RUN: tfrt_translate -bef-to-mlir %t.bef 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING --input-file=%t.err
// RUN: tfrt_translate -mlir-to-bef %s | tfrt_translate -bef-to-mlir 2>&1 | FileCheck %s --check-prefix=NAMED

// WARNING: missing-sections{{.*}}: warning: Missing AttributeTypes, AttributeNames or RegisterTypes sections.
// WARNING-NOT: warning
// NAMED-NOT: warning
// CHECK-LABEL: func.func @constant()
// NAMED-LABEL: func.func @constant()
func.func @constant() -> i32 {
  // CHECK: "x.constant"() {attr0 = 7 : i32} : () -> i32
  // NAMED: "x.constant"() {number = 7 : i32} : () -> i32
  %a = "x.constant"() {number = 7 : i32} : () -> i32
  tfrt.return %a : i32
}
