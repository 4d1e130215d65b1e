// Loops that keep their state every few iterations, and compute the iterations in between again: `bef.keep_every`.
//
// RUN: ir-opt %s --tf-gradients 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t.err
// RUN: bef-exec %s -O0 --functions each --input n=i32:0 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --output %t0.npy --output %t1.npy --output %t2.npy
// RUN: bef-exec %s -O0 --functions every --input n=i32:0 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O0 --functions one --input n=i32:0 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O0 --functions region --input n=i32:0 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O2 --functions every --input n=i32:0 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 1e-5
// RUN: bef-exec %s -O2 --functions region --input n=i32:0 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 1e-5
// RUN: bef-exec %s -O0 --functions each --input n=i32:1 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --output %t0.npy --output %t1.npy --output %t2.npy
// RUN: bef-exec %s -O0 --functions every --input n=i32:1 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O0 --functions one --input n=i32:1 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O0 --functions region --input n=i32:1 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O2 --functions every --input n=i32:1 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 1e-5
// RUN: bef-exec %s -O2 --functions region --input n=i32:1 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 1e-5
// RUN: bef-exec %s -O0 --functions each --input n=i32:3 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --output %t0.npy --output %t1.npy --output %t2.npy
// RUN: bef-exec %s -O0 --functions every --input n=i32:3 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O0 --functions one --input n=i32:3 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O0 --functions region --input n=i32:3 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O2 --functions every --input n=i32:3 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 1e-5
// RUN: bef-exec %s -O2 --functions region --input n=i32:3 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 1e-5
// RUN: bef-exec %s -O0 --functions each --input n=i32:7 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --output %t0.npy --output %t1.npy --output %t2.npy
// RUN: bef-exec %s -O0 --functions every --input n=i32:7 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O0 --functions one --input n=i32:7 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O0 --functions region --input n=i32:7 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 0 --atol 0
// RUN: bef-exec %s -O2 --functions every --input n=i32:7 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 1e-5
// RUN: bef-exec %s -O2 --functions region --input n=i32:7 --input x=f32[2x2]:1,2,0.5,-1 --input w=f32[2x2]:0.25,0.5,-0.5,1 --expect %t0.npy --expect %t1.npy --expect %t2.npy --rtol 1e-5

func.func @each(%n: tensor<i32>, %x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %y:3 = "tf.StatelessWhile"(%n, %x, %w) <{cond = @is_left, body = @step}> : (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>)
  %d:2 = "tf._Gradients"(%y#1, %x, %w) <{operandSegmentSizes = array<i32: 1, 0, 2, 0>}> : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  func.return %y#1, %d#0, %d#1 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// The outer loop keeps the value that changes, of three iterations at a time; w does not change, and is passed.
// CHECK-LABEL: func.func @every(
// CHECK:         "tf.StatelessWhile"{{.*}}body = @step.every.fwd
// CHECK:         "tf.StatelessWhile"{{.*}}body = @step.every.bwd
// CHECK-LABEL: func.func private @step.every.bwd
// CHECK:         "tf.TensorListPopBack"
// CHECK:         "tf.StatelessWhile"{{.*}}body = @step.some.fwd
// CHECK:         "tf.StatelessWhile"{{.*}}body = @step.some.bwd
// CHECK-NOT:   bef.keep_every
// SAID: remark[E0912]: the gradient of @step.every is given 2 values, 20 bytes, and computes {{[0-9]+}} ops again
func.func @every(%n: tensor<i32>, %x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %y:3 = "tf.StatelessWhile"(%n, %x, %w) <{cond = @is_left, body = @step}> {bef.keep_every = 3 : i64} : (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>)
  %d:2 = "tf._Gradients"(%y#1, %x, %w) <{operandSegmentSizes = array<i32: 1, 0, 2, 0>}> : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  func.return %y#1, %d#0, %d#1 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

func.func @one(%n: tensor<i32>, %x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %y:3 = "tf.StatelessWhile"(%n, %x, %w) <{cond = @is_left, body = @step}> {bef.keep_every = 1 : i64} : (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>)
  %d:2 = "tf._Gradients"(%y#1, %x, %w) <{operandSegmentSizes = array<i32: 1, 0, 2, 0>}> : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  func.return %y#1, %d#0, %d#1 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// The attribute of a region's loop is that of the loop that it becomes.
func.func @region(%n: tensor<i32>, %x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %y:2 = "tf.WhileRegion"(%n, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<2x2xf32>):
    %zero = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %more = "tf.Greater"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<2x2xf32>):
    %one = "tf.Const"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "tf.Sub"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %p = "tf.MatMul"(%v, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %u = "tf.Softmax"(%p) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    "tf.Yield"(%j, %u) : (tensor<i32>, tensor<2x2xf32>) -> ()
  }) {is_stateless = true, bef.keep_every = 2 : i64} : (tensor<i32>, tensor<2x2xf32>) -> (tensor<i32>, tensor<2x2xf32>)
  %d:2 = "tf._Gradients"(%y#1, %x, %w) <{operandSegmentSizes = array<i32: 1, 0, 2, 0>}> : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  func.return %y#1, %d#0, %d#1 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

func.func private @is_left(%i: tensor<i32>, %v: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<i1> {
  %zero = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %more = "tf.Greater"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %more : tensor<i1>
}
func.func private @step(%i: tensor<i32>, %v: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %one = "tf.Const"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %j = "tf.Sub"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %p = "tf.MatMul"(%v, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %u = "tf.Softmax"(%p) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %j, %u, %w : tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>
}
