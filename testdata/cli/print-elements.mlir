// Results are printed as numpy prints arrays; of large ones the edges, unless all elements are asked for.
//
// RUN: bef-exec %s --work-queue s | FileCheck %s
// RUN: bef-exec %s --work-queue s --print-elements all | FileCheck %s --check-prefix=ALL
// RUN: bef-exec %s --work-queue s --print-elements=5 | FileCheck %s --check-prefix=FEW
// RUN: bef-exec %s --work-queue s --tfrt-output | FileCheck %s --check-prefix=TFRT
// RUN: not bef-exec %s --print-elements some 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: expected a number of elements, or all

// CHECK: 'large' returned array([7, 7, 7, ..., 7, 7, 7], shape=(2000,), dtype=int32)
// ALL: 'large' returned array([7, 7, 7, 7, 7, 7, 7
// ALL-NOT: ...
// TFRT: 'large' returned tensor<2000xi32> value
func.func @large() -> tensor<2000xi32> {
  %x = "tf.Const"() {value = dense<7> : tensor<2000xi32>} : () -> tensor<2000xi32>
  tfrt.return %x : tensor<2000xi32>
}

// CHECK: 'rows' returned
// CHECK-NEXT: array({{\[\[}}1.5, 2. ],
// CHECK-NEXT: [3. , 4. ]], shape=(2, 2), dtype=float32)
// FEW: array({{\[\[}}1.5, 2. ],
func.func @rows() -> tensor<2x2xf32> {
  %x = "tf.Const"() {value = dense<[[1.5, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  tfrt.return %x : tensor<2x2xf32>
}
