// The shapes of what loops carry: those that they begin with, as far as every iteration keeps them.
//
// RUN: ir-opt %s --tf-shape-inference | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: "tf.While"{{.*}} : (tensor<i32>, tensor<2x3xf32>, tensor<1xf32>, tensor<2x2xf32>) -> (tensor<i32>, tensor<2x3xf32>, tensor<?xf32>, tensor<*xf32>)
func.func @main(%i: tensor<i32>, %x: tensor<2x3xf32>, %y: tensor<1xf32>, %z: tensor<2x2xf32>) -> (tensor<*xi32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0:4 = "tf.While"(%i, %x, %y, %z) {body = @body, cond = @cond} : (tensor<i32>, tensor<2x3xf32>, tensor<1xf32>, tensor<2x2xf32>) -> (tensor<*xi32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  tfrt.return %0#0, %0#1, %0#2, %0#3 : tensor<*xi32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK: func.func private @cond(%{{.*}}: tensor<i32>{{.*}}, %{{.*}}: tensor<2x3xf32>{{.*}}, %{{.*}}: tensor<?xf32>{{.*}}, %{{.*}}: tensor<*xf32>{{.*}}) -> tensor<i1>
func.func private @cond(%i: tensor<*xi32>, %x: tensor<*xf32>, %y: tensor<*xf32>, %z: tensor<*xf32>) -> tensor<*xi1> {
  %n = "tf.Const"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<*xi32>, tensor<i32>) -> tensor<*xi1>
  tfrt.return %0 : tensor<*xi1>
}

// One more, the same, twice as long, and of one axis less each time; the second by way of a loop in the loop.
// CHECK: func.func private @body
// CHECK: "tf.Exp"(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: "tf.While"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<i32>, tensor<2x3xf32>) -> (tensor<i32>, tensor<2x3xf32>)
func.func private @body(%i: tensor<*xi32>, %x: tensor<*xf32>, %y: tensor<*xf32>, %z: tensor<*xf32>) -> (tensor<*xi32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<*xi32>, tensor<i32>) -> tensor<*xi32>
  %exp = "tf.Exp"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  %inner:2 = "tf.While"(%zero, %exp) {body = @inner, cond = @less} : (tensor<i32>, tensor<*xf32>) -> (tensor<*xi32>, tensor<*xf32>)
  %twice = "tf.ConcatV2"(%y, %y, %zero) : (tensor<*xf32>, tensor<*xf32>, tensor<i32>) -> tensor<*xf32>
  %sum = "tf.Sum"(%z, %zero) : (tensor<*xf32>, tensor<i32>) -> tensor<*xf32>
  tfrt.return %next, %inner#1, %twice, %sum : tensor<*xi32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

func.func private @less(%i: tensor<*xi32>, %x: tensor<*xf32>) -> tensor<*xi1> {
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<*xi32>, tensor<i32>) -> tensor<*xi1>
  tfrt.return %0 : tensor<*xi1>
}

func.func private @inner(%i: tensor<*xi32>, %x: tensor<*xf32>) -> (tensor<*xi32>, tensor<*xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<*xi32>, tensor<i32>) -> tensor<*xi32>
  %tanh = "tf.Tanh"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  tfrt.return %next, %tanh : tensor<*xi32>, tensor<*xf32>
}
