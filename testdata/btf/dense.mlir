// Dense tensors of every type and rank that can be read from a BTF file; Inputs/dense.btf holds them in this order.
//
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'f32':
// CHECK-NEXT: 'f32' returned DenseHostTensor dtype = f32, shape = [], values = [1.000000e+00],DenseHostTensor dtype = f32, shape = [2], values = [2.000000e+00, 3.000000e+00],DenseHostTensor dtype = f32, shape = [2, 1], values = [3.000000e+00, 4.000000e+00],DenseHostTensor dtype = f32, shape = [1, 2, 1], values = [4.000000e+00, 5.000000e+00],DenseHostTensor dtype = f32, shape = [1, 1, 2, 1], values = [5.000000e+00, 6.000000e+00]
func.func @f32() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/dense.btf"}
  %i0 = tfrt.constant.i32 0
  %t0 = "btf.read_dense_tensor.f32.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %i1 = tfrt.constant.i32 1
  %t1 = "btf.read_dense_tensor.f32.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %i2 = tfrt.constant.i32 2
  %t2 = "btf.read_dense_tensor.f32.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %i3 = tfrt.constant.i32 3
  %t3 = "btf.read_dense_tensor.f32.3"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %i4 = tfrt.constant.i32 4
  %t4 = "btf.read_dense_tensor.f32.4"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t0, %t1, %t2, %t3, %t4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// CHECK: --- Running 'i32':
// CHECK-NEXT: 'i32' returned DenseHostTensor dtype = i32, shape = [], values = [6],DenseHostTensor dtype = i32, shape = [2], values = [7, 8],DenseHostTensor dtype = i32, shape = [2, 1], values = [8, 9],DenseHostTensor dtype = i32, shape = [1, 2, 1], values = [9, 10],DenseHostTensor dtype = i32, shape = [1, 1, 2, 1], values = [10, 11]
func.func @i32() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/dense.btf"}
  %i0 = tfrt.constant.i32 5
  %t0 = "btf.read_dense_tensor.i32.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %i1 = tfrt.constant.i32 6
  %t1 = "btf.read_dense_tensor.i32.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %i2 = tfrt.constant.i32 7
  %t2 = "btf.read_dense_tensor.i32.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %i3 = tfrt.constant.i32 8
  %t3 = "btf.read_dense_tensor.i32.3"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %i4 = tfrt.constant.i32 9
  %t4 = "btf.read_dense_tensor.i32.4"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t0, %t1, %t2, %t3, %t4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// CHECK: --- Running 'i64':
// CHECK-NEXT: 'i64' returned DenseHostTensor dtype = i64, shape = [], values = [11],DenseHostTensor dtype = i64, shape = [2], values = [12, 13],DenseHostTensor dtype = i64, shape = [2, 1], values = [13, 14],DenseHostTensor dtype = i64, shape = [1, 2, 1], values = [14, 15],DenseHostTensor dtype = i64, shape = [1, 1, 2, 1], values = [15, 16]
func.func @i64() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/dense.btf"}
  %i0 = tfrt.constant.i32 10
  %t0 = "btf.read_dense_tensor.i64.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %i1 = tfrt.constant.i32 11
  %t1 = "btf.read_dense_tensor.i64.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %i2 = tfrt.constant.i32 12
  %t2 = "btf.read_dense_tensor.i64.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %i3 = tfrt.constant.i32 13
  %t3 = "btf.read_dense_tensor.i64.3"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %i4 = tfrt.constant.i32 14
  %t4 = "btf.read_dense_tensor.i64.4"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t0, %t1, %t2, %t3, %t4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// CHECK: --- Running 'i8':
// CHECK-NEXT: 'i8' returned DenseHostTensor dtype = i8, shape = [], values = [16],DenseHostTensor dtype = i8, shape = [2], values = [17, 18],DenseHostTensor dtype = i8, shape = [2, 1], values = [18, 19],DenseHostTensor dtype = i8, shape = [1, 2, 1], values = [19, 20],DenseHostTensor dtype = i8, shape = [1, 1, 2, 1], values = [20, 21]
func.func @i8() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/dense.btf"}
  %i0 = tfrt.constant.i32 15
  %t0 = "btf.read_dense_tensor.i8.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %i1 = tfrt.constant.i32 16
  %t1 = "btf.read_dense_tensor.i8.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %i2 = tfrt.constant.i32 17
  %t2 = "btf.read_dense_tensor.i8.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %i3 = tfrt.constant.i32 18
  %t3 = "btf.read_dense_tensor.i8.3"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %i4 = tfrt.constant.i32 19
  %t4 = "btf.read_dense_tensor.i8.4"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t0, %t1, %t2, %t3, %t4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// CHECK: --- Running 'ui8':
// CHECK-NEXT: 'ui8' returned DenseHostTensor dtype = ui8, shape = [], values = [21],DenseHostTensor dtype = ui8, shape = [2], values = [22, 23],DenseHostTensor dtype = ui8, shape = [2, 1], values = [23, 24],DenseHostTensor dtype = ui8, shape = [1, 2, 1], values = [24, 25],DenseHostTensor dtype = ui8, shape = [1, 1, 2, 1], values = [25, 26]
func.func @ui8() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/dense.btf"}
  %i0 = tfrt.constant.i32 20
  %t0 = "btf.read_dense_tensor.ui8.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %i1 = tfrt.constant.i32 21
  %t1 = "btf.read_dense_tensor.ui8.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %i2 = tfrt.constant.i32 22
  %t2 = "btf.read_dense_tensor.ui8.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %i3 = tfrt.constant.i32 23
  %t3 = "btf.read_dense_tensor.ui8.3"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %i4 = tfrt.constant.i32 24
  %t4 = "btf.read_dense_tensor.ui8.4"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t0, %t1, %t2, %t3, %t4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}
