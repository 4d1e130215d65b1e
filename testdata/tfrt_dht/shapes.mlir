// Shapes: known, partly known, of a fixed rank.
//
// RUN: ir-opt %s | ir-opt | FileCheck --check-prefix=TEXT %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 2 --leak-check | FileCheck %s

// CHECK-LABEL: --- Running 'partial'
func.func @partial() -> (!ts.shape, !ts.shape, !ts.shape) {
  %ch = tfrt.new.chain
  // TEXT: ts.build_partial_shape [-1, 2]
  %a = ts.build_partial_shape [-1 : i64, 2 : i64]
  // CHECK-NEXT: partial_tensor_shape = [-1, 2]
  %ch1 = ts.print_partial_shape %a, %ch
  %b = ts.build_unranked_partial_shape
  // CHECK-NEXT: partial_tensor_shape = Unknown rank
  %ch2 = ts.print_partial_shape %b, %ch1
  %c = ts.build_shape [1 : i64, 57 : i64, 92 : i64]
  %d = ts.to_partial_shape %c
  // CHECK-NEXT: partial_tensor_shape = [1, 57, 92]
  %ch3 = ts.print_partial_shape %d, %ch2
  %e = ts.to_shape %d
  %f = ts.to_shape %a
  %g = ts.to_shape %b
  tfrt.return %e, %f, %g : !ts.shape, !ts.shape, !ts.shape
}
// CHECK: 'partial' returned shape = [1, 57, 92],<<error: Unknown dimensions at following indices = [0]>>,<<error: Unknown rank>>

// CHECK-LABEL: --- Running 'fixed_ranks'
func.func @fixed_ranks() -> !ts.fixed_rank_shape.2 {
  %ch = tfrt.new.chain
  %a = ts.build_shape [3 : i64]
  %b = ts.as_fixed_rank_shape.1 %a
  // CHECK-NEXT: fixed_rank_shape = [3]
  %ch1 = ts.print_fixed_rank_shape.1 %b, %ch
  %c = ts.as_fixed_rank_shape.2 %a
  tfrt.return %c : !ts.fixed_rank_shape.2
}
// CHECK: 'fixed_ranks' returned <<error: a shape of rank 1 is none of rank 2>>

// CHECK-LABEL: --- Running 'synchronous'
func.func @synchronous() -> i64 attributes {tfrt.sync} {
  %a = ts_sync.build_partial_shape [3 : i64, 4 : i64]
  %b = ts_sync.to_shape %a
  %n = ts_sync.get_num_elements %b
  tfrt.return %n : i64
}
// CHECK: 'synchronous' returned 12
