// An init function runs first, once; when it fails nothing else runs.
//
// RUN: bef-exec %s --init-function setup --functions f,g 2>&1 | FileCheck %s
// RUN: bef-exec %s --init-function setup --functions f 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not bef-exec %s --init-function broken --functions f 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not bef-exec %s --init-function nothing 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not bef-exec %s --init-function takes 2>&1 | FileCheck %s --check-prefix=TAKES
// RUN: bef-exec %s --init-function setup 2>/dev/null | FileCheck %s --check-prefix=ALL

// CHECK: --- Running 'setup':
// CHECK-NEXT: hello host executor!
// CHECK-NEXT: --- Running 'f':
// CHECK-NEXT: 'f' returned 1
// CHECK-NEXT: --- Running 'g':
// ONE: --- Running 'setup':
// ONE-NEXT: hello host executor!
// ONE-NEXT: --- Running 'f':
// ONE-NEXT: 'f' returned 1
// ONE-NOT: {{.}}
// BROKEN: --- Running 'broken':
// BROKEN-NEXT: init.mlir:{{[0-9]+}}:8: error: something bad happened
// BROKEN-NEXT: 'broken' returned <<error: something bad happened>>
// BROKEN-NOT: {{.}}
// NONE: error: no function 'nothing'; there are: setup, f, g, broken, takes
// TAKES: error: an init function has no arguments; the function is takes(x: i32) -> ()
// ALL-COUNT-1: 'setup'
// ALL-NOT: 'setup'
func.func @setup() {
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_hello"(%ch) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return
}
func.func @f() -> i32 {
  %one = tfrt.constant.i32 1
  tfrt.return %one : i32
}
func.func @g() { tfrt.return }
func.func @broken() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
func.func @takes(%x: i32) { tfrt.return }
