func.func @main() -> (tensor<f32> {bef.name = "before"}, tensor<f32> {bef.name = "after"}) {
  %v = "tf.VarHandleOp"() {shared_name = "v", dtype = f32, shape = #tf_type.shape<>} : () -> tensor<!tf_type.resource>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  "tf.AssignVariableOp"(%v, %one) {dtype = f32} : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %before = "tf.ReadVariableOp"(%v) {dtype = f32} : (tensor<!tf_type.resource>) -> tensor<f32>
  "tf.AssignAddVariableOp"(%v, %before) {dtype = f32} : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %after = "tf.ReadVariableOp"(%v) {dtype = f32} : (tensor<!tf_type.resource>) -> tensor<f32>
  tfrt.return %before, %after : tensor<f32>, tensor<f32>
}
