// What kernels log goes to standard error.
//
// RUN: bef-exec %s --work-queue s 2>&1 >/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 2>&1 >/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 2>&1 >/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 2>&1 >/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 2>&1 >/dev/null | FileCheck %s

// CHECK: from TFRT_LOG(INFO): text
// CHECK-NEXT: from TFRT_LOG(WARNING): text
// CHECK-NEXT: from TFRT_LOG(ERROR): text
// CHECK-NEXT: from TFRT_LOG_IF(INFO, true): text
// CHECK-NEXT: from TFRT_LOG_IF(WARNING, true): text
// CHECK-NEXT: from TFRT_LOG_IF(ERROR, true): text
// CHECK-NOT: false
func.func @log() -> !tfrt.chain {
  %text = tfrt_test.get_string {value = "text"}
  %ch = "tfrt_test.logging"(%text) : (!tfrt.string) -> !tfrt.chain
  tfrt.return %ch : !tfrt.chain
}
