// RUN: tfrt_opt -tfrt-print-stream %s 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tfrt_translate -mlir-to-bef %s | tfrt_translate -bef-to-mlir | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor | FileCheck %s --check-prefix=EXEC
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor -work_queue_type=mstd:4 | FileCheck %s --check-prefix=ANY

// Costs and thresholds are not lost in BEF.
// CHECK: module attributes {tfrt.cost_threshold = 10 : i64}
module attributes {tfrt.cost_threshold = 10 : i64} {

// EXEC-LABEL: --- Running 'two':
// EXEC-NEXT: id: 0
// EXEC-NEXT: id: 1
// EXEC-NEXT: 'two' returned 1
// ANY-LABEL: --- Running 'two':
// ANY-DAG: id: 0
// ANY-DAG: id: 1
// ANY: 'two' returned 1
// CHECK: func.func @two()
// REMARK: streams.mlir:[[@LINE+1]]:{{.*}}stream id: 0, stream cost: 34, parent stream: -1
func.func @two() -> i32 {
  // REMARK: streams.mlir:[[@LINE+1]]:{{.*}}stream id: 0, stream cost: 34, parent stream: -1
  %x = tfrt.constant.i32 1
  // CHECK: tfrt_test.test_cost %{{.*}} {_tfrt_cost = 12 : i64, id = 0 : i64} : i32
  // REMARK: streams.mlir:[[@LINE+1]]:{{.*}}stream id: 0, stream cost: 34, parent stream: -1
  %a = tfrt_test.test_cost %x {id = 0 : i64, _tfrt_cost = 12 : i64} : i32
  // REMARK: streams.mlir:[[@LINE+1]]:{{.*}}stream id: 1, stream cost: 10, parent stream: 0
  %b = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 10 : i64} : i32
  // REMARK: streams.mlir:[[@LINE+1]]:{{.*}}stream id: 0, stream cost: 34, parent stream: -1
  %c = tfrt.add.i32 %a, %b
  // REMARK: streams.mlir:[[@LINE+1]]:{{.*}}stream id: 0, stream cost: 34, parent stream: -1
  tfrt.return %c : i32
}
}
