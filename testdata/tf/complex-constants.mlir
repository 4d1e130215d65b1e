// An imaginary constant is neither zero nor one, whatever its real part.
//
// RUN: bef-exec %s -O0 | FileCheck %s
// RUN: bef-exec %s -O2 | FileCheck %s

// CHECK: 'of_one' returned array(0.+1.j, shape=(), dtype=complex128)
// CHECK-SAME: array(1.+1.j, shape=(), dtype=complex128)
// CHECK-SAME: array(1.+2.j, shape=(), dtype=complex128)
// CHECK-SAME: array(1.+0.j, shape=(), dtype=complex128)
func.func @of_one() -> (tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>) {
  %x = "tf.Const"() {value = dense<(1.0, 0.0)> : tensor<complex<f64>>} : () -> tensor<complex<f64>>
  %a, %b, %c, %d = "tf.PartitionedCall"(%x) {f = @numbers} : (tensor<complex<f64>>) -> (tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>)
  tfrt.return %a, %b, %c, %d : tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>
}

func.func @numbers(%x: tensor<complex<f64>>) -> (tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>) {
  %i = "tf.Const"() {value = dense<(0.0, 1.0)> : tensor<complex<f64>>} : () -> tensor<complex<f64>>
  %z = "tf.Const"() {value = dense<(1.0, 2.0)> : tensor<complex<f64>>} : () -> tensor<complex<f64>>
  %one = "tf.Const"() {value = dense<(1.0, 0.0)> : tensor<complex<f64>>} : () -> tensor<complex<f64>>
  %a = "tf.Mul"(%x, %i) : (tensor<complex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  %b = "tf.AddV2"(%x, %i) : (tensor<complex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  %c = "tf.Mul"(%x, %z) : (tensor<complex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  %d = "tf.Mul"(%x, %one) : (tensor<complex<f64>>, tensor<complex<f64>>) -> tensor<complex<f64>>
  tfrt.return %a, %b, %c, %d : tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>, tensor<complex<f64>>
}
