// A shape may be larger than any tensor: only making a tensor can fail.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor %t.bef | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'printed':
// CHECK-NEXT: shape = [65535, 65535, 65535, 65535, 65535, 65535, 65535]
// CHECK-NEXT: shape = [65535, 65535, 65535, 65535, 65535, 65535, 65535, 65535]
// CHECK-NEXT: shape = [4294967295, 4294967295, 4294967295, 65535]
// CHECK-NEXT: shape = [4294967295, 4294967295, 4294967295, 65535, 1]
// CHECK-NEXT: fixed_rank_shape = [4294967295, 4294967295, 4294967295]
// CHECK-NEXT: partial_tensor_shape = [4294967295, -1, 9223372036854775807]
// CHECK-NEXT: shape = [9223372036854775807, 9223372036854775807]
func.func @printed() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = ts.build_shape [65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64]
  %c1 = ts.print_shape %a, %ch
  %b = ts.build_shape [65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64, 65535 : i64]
  %c2 = ts.print_shape %b, %c1
  %c = ts.build_shape [4294967295 : i64, 4294967295 : i64, 4294967295 : i64, 65535 : i64]
  %c3 = ts.print_shape %c, %c2
  %d = ts.build_shape [4294967295 : i64, 4294967295 : i64, 4294967295 : i64, 65535 : i64, 1 : i64]
  %c4 = ts.print_shape %d, %c3
  %e = ts.build_shape [4294967295 : i64, 4294967295 : i64, 4294967295 : i64]
  %fixed = ts.as_fixed_rank_shape.3 %e
  %c5 = ts.print_fixed_rank_shape.3 %fixed, %c4
  %partial = ts.build_partial_shape [4294967295 : i64, -1 : i64, 9223372036854775807 : i64]
  %c6 = ts.print_partial_shape %partial, %c5
  %known = ts.build_partial_shape [9223372036854775807 : i64, 9223372036854775807 : i64]
  %f = ts.to_shape %known
  %c7 = ts.print_shape %f, %c6
  tfrt.return %c7 : !tfrt.chain
}

// CHECK: --- Running 'compared':
// CHECK-NEXT: 'compared' returned 1,0,9223372036854775807
func.func @compared() -> (i1, i1, i64) {
  %a = ts.build_shape [9223372036854775807 : i64, 9223372036854775807 : i64]
  %b = ts.build_shape [9223372036854775807 : i64, 9223372036854775807 : i64, 1 : i64]
  %same = ts.equal_shape %a, %a
  %other = ts.equal_shape %a, %b
  %one = tfrt.constant.i32 1
  %dimension = ts.get_dimension %a, %one
  tfrt.return %same, %other, %dimension : i1, i1, i64
}

// CHECK: --- Running 'counted':
// CHECK-NEXT: 'counted' returned <<error: the tensor is larger than the address space>>,0
func.func @counted() -> (i64, i64) {
  %a = ts.build_shape [4294967295 : i64, 4294967295 : i64, 2 : i64]
  // expected-error @+1 {{the tensor is larger than the address space}}
  %n = ts.get_num_elements %a
  %b = ts.build_shape [4294967295 : i64, 4294967295 : i64, 0 : i64]
  %m = ts.get_num_elements %b
  tfrt.return %n, %m : i64, i64
}

// CHECK: --- Running 'synchronous':
// CHECK-NEXT: 'synchronous' returned <<error: the tensor is larger than the address space>>
func.func @synchronous() -> i64 attributes {tfrt.sync} {
  %a = ts_sync.build_shape [4294967295 : i64, 4294967295 : i64, 2 : i64]
  // expected-error @+1 {{the tensor is larger than the address space}}
  %n = ts_sync.get_num_elements %a
  tfrt.return %n : i64
}

// CHECK: --- Running 'allocated':
// CHECK-NEXT: 'allocated' returned <<error: the tensor is larger than the address space>>
func.func @allocated() -> !t.tensor {
  %a = ts.build_shape [4294967295 : i64, 4294967295 : i64, 2 : i64]
  // expected-error @+1 {{the tensor is larger than the address space}}
  %t = "cpu.allocate.f32"(%a) : (!ts.shape) -> !t.tensor
  tfrt.return %t : !t.tensor
}
