// Dense tensors of every type and rank that can be read from a BTF file; Inputs/dense.btf holds them in this order.
//
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'f32':
// CHECK-NEXT: 'f32' returned array(1., shape=(), dtype=float32),array([2., 3.], shape=(2,), dtype=float32),
// CHECK-NEXT: array({{\[\[}}3.],
// CHECK-NEXT:        [4.]], shape=(2, 1), dtype=float32),
// CHECK-NEXT: array({{\[\[\[}}4.],
// CHECK-NEXT:         [5.]]], shape=(1, 2, 1), dtype=float32),
// CHECK-NEXT: array({{\[\[\[\[}}5.],
// CHECK-NEXT:          [6.]]]], shape=(1, 1, 2, 1), dtype=float32)
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
// CHECK-NEXT: 'i32' returned array(6, shape=(), dtype=int32),array([7, 8], shape=(2,), dtype=int32),
// CHECK-NEXT: array({{\[\[}}8],
// CHECK-NEXT:        [9]], shape=(2, 1), dtype=int32),
// CHECK-NEXT: array({{\[\[\[}} 9],
// CHECK-NEXT:         [10]]], shape=(1, 2, 1), dtype=int32),
// CHECK-NEXT: array({{\[\[\[\[}}10],
// CHECK-NEXT:          [11]]]], shape=(1, 1, 2, 1), dtype=int32)
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
// CHECK-NEXT: 'i64' returned array(11, shape=(), dtype=int64),array([12, 13], shape=(2,), dtype=int64),
// CHECK-NEXT: array({{\[\[}}13],
// CHECK-NEXT:        [14]], shape=(2, 1), dtype=int64),
// CHECK-NEXT: array({{\[\[\[}}14],
// CHECK-NEXT:         [15]]], shape=(1, 2, 1), dtype=int64),
// CHECK-NEXT: array({{\[\[\[\[}}15],
// CHECK-NEXT:          [16]]]], shape=(1, 1, 2, 1), dtype=int64)
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
// CHECK-NEXT: 'i8' returned array(16, shape=(), dtype=int8),array([17, 18], shape=(2,), dtype=int8),
// CHECK-NEXT: array({{\[\[}}18],
// CHECK-NEXT:        [19]], shape=(2, 1), dtype=int8),
// CHECK-NEXT: array({{\[\[\[}}19],
// CHECK-NEXT:         [20]]], shape=(1, 2, 1), dtype=int8),
// CHECK-NEXT: array({{\[\[\[\[}}20],
// CHECK-NEXT:          [21]]]], shape=(1, 1, 2, 1), dtype=int8)
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
// CHECK-NEXT: 'ui8' returned array(21, shape=(), dtype=uint8),array([22, 23], shape=(2,), dtype=uint8),
// CHECK-NEXT: array({{\[\[}}23],
// CHECK-NEXT:        [24]], shape=(2, 1), dtype=uint8),
// CHECK-NEXT: array({{\[\[\[}}24],
// CHECK-NEXT:         [25]]], shape=(1, 2, 1), dtype=uint8),
// CHECK-NEXT: array({{\[\[\[\[}}25],
// CHECK-NEXT:          [26]]]], shape=(1, 1, 2, 1), dtype=uint8)
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
