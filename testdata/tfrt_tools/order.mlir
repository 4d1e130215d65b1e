// With TFRT's tools streams are stored as the analysis finds them, however small: what runs first is TFRT's.
//
// RUN: tfrt_translate -mlir-to-bef %s -o=%t.bef
// RUN: bef_executor %t.bef -functions threshold,none,unknown -work_queue_type s --enable_tracing=0 --shared_libs= | FileCheck %s
// RUN: not tfrt_translate -mlir-to-bef %s --allow_unregistered_dialect=false -o=%t.bef -no_such_option
// RUN: tfrt_opt %s -pass-pipeline='builtin.module(func.func(tfrt-print-stream))' -o=%t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK

// Streams 4, 5, 4, 3, 3, 2, 1: the fourth is adopted first, and comes back behind the third.
// CHECK-LABEL: --- Running 'threshold':
// CHECK-NEXT: int32 = 0
// CHECK-NEXT: int32 = 3
// CHECK-NEXT: int32 = 0
// REMARK: order.mlir:[[@LINE+1]]:1: remark{{.*}}: stream id: 0, stream cost: 2, parent stream: -1, child streams: [4, 5, 3, 2]
func.func @threshold() attributes {tfrt.cost_threshold = 1 : i64} {
  %v0 = tfrt.constant.i32 0
  %c1 = tfrt.new.chain
  %c2 = tfrt.print.i32 %v0, %c1
  %v3 = tfrt.constant.i32 3
  %c4 = tfrt.print.i32 %v3, %c1
  %v6 = tfrt.constant.i32 6
  %c7 = tfrt.print.i32 %v0, %c1
  tfrt.return
}

// CHECK-LABEL: --- Running 'none':
// CHECK-NEXT: int32 = 0
// CHECK-NEXT: int32 = 1
func.func @none() {
  %v0 = tfrt.constant.i32 0
  %v1 = tfrt.constant.i32 1
  %c2 = tfrt.new.chain
  %c3 = tfrt.print.i32 %v1, %c2
  %c4 = tfrt.new.chain
  %c5 = tfrt.print.i32 %v0, %c4
  tfrt.return
}

// Kernels whose places are not known have no place in common.
// CHECK-LABEL: --- Running 'unknown':
// CHECK-NEXT: 'unknown' returned !tfrt.chain value,!tfrt.chain value
func.func @unknown() -> (!tfrt.chain, !tfrt.chain) {
  %a = "tfrt_test.unique_loc"() {name = "a"} : () -> !tfrt.chain loc(unknown)
  %b = "tfrt_test.unique_loc"() {name = "b"} : () -> !tfrt.chain loc(unknown)
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}
