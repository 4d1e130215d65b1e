// Benchmarks: what is printed, not how long anything takes.
//
// RUN: ir-opt %s | ir-opt | FileCheck --check-prefix=TEXT %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 2 --leak-check | FileCheck %s

// CHECK-LABEL: --- Running 'asynchronous'
func.func @asynchronous() -> !tfrt.chain {
  %a = tfrt.constant.i32 42
  // TEXT: tfrt_test.benchmark "add.i32"(%{{[a-z0-9_]*}} : i32) duration_secs = 1, max_count = 10, num_warmup_runs = 2 {
  // CHECK-NEXT: BM:add.i32:Duration(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:Count: 10
  // CHECK-NEXT: BM:add.i32:Time Min(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:Time 50%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:Time 95%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:Time 99%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:CPU Min(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:CPU 50%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:CPU 95%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:CPU 99%(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:add.i32:CPU utilization(percent): {{[0-9]+}}
  %ch = tfrt_test.benchmark "add.i32"(%a : i32) duration_secs = 1, max_count = 10, num_warmup_runs = 2 {
    %b = "tfrt_test.async_add.i32"(%a, %a) : (i32, i32) -> i32
    tfrt.return %b : i32
  }
  tfrt.return %ch : !tfrt.chain
}

// CHECK-LABEL: --- Running 'synchronous'
func.func @synchronous() {
  %a = tfrt.constant.i32 42
  // TEXT: tfrt_test.sync_benchmark @twice(%{{[a-z0-9_]*}} : i32) duration_secs = 1, max_count = 3, num_warmup_runs = 2
  // CHECK-NEXT: BM:twice:Duration(ns): {{[0-9]+}}
  // CHECK-NEXT: BM:twice:Count: 3
  tfrt_test.sync_benchmark @twice(%a : i32) max_count = 3, duration_secs = 1, num_warmup_runs = 2
  tfrt.return
}

func.func @twice(%a: i32) attributes {tfrt.sync} {
  %b = tfrt.add.i32 %a, %a
  tfrt.return
}

// CHECK-LABEL: --- Running 'failing'
func.func @failing() -> !tfrt.chain {
  %ch = tfrt_test.benchmark "fail"() duration_secs = 1, max_count = 10 {
    %b = "tfrt_test.fail"() : () -> i32
    tfrt.return %b : i32
  }
  tfrt.return %ch : !tfrt.chain
}
// CHECK: 'failing' returned <<error: something bad happened>>

// CHECK-LABEL: --- Running 'invoke'
func.func @invoke() -> (i32, i32, i32) {
  %a = tfrt.constant.i32 2
  %b = tfrt.constant.i32 3
  %c = "tfrt_test.invoke_sync_function.i32_i32.i32"(%a, %b) {fn = @sum} : (i32, i32) -> i32
  %d, %e = "tfrt_test.sync_function_runner.i32_i32.i32_i32"(%a, %b) {f = @swap} : (i32, i32) -> (i32, i32)
  tfrt.return %c, %d, %e : i32, i32, i32
}
// CHECK: 'invoke' returned 5,3,2

func.func @sum(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c : i32
}

func.func @swap(%a: i32, %b: i32) -> (i32, i32) attributes {tfrt.sync} {
  tfrt.return %b, %a : i32, i32
}
