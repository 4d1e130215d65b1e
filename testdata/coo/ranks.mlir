// Sparse tensors of every type and rank: from dense ones and back, compared, printed.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'i32.0':
// CHECK-NEXT: CooHostTensor dtype = i32, shape = [], indices = [], values = [5]
// CHECK: DenseHostTensor dtype = i32, shape = [], values = [5]
// CHECK-NEXT: 'i32.0' returned 1,0
func.func @i32.0() -> (i1, i1) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.0 []
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch [5 : i32]
  %sparse, %c2 = coo.convert_dht_to_coo.i32.0 %dense, %c1
  %c3 = coo.print_tensor %sparse, %c2
  %again, %c4 = coo.convert_coo_to_dht.i32.0 %sparse, %c3
  %c5 = tfrt_dht.print_tensor %again, %c4
  %c6 = tfrt_dht.fill_tensor_with_constant.i32 %dense, %c5 0 : i32
  %zeros, %c7 = coo.convert_dht_to_coo.i32.0 %dense, %c6
  %same, %c8 = coo.tensor_equal.i32.0 %sparse, %sparse, %c7
  %other, %c9 = coo.tensor_equal.i32.0 %sparse, %zeros, %c8
  tfrt.return %same, %other : i1, i1
}

// CHECK: --- Running 'i32.1':
// CHECK-NEXT: CooHostTensor dtype = i32, shape = [3], indices = [1, 2], values = [7, 5]
// CHECK: DenseHostTensor dtype = i32, shape = [3], values = [0, 7, 5]
// CHECK-NEXT: 'i32.1' returned 1,0
func.func @i32.1() -> (i1, i1) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.1 [3 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch [0 : i32, 7 : i32, 5 : i32]
  %sparse, %c2 = coo.convert_dht_to_coo.i32.1 %dense, %c1
  %c3 = coo.print_tensor %sparse, %c2
  %again, %c4 = coo.convert_coo_to_dht.i32.1 %sparse, %c3
  %c5 = tfrt_dht.print_tensor %again, %c4
  %c6 = tfrt_dht.fill_tensor_with_constant.i32 %dense, %c5 0 : i32
  %zeros, %c7 = coo.convert_dht_to_coo.i32.1 %dense, %c6
  %same, %c8 = coo.tensor_equal.i32.1 %sparse, %sparse, %c7
  %other, %c9 = coo.tensor_equal.i32.1 %sparse, %zeros, %c8
  tfrt.return %same, %other : i1, i1
}

// CHECK: --- Running 'i32.2':
// CHECK-NEXT: CooHostTensor dtype = i32, shape = [2, 2], indices = [0, 1, 1, 1], values = [7, 5]
// CHECK: DenseHostTensor dtype = i32, shape = [2, 2], values = [0, 7, 0, 5]
// CHECK-NEXT: 'i32.2' returned 1,0
func.func @i32.2() -> (i1, i1) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch [0 : i32, 7 : i32, 0 : i32, 5 : i32]
  %sparse, %c2 = coo.convert_dht_to_coo.i32.2 %dense, %c1
  %c3 = coo.print_tensor %sparse, %c2
  %again, %c4 = coo.convert_coo_to_dht.i32.2 %sparse, %c3
  %c5 = tfrt_dht.print_tensor %again, %c4
  %c6 = tfrt_dht.fill_tensor_with_constant.i32 %dense, %c5 0 : i32
  %zeros, %c7 = coo.convert_dht_to_coo.i32.2 %dense, %c6
  %same, %c8 = coo.tensor_equal.i32.2 %sparse, %sparse, %c7
  %other, %c9 = coo.tensor_equal.i32.2 %sparse, %zeros, %c8
  tfrt.return %same, %other : i1, i1
}

// CHECK: --- Running 'i32.3':
// CHECK-NEXT: CooHostTensor dtype = i32, shape = [1, 2, 2], indices = [0, 0, 1, 0, 1, 1], values = [7, 5]
// CHECK: DenseHostTensor dtype = i32, shape = [1, 2, 2], values = [0, 7, 0, 5]
// CHECK-NEXT: 'i32.3' returned 1,0
func.func @i32.3() -> (i1, i1) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.3 [1 : i64, 2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %dense, %ch [0 : i32, 7 : i32, 0 : i32, 5 : i32]
  %sparse, %c2 = coo.convert_dht_to_coo.i32.3 %dense, %c1
  %c3 = coo.print_tensor %sparse, %c2
  %again, %c4 = coo.convert_coo_to_dht.i32.3 %sparse, %c3
  %c5 = tfrt_dht.print_tensor %again, %c4
  %c6 = tfrt_dht.fill_tensor_with_constant.i32 %dense, %c5 0 : i32
  %zeros, %c7 = coo.convert_dht_to_coo.i32.3 %dense, %c6
  %same, %c8 = coo.tensor_equal.i32.3 %sparse, %sparse, %c7
  %other, %c9 = coo.tensor_equal.i32.3 %sparse, %zeros, %c8
  tfrt.return %same, %other : i1, i1
}

// CHECK: --- Running 'f32.0':
// CHECK-NEXT: CooHostTensor dtype = f32, shape = [], indices = [], values = [5.000000e+00]
// CHECK: DenseHostTensor dtype = f32, shape = [], values = [5.000000e+00]
// CHECK-NEXT: 'f32.0' returned 1,0
func.func @f32.0() -> (i1, i1) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch [5.0 : f32]
  %sparse, %c2 = coo.convert_dht_to_coo.f32.0 %dense, %c1
  %c3 = coo.print_tensor %sparse, %c2
  %again, %c4 = coo.convert_coo_to_dht.f32.0 %sparse, %c3
  %c5 = tfrt_dht.print_tensor %again, %c4
  %c6 = tfrt_dht.fill_tensor_with_constant.f32 %dense, %c5 0.0 : f32
  %zeros, %c7 = coo.convert_dht_to_coo.f32.0 %dense, %c6
  %same, %c8 = coo.tensor_equal.f32.0 %sparse, %sparse, %c7
  %other, %c9 = coo.tensor_equal.f32.0 %sparse, %zeros, %c8
  tfrt.return %same, %other : i1, i1
}

// CHECK: --- Running 'f32.1':
// CHECK-NEXT: CooHostTensor dtype = f32, shape = [3], indices = [1, 2], values = [7.000000e+00, 5.000000e+00]
// CHECK: DenseHostTensor dtype = f32, shape = [3], values = [0.000000e+00, 7.000000e+00, 5.000000e+00]
// CHECK-NEXT: 'f32.1' returned 1,0
func.func @f32.1() -> (i1, i1) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.1 [3 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch [0.0 : f32, 7.0 : f32, 5.0 : f32]
  %sparse, %c2 = coo.convert_dht_to_coo.f32.1 %dense, %c1
  %c3 = coo.print_tensor %sparse, %c2
  %again, %c4 = coo.convert_coo_to_dht.f32.1 %sparse, %c3
  %c5 = tfrt_dht.print_tensor %again, %c4
  %c6 = tfrt_dht.fill_tensor_with_constant.f32 %dense, %c5 0.0 : f32
  %zeros, %c7 = coo.convert_dht_to_coo.f32.1 %dense, %c6
  %same, %c8 = coo.tensor_equal.f32.1 %sparse, %sparse, %c7
  %other, %c9 = coo.tensor_equal.f32.1 %sparse, %zeros, %c8
  tfrt.return %same, %other : i1, i1
}

// CHECK: --- Running 'f32.2':
// CHECK-NEXT: CooHostTensor dtype = f32, shape = [2, 2], indices = [0, 1, 1, 1], values = [7.000000e+00, 5.000000e+00]
// CHECK: DenseHostTensor dtype = f32, shape = [2, 2], values = [0.000000e+00, 7.000000e+00, 0.000000e+00, 5.000000e+00]
// CHECK-NEXT: 'f32.2' returned 1,0
func.func @f32.2() -> (i1, i1) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch [0.0 : f32, 7.0 : f32, 0.0 : f32, 5.0 : f32]
  %sparse, %c2 = coo.convert_dht_to_coo.f32.2 %dense, %c1
  %c3 = coo.print_tensor %sparse, %c2
  %again, %c4 = coo.convert_coo_to_dht.f32.2 %sparse, %c3
  %c5 = tfrt_dht.print_tensor %again, %c4
  %c6 = tfrt_dht.fill_tensor_with_constant.f32 %dense, %c5 0.0 : f32
  %zeros, %c7 = coo.convert_dht_to_coo.f32.2 %dense, %c6
  %same, %c8 = coo.tensor_equal.f32.2 %sparse, %sparse, %c7
  %other, %c9 = coo.tensor_equal.f32.2 %sparse, %zeros, %c8
  tfrt.return %same, %other : i1, i1
}

// CHECK: --- Running 'f32.3':
// CHECK-NEXT: CooHostTensor dtype = f32, shape = [1, 2, 2], indices = [0, 0, 1, 0, 1, 1], values = [7.000000e+00, 5.000000e+00]
// CHECK: DenseHostTensor dtype = f32, shape = [1, 2, 2], values = [0.000000e+00, 7.000000e+00, 0.000000e+00, 5.000000e+00]
// CHECK-NEXT: 'f32.3' returned 1,0
func.func @f32.3() -> (i1, i1) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %dense, %ch [0.0 : f32, 7.0 : f32, 0.0 : f32, 5.0 : f32]
  %sparse, %c2 = coo.convert_dht_to_coo.f32.3 %dense, %c1
  %c3 = coo.print_tensor %sparse, %c2
  %again, %c4 = coo.convert_coo_to_dht.f32.3 %sparse, %c3
  %c5 = tfrt_dht.print_tensor %again, %c4
  %c6 = tfrt_dht.fill_tensor_with_constant.f32 %dense, %c5 0.0 : f32
  %zeros, %c7 = coo.convert_dht_to_coo.f32.3 %dense, %c6
  %same, %c8 = coo.tensor_equal.f32.3 %sparse, %sparse, %c7
  %other, %c9 = coo.tensor_equal.f32.3 %sparse, %zeros, %c8
  tfrt.return %same, %other : i1, i1
}

// A tensor of another type or rank is an error.
// CHECK: --- Running 'wrong':
// CHECK-NEXT: 'wrong' returned <<error: a tensor of i32 and rank 1; expected f32 and rank 1>>,<<error: a tensor of i32 and rank 1; expected i32 and rank 2>>
func.func @wrong() -> (!t.tensor, !t.tensor) {
  %ch = tfrt.new.chain
  %dense = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.i32 %dense, %ch 1 : i32
  %a, %c2 = coo.convert_dht_to_coo.f32.1 %dense, %c1
  %b, %c3 = coo.convert_dht_to_coo.i32.2 %dense, %c1
  tfrt.return %a, %b : !t.tensor, !t.tensor
}
