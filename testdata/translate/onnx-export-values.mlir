// The results of an exported model are those of the program: quotients of integers that are rounded to 0 or
// down, joined scalars, small logarithms, losses of classes that are ruled out, sums of integers.

// RUN: ir-translate %s -O0 --to onnx -o %t.onnx
// RUN: bef-exec %s -O0 --input x=i32[4]:-7,7,-7,7 --input y=i32[4]:2,2,-2,-2 --input f=f32[3]:1e-9,-1e-9,0.5 --input z=f32[1x3]:1,-inf,2 | FileCheck %s
// RUN: bef-exec %t.onnx --input x=i32[4]:-7,7,-7,7 --input y=i32[4]:2,2,-2,-2 --input f=f32[3]:1e-9,-1e-9,0.5 --input z=f32[1x3]:1,-inf,2 | FileCheck %s

// CHECK: array([-3,  3,  3, -3], shape=(4,), dtype=int32),array([-4,  3,  3, -4], shape=(4,), dtype=int32)
// CHECK-SAME: array(b'ab-ab', shape=(), dtype=object)
// CHECK-SAME: array([ {{1.0*e-09|9.99999..e-10}}, -{{1.0*e-09|9.99999..e-10}},  4.05465{{.*}}e-01]
// CHECK-NEXT: shape=(3,), dtype=float32),array([ {{1.0*e-09|9.99999..e-10}}, -{{1.0*e-09|9.99999..e-10}},  6.4872{{.*}}e-01]
// CHECK: array([1.3132616], shape=(1,), dtype=float32)
// CHECK: array([-12,  16, -16,  12], shape=(4,), dtype=int32)

func.func @main(%x: tensor<4xi32> {bef.name = "x"}, %y: tensor<4xi32> {bef.name = "y"}, %f: tensor<3xf32> {bef.name = "f"},
      %z: tensor<1x3xf32> {bef.name = "z"})
    -> (tensor<4xi32>, tensor<4xi32>, tensor<!tf_type.string>, tensor<3xf32>, tensor<3xf32>, tensor<1xf32>, tensor<4xi32>) {
  %to_zero = "tf.Div"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %down = "tf.FloorDiv"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %ab = "tf.Const"() {value = dense<"ab"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %joined = "tf.StringJoin"(%ab, %ab) {separator = "-"} : (tensor<!tf_type.string>, tensor<!tf_type.string>) -> tensor<!tf_type.string>
  %log1p = "tf.Log1p"(%f) : (tensor<3xf32>) -> tensor<3xf32>
  %expm1 = "tf.Expm1"(%f) : (tensor<3xf32>) -> tensor<3xf32>
  %label = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %loss:2 = "tf.SparseSoftmaxCrossEntropyWithLogits"(%z, %label) : (tensor<1x3xf32>, tensor<1xi32>) -> (tensor<1xf32>, tensor<1x3xf32>)
  %sum = "tf.AddN"(%x, %y, %x) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  tfrt.return %to_zero, %down, %joined, %log1p, %expm1, %loss#0, %sum : tensor<4xi32>, tensor<4xi32>, tensor<!tf_type.string>, tensor<3xf32>, tensor<3xf32>, tensor<1xf32>, tensor<4xi32>
}
