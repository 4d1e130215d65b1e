// Shapes as values: made, compared, asked, turned into one another, computed.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'known':
// CHECK-NEXT: shape = [1, 57, 92]
// CHECK-NEXT: shape = []
// CHECK-NEXT: 'known' returned 1,0,57,<<error: dimension 3 of shape [1, 57, 92] of rank 3>>,5244
func.func @known() -> (i1, i1, i64, i64, i64) {
  %ch = tfrt.new.chain
  %a = ts.build_shape [1 : i64, 57 : i64, 92 : i64]
  %b = ts.build_shape []
  %c1 = ts.print_shape %a, %ch
  %c2 = ts.print_shape %b, %c1
  %same = ts.equal_shape %a, %a
  %other = ts.equal_shape %a, %b
  %one = tfrt.constant.i32 1
  %three = tfrt.constant.i32 3
  %dimension = ts.get_dimension %a, %one
  %none = ts.get_dimension %a, %three
  %n = ts.get_num_elements %a
  tfrt.return %same, %other, %dimension, %none, %n : i1, i1, i64, i64, i64
}

// CHECK: --- Running 'fixed_ranks':
// CHECK-NEXT: fixed_rank_shape = [2]
// CHECK-NEXT: fixed_rank_shape = [2, 3]
// CHECK-NEXT: fixed_rank_shape = [2, 3, 4]
// CHECK-NEXT: 'fixed_ranks' returned <<error: a shape of rank 1 is none of rank 3>>
func.func @fixed_ranks() -> !ts.fixed_rank_shape.3 {
  %ch = tfrt.new.chain
  %a = ts.build_shape [2 : i64]
  %b = ts.build_shape [2 : i64, 3 : i64]
  %c = ts.build_shape [2 : i64, 3 : i64, 4 : i64]
  %a1 = ts.as_fixed_rank_shape.1 %a
  %b2 = ts.as_fixed_rank_shape.2 %b
  %c3 = ts.as_fixed_rank_shape.3 %c
  %c1 = ts.print_fixed_rank_shape.1 %a1, %ch
  %c2 = ts.print_fixed_rank_shape.2 %b2, %c1
  %c4 = ts.print_fixed_rank_shape.3 %c3, %c2
  %a3 = ts.as_fixed_rank_shape.3 %a
  tfrt.return %a3 : !ts.fixed_rank_shape.3
}

// CHECK: --- Running 'synchronous':
// CHECK-NEXT: 'synchronous' returned 12
func.func @synchronous() -> i64 attributes {tfrt.sync} {
  %a = ts_sync.build_shape [3 : i64, 4 : i64]
  %b = ts_sync.to_partial_shape %a
  %c = ts_sync.to_shape %b
  %n = ts_sync.get_num_elements %c
  tfrt.return %n : i64
}

// CHECK: --- Running 'computed':
// CHECK-NEXT: 'computed' returned shape = [2, 4],shape = [2],<<error: {{.+}}>>
func.func @computed() -> (!ts.shape, !ts.shape, !ts.shape) {
  %a = ts.build_shape [2 : i64, 3 : i64]
  %b = ts.build_shape [3 : i64, 4 : i64]
  %c = ts.matmul_shape %a, %b
  %d = ts.reduce_shape %c {axis = -1 : i32}
  %bad = ts.matmul_shape %a, %a
  tfrt.return %c, %d, %bad : !ts.shape, !ts.shape, !ts.shape
}
