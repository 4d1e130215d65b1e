// Sparse tensors of every type and rank that can be read from a BTF file; Inputs/sparse.btf holds them in this order.
//
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | bef-exec - --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'f32':
// CHECK-NEXT: 'f32' returned CooHostTensor dtype = f32, shape = [], indices = [], values = [1.000000e+00],CooHostTensor dtype = f32, shape = [2], indices = [1], values = [2.000000e+00],CooHostTensor dtype = f32, shape = [2, 1], indices = [1, 0], values = [3.000000e+00],CooHostTensor dtype = f32, shape = [1, 2, 1], indices = [0, 1, 0], values = [4.000000e+00],CooHostTensor dtype = f32, shape = [1, 1, 2, 1], indices = [0, 0, 1, 0], values = [5.000000e+00]
func.func @f32() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/sparse.btf"}
  %i0 = tfrt.constant.i32 0
  %t0 = "btf.read_coo_tensor.f32.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %i1 = tfrt.constant.i32 1
  %t1 = "btf.read_coo_tensor.f32.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %i2 = tfrt.constant.i32 2
  %t2 = "btf.read_coo_tensor.f32.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %i3 = tfrt.constant.i32 3
  %t3 = "btf.read_coo_tensor.f32.3"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %i4 = tfrt.constant.i32 4
  %t4 = "btf.read_coo_tensor.f32.4"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t0, %t1, %t2, %t3, %t4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// CHECK: --- Running 'i32':
// CHECK-NEXT: 'i32' returned CooHostTensor dtype = i32, shape = [], indices = [], values = [6],CooHostTensor dtype = i32, shape = [2], indices = [1], values = [7],CooHostTensor dtype = i32, shape = [2, 1], indices = [1, 0], values = [8],CooHostTensor dtype = i32, shape = [1, 2, 1], indices = [0, 1, 0], values = [9],CooHostTensor dtype = i32, shape = [1, 1, 2, 1], indices = [0, 0, 1, 0], values = [10]
func.func @i32() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/sparse.btf"}
  %i0 = tfrt.constant.i32 5
  %t0 = "btf.read_coo_tensor.i32.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %i1 = tfrt.constant.i32 6
  %t1 = "btf.read_coo_tensor.i32.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %i2 = tfrt.constant.i32 7
  %t2 = "btf.read_coo_tensor.i32.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %i3 = tfrt.constant.i32 8
  %t3 = "btf.read_coo_tensor.i32.3"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %i4 = tfrt.constant.i32 9
  %t4 = "btf.read_coo_tensor.i32.4"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t0, %t1, %t2, %t3, %t4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// CHECK: --- Running 'i8':
// CHECK-NEXT: 'i8' returned CooHostTensor dtype = i8, shape = [], indices = [], values = [11],CooHostTensor dtype = i8, shape = [2], indices = [1], values = [12],CooHostTensor dtype = i8, shape = [2, 1], indices = [1, 0], values = [13],CooHostTensor dtype = i8, shape = [1, 2, 1], indices = [0, 1, 0], values = [14],CooHostTensor dtype = i8, shape = [1, 1, 2, 1], indices = [0, 0, 1, 0], values = [15]
func.func @i8() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/sparse.btf"}
  %i0 = tfrt.constant.i32 10
  %t0 = "btf.read_coo_tensor.i8.0"(%path, %i0) : (!tfrt.string, i32) -> !t.tensor
  %i1 = tfrt.constant.i32 11
  %t1 = "btf.read_coo_tensor.i8.1"(%path, %i1) : (!tfrt.string, i32) -> !t.tensor
  %i2 = tfrt.constant.i32 12
  %t2 = "btf.read_coo_tensor.i8.2"(%path, %i2) : (!tfrt.string, i32) -> !t.tensor
  %i3 = tfrt.constant.i32 13
  %t3 = "btf.read_coo_tensor.i8.3"(%path, %i3) : (!tfrt.string, i32) -> !t.tensor
  %i4 = tfrt.constant.i32 14
  %t4 = "btf.read_coo_tensor.i8.4"(%path, %i4) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %t0, %t1, %t2, %t3, %t4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}
