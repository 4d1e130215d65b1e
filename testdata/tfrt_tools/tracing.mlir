// Scopes of the run, of its functions and, at the level debug, of kernels, by the tool that is for it. They are written at the end.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor_debug_tracing --enable_tracing --tracing_level=debug %t.bef | FileCheck %s --check-prefixes=CHECK,SCOPES,DEBUG
// RUN: bef_executor_debug_tracing --enable_tracing --tracing_level=verbose %t.bef | FileCheck %s --check-prefixes=CHECK,SCOPES
// RUN: bef_executor_debug_tracing --enable_tracing --tracing_level=default %t.bef | FileCheck %s --check-prefixes=CHECK,SCOPES
// RUN: bef_executor_debug_tracing --enable_tracing %t.bef | FileCheck %s --check-prefixes=CHECK,SCOPES
// RUN: bef_executor_debug_tracing --enable_tracing --init-function=prepare --functions=traced %t.bef | FileCheck %s --check-prefix=INIT
// RUN: bef_executor_debug_tracing %t.bef | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: bef_executor --enable_tracing=true --tracing_level=debug %t.bef | FileCheck %s --check-prefixes=CHECK,NONE

// NONE-NOT: Scope
// CHECK: --- Running 'traced':
// CHECK-NEXT: hello host executor!
// CHECK-NEXT: 'traced' returned 1
// CHECK-NEXT: --- Not running 'argument' because it has arguments.
// CHECK-NEXT: --- Running 'prepare':

// SCOPES-NEXT: Scope:Bef Executor
// SCOPES-NEXT: Scope:Function: traced
// DEBUG-DAG: Scope:tfrt.new.chain
// DEBUG-DAG: Scope:tfrt.constant.i32
// DEBUG-DAG: Scope:tfrt_test.print_hello
// DEBUG: Scope:tfrt.alias.value
// DEBUG-NEXT: End Scope
// SCOPES-NEXT: End Scope
// SCOPES-NEXT: Scope:Function: prepare
// DEBUG-NEXT: Scope:tfrt.new.chain
// DEBUG-NEXT: End Scope
// SCOPES-NEXT: End Scope
// SCOPES-NEXT: End Scope
// SCOPES-NOT: Scope

// INIT: --- Running 'prepare':
// INIT: --- Running 'traced':
// INIT: 'traced' returned 1
// INIT-NEXT: Scope:Bef Executor
// INIT-NEXT: Scope:Function: prepare
// INIT-NEXT: End Scope
// INIT-NEXT: Scope:Function: traced
// INIT-NEXT: End Scope
// INIT-NEXT: End Scope

func.func @traced() -> i32 {
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_hello"(%ch) : (!tfrt.chain) -> !tfrt.chain
  %one = tfrt.constant.i32 1
  %r = "tfrt.alias.value"(%done, %one) : (!tfrt.chain, i32) -> i32
  tfrt.return %r : i32
}

func.func @argument(%a: i32) {
  tfrt.return
}

func.func @prepare() {
  %ch = tfrt.new.chain
  tfrt.return
}
