// Tensors of BTF files. The strings are made here so that the paths can be said on the command line.
//
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | ir-translate --mlir-to-bef | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | ir-translate --mlir-to-bef | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | ir-translate --mlir-to-bef | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | ir-translate --mlir-to-bef | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | ir-translate --mlir-to-bef | bef-exec - --seed 2 --leak-check | FileCheck %s

// CHECK-LABEL: --- Running 'dense'
func.func @dense() -> (!t.tensor, !t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/two.btf"}
  %zero = tfrt.constant.i32 0
  %two = tfrt.constant.i32 2
  %a = "btf.read_dense_tensor.f32.1"(%path, %zero) : (!tfrt.string, i32) -> !t.tensor
  %b = "btf.read_dense_tensor.f32.2"(%path, %zero) : (!tfrt.string, i32) -> !t.tensor
  %c = "btf.read_dense_tensor.f32.1"(%path, %two) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %a, %b, %c : !t.tensor, !t.tensor, !t.tensor
}
// CHECK: 'dense' returned array([ 1.5, -2. ], shape=(2,), dtype=float32),<<error: cannot read {{.*}}two.btf: tensor 0 is Dense, of f32 and rank 1; Dense, of f32 and rank 2 was asked for>>,<<error: cannot read {{.*}}two.btf: there is no tensor 2 in a file of 2>>

// CHECK-LABEL: --- Running 'sparse'
func.func @sparse() -> (!t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/two.btf"}
  %none = tfrt_test.get_string {value = "/no/such/file"}
  %one = tfrt.constant.i32 1
  %a = "btf.read_coo_tensor.i32.2"(%path, %one) : (!tfrt.string, i32) -> !t.tensor
  %b = "btf.read_coo_tensor.i32.2"(%none, %one) : (!tfrt.string, i32) -> !t.tensor
  tfrt.return %a, %b : !t.tensor, !t.tensor
}
// CHECK: 'sparse' returned CooHostTensor dtype = i32, shape = [2, 3], indices = [0, 1, 1, 2], values = [7, 9],<<error: failed to open file /no/such/file for reading: {{.*}}>>
