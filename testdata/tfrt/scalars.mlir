// Every scalar type of `tfrt`: constants, casts, prints.
//
// RUN: ir-opt %s | ir-opt | FileCheck --check-prefix=TEXT %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 2 --leak-check | FileCheck %s
// RUN: ir-opt %s --canonicalize | ir-translate --mlir-to-bef | bef-exec - | FileCheck %s

// CHECK-LABEL: --- Running 'constants'
// TEXT-LABEL: @constants
func.func @constants() -> (i1, ui32, ui64, bf16, f16, complex<f32>, complex<f64>) {
  // TEXT: tfrt.constant.i1 true
  %a = tfrt.constant.i1 1
  // TEXT: tfrt.constant.ui32 4294967295
  %b = tfrt.constant.ui32 4294967295
  // TEXT: tfrt.constant.ui64 18446744073709551615
  %c = tfrt.constant.ui64 18446744073709551615
  // TEXT: tfrt.constant.bf16 1.500000e+00
  %d = tfrt.constant.bf16 1.5
  %e = tfrt.constant.f16 -2.5
  // TEXT: tfrt.constant.complex64 1.000000e+00, -2.000000e+00
  %f = tfrt.constant.complex64 1.0, -2.0
  %g = tfrt.constant.complex128 3.0, 4.5
  tfrt.return %a, %b, %c, %d, %e, %f, %g : i1, ui32, ui64, bf16, f16, complex<f32>, complex<f64>
}
// CHECK: 'constants' returned 1,4294967295,18446744073709551615,1.500000,-2.500000,(1.000000,-2.000000),(3.000000,4.500000)

// CHECK-LABEL: --- Running 'prints'
func.func @prints() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %h = tfrt.constant.f16 1.0
  // As in TFRT: the bits.
  // CHECK-NEXT: f16 = 15360
  %ch1 = "tfrt.print.f16"(%h, %ch) : (f16, !tfrt.chain) -> !tfrt.chain
  %c = tfrt.constant.complex64 1.0, 2.0
  // CHECK-NEXT: complex64 = 1.000000+2.000000i
  %ch2 = "tfrt.print.complex64"(%c, %ch1) : (complex<f32>, !tfrt.chain) -> !tfrt.chain
  %d = tfrt.constant.complex128 1.0, -2.5
  // CHECK-NEXT: complex128 = 1.000000-2.500000i
  %ch3 = "tfrt.print.complex128"(%d, %ch2) : (complex<f64>, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'casts'
func.func @casts() -> (i64, i64, i64, f32, f64) {
  %a = tfrt.constant.f32 -2.75
  %b = "tfrt.cast.f32_to_i64"(%a) : (f32) -> i64
  %c = tfrt.constant.f64 1.0e300
  %d = "tfrt.cast.f64_to_i64"(%c) : (f64) -> i64
  %e = tfrt.constant.f64 0x7FF8000000000000
  %f = "tfrt.cast.f64_to_i64"(%e) : (f64) -> i64
  %g = tfrt.constant.i64 16777217
  %h = "tfrt.cast.i64_to_f32"(%g) : (i64) -> f32
  %i = "tfrt.cast.i64_to_f64"(%g) : (i64) -> f64
  tfrt.return %b, %d, %f, %h, %i : i64, i64, i64, f32, f64
}
// CHECK: 'casts' returned -2,9223372036854775807,0,16777216.000000,16777217.000000

// CHECK-LABEL: --- Running 'synchronous_twins'
func.func @synchronous_twins() -> (i32, i64) attributes {tfrt.sync} {
  %a = tfrt.constant_s.i64 6
  %b = tfrt.mul_s.i64 %a, %a
  %c = "tfrt.constant_s.i32"() {value = 20 : i32} : () -> i32
  %d = "tfrt.add_s.i32"(%c, %c) : (i32, i32) -> i32
  tfrt.return %d, %b : i32, i64
}
// CHECK: 'synchronous_twins' returned 40,36

// CHECK-LABEL: --- Running 'aliases'
func.func @aliases() -> (i32, f32) {
  %ch = tfrt.new.chain
  %a = tfrt.constant.i32 4
  %b = tfrt.constant.f32 0.5
  %c, %d = "tfrt.alias.value"(%ch, %a, %b) : (!tfrt.chain, i32, f32) -> (i32, f32)
  tfrt.return %c, %d : i32, f32
}
// CHECK: 'aliases' returned 4,0.500000

// CHECK-LABEL: --- Running 'devices'
func.func @devices() -> (!tfrt.device, !tfrt.device) {
  %ch = tfrt.new.chain
  %a = tfrt.get_device %ch {device_name = "CPU:0"}
  %b = tfrt.get_device %ch {device_name = "GPU:7"}
  tfrt.return %a, %b : !tfrt.device, !tfrt.device
}
// CHECK: 'devices' returned CPU:0,<<error: failed to find device 'GPU:7'; there is CPU:0>>
