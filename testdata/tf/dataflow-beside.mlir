// RUN: not ir-translate %s --no-functionalize -O0 -o %t.bef 2>&1 | FileCheck %s

// Beside a graph there is the order of the program, which says nothing of what is in it.
// CHECK: error[E0733]: {{.*}}PrintV2{{.*}} stands beside a graph with effects, which would run in any order
func.func @beside(%p: tensor<i1>) {
  %text = "tf.Const"() {value = dense<"text"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.PrintV2"(%text) {output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
  tf_executor.graph {
    %f, %t = tf_executor.Switch %p, %p : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
    "tf.PrintV2"(%text) {output_stream = "stdout"} : (tensor<!tf_type.string>) -> ()
    tf_executor.fetch
  }
  func.return
}
