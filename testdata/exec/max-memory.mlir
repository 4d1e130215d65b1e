// A limit of memory makes results errors. A constant of equal elements is one element in the file, and in memory
// until a kernel asks for all of them.
//
// RUN: bef-exec %s -O0 --max-memory 1000000 2>&1 | FileCheck %s
// RUN: bef-exec %s -O2 --max-memory 1000000 2>&1 | FileCheck %s
// RUN: ir-translate %s -o %t.bef
// RUN: bef-exec %t.bef --max-memory 1000000 --work-queue mstd:2 2>&1 | FileCheck %s
// RUN: not bef-exec %s --max-memory 1e6 2>&1 | FileCheck %s --check-prefix=USAGE

// USAGE: error: invalid value '1e6' for '--max-memory <BYTES>'

// CHECK: --- Running 'shape':
// CHECK-NEXT: 'shape' returned array([2147483647,          2], shape=(2,), dtype=int32)
func.func @shape() -> tensor<2xi32> {
  %a = "tf.Const"() {value = dense<1.5> : tensor<2147483647x2xf32>} : () -> tensor<2147483647x2xf32>
  %0 = "tf.Shape"(%a) : (tensor<2147483647x2xf32>) -> tensor<2xi32>
  tfrt.return %0 : tensor<2xi32>
}

// CHECK-NEXT: --- Running 'neg':
// CHECK-NEXT: {{.*}}error: out of memory: 17179869240 bytes asked for, 1000000 left of a budget of 1000000
// CHECK-NEXT: 'neg' returned <<error: out of memory: {{.*}}>>
func.func @neg() -> tensor<?x?xf32> {
  %a = "tf.Const"() {value = dense<1.5> : tensor<2147483647x2xf32>} : () -> tensor<2147483647x2xf32>
  %0 = "tf.Neg"(%a) : (tensor<2147483647x2xf32>) -> tensor<?x?xf32>
  tfrt.return %0 : tensor<?x?xf32>
}

// Printing needs no memory for the elements.
// CHECK-NEXT: --- Running 'equal':
// CHECK-NEXT: 'equal' returned
// CHECK-NEXT: array({{\[\[}}1.5, 1.5],
// CHECK-NEXT: [1.5, 1.5],
// CHECK-NEXT: [1.5, 1.5],
// CHECK-NEXT: ...,
// CHECK: shape=(2147483647, 2), dtype=float32)
func.func @equal() -> tensor<2147483647x2xf32> {
  %a = "tf.Const"() {value = dense<1.5> : tensor<2147483647x2xf32>} : () -> tensor<2147483647x2xf32>
  tfrt.return %a : tensor<2147483647x2xf32>
}

// What was given back can be asked for again.
// CHECK-NEXT: --- Running 'fits':
// CHECK-NEXT: 'fits' returned array([-3., -3., -3., ..., -3., -3., -3.], shape=(50000,), dtype=float32)
func.func @fits() -> tensor<50000xf32> {
  %a = "tf.Const"() {value = dense<1.5> : tensor<50000xf32>} : () -> tensor<50000xf32>
  %b = "tf.Neg"(%a) : (tensor<50000xf32>) -> tensor<50000xf32>
  %c = "tf.AddV2"(%b, %b) : (tensor<50000xf32>, tensor<50000xf32>) -> tensor<50000xf32>
  tfrt.return %c : tensor<50000xf32>
}

// Recursion without end is bounded by the values of its calls.
// CHECK-NEXT: --- Running 'deep':
// CHECK-NEXT: {{.*}}error: calls nest too deeply: at most 1048576 calls with 62500 registers in all may be active
// CHECK: 'deep' returned <<error: calls nest too deeply
func.func @deep() -> i32 {
  %one = tfrt.constant.i32 1
  %r = tfrt.call @deeper(%one) : (i32) -> i32
  tfrt.return %r : i32
}
func.func @deeper(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  %r = tfrt.call @deeper(%y) : (i32) -> i32
  tfrt.return %r : i32
}
