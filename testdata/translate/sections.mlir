// Without the optional sections a file is smaller and runs the same; only places and names are gone.
//
// RUN: ir-translate %s -o %t.full.bef && ir-translate --disable-optional-sections %s -o %t.small.bef
// RUN: not cmp %t.full.bef %t.small.bef
// RUN: bef-exec %t.full.bef 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=FULL --input-file=%t.err
// RUN: bef-exec %t.small.bef 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SMALL --input-file=%t.err

// CHECK: 'f' returned <<error: something bad happened>>
// FULL: {{^}}{{.*}}sections.mlir:[[@LINE+3]]:8: error: something bad happened
// SMALL: {{^}}error: something bad happened
func.func @f() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
