// A product, plus the number of calls before.
func.func @init() {
  %n = "tf.VarHandleOp"() {container = "", shared_name = "n", dtype = f32, shape = #tf_type.shape<>} : () -> tensor<!tf_type.resource>
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  "tf.AssignVariableOp"(%n, %zero) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  tfrt.return
}

func.func @main(%x: tensor<1x16xf32>) -> (tensor<1x8xf32> {bef.name = "y"}) {
  %n = "tf.VarHandleOp"() {container = "", shared_name = "n", dtype = f32, shape = #tf_type.shape<>} : () -> tensor<!tf_type.resource>
  %before = "tf.ReadVariableOp"(%n) : (tensor<!tf_type.resource>) -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  "tf.AssignAddVariableOp"(%n, %one) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %w = "tf.Const"() {value = dense<0.5> : tensor<16x8xf32>} : () -> tensor<16x8xf32>
  %product = "tf.MatMul"(%x, %w) : (tensor<1x16xf32>, tensor<16x8xf32>) -> tensor<1x8xf32>
  %y = "tf.AddV2"(%product, %before) : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  tfrt.return %y : tensor<1x8xf32>
}
