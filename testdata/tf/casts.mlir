// Floats that an integer type lacks become what TensorFlow makes of them on x86, whether they are folded, numbers
// in registers or elements. Where its results depend on an element's place, they saturate (i8, i16, ui8, ui16),
// or are numbers of i64 modulo 2^32 (ui32).
//
// RUN: bef-exec %s -O0 2>&1 | FileCheck %s
// RUN: bef-exec %s -O2 2>&1 | FileCheck %s

// CHECK-LABEL: 'signed' returned
// CHECK-SAME: array([-128, -128, -128,   -1,    1,  127, -128, -128, -128],
// CHECK: array([-32768, -32768, -32768,     -1,      1,    300, -32768, -32768,
// CHECK-NEXT: -32768], shape=(9,), dtype=int16)
// CHECK-SAME: array([-2147483648, -2147483648,      -70000,          -1,           1,
// CHECK-NEXT: 300, -2147483648, -2147483648, -2147483648],
// CHECK: array([-9223372036854775808,          -5000000000,               -70000,
// CHECK-NEXT: -1,                    1,                  300,
// CHECK-NEXT: 5000000000, -9223372036854775808, -9223372036854775808],
func.func @signed() -> (tensor<9xi8>, tensor<9xi16>, tensor<9xi32>, tensor<9xi64>) {
  %x = "tf.Const"() {value = dense<[0xFF800000, -5.0e9, -7.0e4, -1.5, 1.9, 300.0, 5.0e9, 2.0e19, 0x7FC00000]> : tensor<9xf32>} : () -> tensor<9xf32>
  %0 = "tf.Cast"(%x) : (tensor<9xf32>) -> tensor<9xi8>
  %1 = "tf.Cast"(%x) : (tensor<9xf32>) -> tensor<9xi16>
  %2 = "tf.Cast"(%x) : (tensor<9xf32>) -> tensor<9xi32>
  %3 = "tf.Cast"(%x) : (tensor<9xf32>) -> tensor<9xi64>
  tfrt.return %0, %1, %2, %3 : tensor<9xi8>, tensor<9xi16>, tensor<9xi32>, tensor<9xi64>
}

// CHECK-LABEL: 'unsigned' returned
// CHECK-SAME: array([  0,   0,   0,   0,   1, 255,   0,   0,   0],
// CHECK: array([  0,   0,   0,   0,   1, 300,   0,   0,   0],
// CHECK: array([         0, 3589934592, 4294897296, 4294967295,          1,
// CHECK-NEXT: 300,  705032704,          0,          0],
// CHECK: array([ 9223372036854775808, 18446744068709551616, 18446744073709481616,
// CHECK-NEXT: 18446744073709551615,                    1,                  300,
// CHECK-NEXT: 5000000000, 10000000000000000000,  9223372036854775808],
func.func @unsigned() -> (tensor<9xui8>, tensor<9xui16>, tensor<9xui32>, tensor<9xui64>) {
  %x = "tf.Const"() {value = dense<[0xFFF0000000000000, -5.0e9, -7.0e4, -1.5, 1.9, 300.0, 5.0e9, 1.0e19, 0x7FF8000000000000]> : tensor<9xf64>} : () -> tensor<9xf64>
  %0 = "tf.Cast"(%x) : (tensor<9xf64>) -> tensor<9xui8>
  %1 = "tf.Cast"(%x) : (tensor<9xf64>) -> tensor<9xui16>
  %2 = "tf.Cast"(%x) : (tensor<9xf64>) -> tensor<9xui32>
  %3 = "tf.Cast"(%x) : (tensor<9xf64>) -> tensor<9xui64>
  tfrt.return %0, %1, %2, %3 : tensor<9xui8>, tensor<9xui16>, tensor<9xui32>, tensor<9xui64>
}

// CHECK-LABEL: 'numbers' returned
// CHECK-SAME: array(0, shape=(), dtype=uint8),array(4294967293,
// CHECK-SAME: array(18446744073709551613,
func.func @numbers() -> (tensor<ui8>, tensor<ui32>, tensor<ui64>) {
  %x = "tf.Const"() {value = dense<-1.5> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Square"(%x) : (tensor<f32>) -> tensor<f32>
  %z = "tf.Sub"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = "tf.Cast"(%z) : (tensor<f32>) -> tensor<ui8>
  %1 = "tf.Cast"(%z) : (tensor<f32>) -> tensor<ui32>
  %2 = "tf.Cast"(%z) : (tensor<f32>) -> tensor<ui64>
  tfrt.return %0, %1, %2 : tensor<ui8>, tensor<ui32>, tensor<ui64>
}
