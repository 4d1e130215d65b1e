// Attributes of operators are checked when the text is read, like everything else.
//
// RUN: ir-opt %s --verify-diagnostics
// RUN: ir-translate %s --verify-diagnostics -o %t.bef

func.func @conv(%x: tensor<1x4x4x1xf32>, %w: tensor<1x1x1x1xf32>) {
  // expected-error@+1 {{`tf.Conv2D`: attribute `padding` is "SAMEX", not one of ["VALID", "SAME", "EXPLICIT"]}}
  %0 = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "SAMEX"} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  // expected-error@+2 {{attribute 'strides' is not of kind list(int)}}
  // expected-error@+1 {{there is no attribute 'dilation'; did you mean 'dilations'?}}
  %1 = "tf.Conv2D"(%x, %w) {strides = "a", padding = "SAME", dilation = [1]} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  // expected-error@+1 {{attribute 'strides' is missing}}
  %2 = "tf.Conv2D"(%x, %w) {padding = "SAME"} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  // expected-error@+1 {{attribute 'padding' is not of kind string}}
  %3 = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32>
  // Attributes of dialects, those of the compiler, and places are not the operator's.
  %4 = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "SAME", group = "", _class = ["a"], my.note, device = "/cpu:0", colocate = ["a"]} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x1xf32> // expected-error {{there is no attribute 'group'}}
  tfrt.return
}

func.func @others(%x: tensor<2x3xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{attribute 'keep_dims' is not of kind bool}}
  %0 = "tf.Sum"(%x, %i) {keep_dims = 1 : i64} : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>
  %1 = "tf.LeakyRelu"(%x) {alpha = 0.1 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute 'alpha' is not of kind float}}
  %2 = "tf.LeakyRelu"(%x) {alpha = "x"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{attribute 'shared_name' is not of kind string}}
  %3 = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<2>, shared_name = 7 : i64} : () -> tensor<!tf_type.resource>
  // expected-error@+1 {{attribute 'dtype' is not of kind type}}
  %4 = "tf.VarHandleOp"() {dtype = "f32", shape = #tf_type.shape<2>} : () -> tensor<!tf_type.resource>
  // expected-error@+1 {{attribute 'shape' is not of kind shape}}
  %5 = "tf.VarHandleOp"() {dtype = f32, shape = true} : () -> tensor<!tf_type.resource>
  tfrt.return
}
