// What the compiler made of this program when the format was young must still run: testdata/bef/golden/v1_1_program.bef.
// Tests that damage files and run them damage that one.
//
// RUN: not bef-exec %s --work-queue s --fuel 100 | FileCheck %s
// RUN: not bef-exec %p/golden/v1_1_program.bef --work-queue s --fuel 100 --verify-checksums | FileCheck %s

module @program attributes {tfrt.cost_threshold = 10 : i64} {

// CHECK-LABEL: --- Running 'main':
// CHECK-NEXT: hello host executor!
// CHECK-NEXT: int32 = 43
// CHECK-NEXT: 'main' returned 43,1.500000
func.func @main() -> (i32, f32 {bef.name = "half"}) {
  %ch0 = tfrt.new.chain
  %ch1 = "tfrt_test.print_hello"(%ch0) : (!tfrt.chain) -> !tfrt.chain
  %a = "tfrt_test.async_constant.i32"() {value = 21 : i32} : () -> i32
  %one = tfrt.constant.i32 1
  %b = tfrt.call @twice(%a) : (i32) -> i32
  %c = "tfrt_test.async_add.i32"(%b, %one) {_tfrt_cost = 7 : i64} : (i32, i32) -> i32
  %ch2 = tfrt.print.i32 %c, %ch1
  %f = tfrt.constant.f32 1.5
  %ch3 = tfrt.merge.chains %ch1, %ch2 : !tfrt.chain, !tfrt.chain
  tfrt.return %c, %f : i32, f32
}

func.func @twice(%x: i32 {bef.name = "x"}) -> i32 attributes {tfrt.sync} {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}

// CHECK-LABEL: --- Running 'tensors':
// CHECK-NEXT: shape = [2, 2]
// CHECK-SAME: values = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.500000e+00]
// CHECK-NEXT: 'tensors' returned {{.*}}5
func.func @tensors() -> (i1, i64) {
  %ch0 = tfrt.new.chain
  %t = "cpu.constant"() {value = dense<[[1.0, 2.0], [3.0, 4.5]]> : tensor<2x2xf32>} : () -> !t.tensor
  %u = "cpu.constant"() {value = dense<2.5> : tensor<2x2xf32>} : () -> !t.tensor
  %ch1 = tfrt_dht.print_tensor %t, %ch0
  %equal = tfrt.constant.i1 false
  %s = ts.build_shape [1 : i64, 5 : i64]
  %n = ts.get_num_elements %s
  tfrt.return %equal, %n : i1, i64
}

// CHECK-LABEL: --- Running 'fails':
// CHECK-NEXT: 'fails' returned <<error: something bad happened>>,5
func.func @fails() -> (i32, i32) {
  %x = "tfrt_test.fail"() : () -> i32
  %a = "tfrt_test.async_constant.i32"() {value = 5 : i32} : () -> i32
  %no = tfrt.constant.i1 false
  %y = "tfrt_test.select.i32"(%no, %a, %x) : (i1, i32, i32) -> i32
  tfrt.return %y, %a : i32, i32
}

// A program that only its fuel ends.
// CHECK-LABEL: --- Running 'forever':
// CHECK-NEXT: 'forever' returned <<error: Out of fuel: as many kernels have started as may>>
func.func @forever() -> i32 {
  %x = tfrt.call @forever() : () -> i32
  tfrt.return %x : i32
}
}
