// RUN: ir-opt %s --tf-gradients --split-input-file --verify-diagnostics

func.func @all_ops_without(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %a = "tf.LRNGrad"(%x, %x, %x) : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  // expected-error @+1 {{there is no gradient of `tf.LRNGrad` (1 op)}}
  %d = "tf._Gradients"(%a, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  func.return %d : tensor<1x2x2x1xf32>
}

// -----

func.func @prevented(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{`tf.PreventGradient` prevents its gradient: not by this way}}
  %a = "tf.PreventGradient"(%x) <{message = "not by this way"}> : (tensor<2xf32>) -> tensor<2xf32>
  %d = "tf._Gradients"(%a, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// -----

func.func @not_differentiable(%x: tensor<2xi32>, %y: tensor<2xf32>) -> tensor<2xi32> {
  // expected-error @+1 {{x #0 has type tensor<2xi32>, which has no gradients}}
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi32>
  func.return %d : tensor<2xi32>
}

// -----

func.func @unconnected(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tf.Floor"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error @+1 {{no path of differentiable values leads from x #0 to a y}}
  %d = "tf._Gradients"(%a, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// -----

func.func @wrong_dy(%x: tensor<2xf32>, %dy: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{dy #0 has type tensor<3xf32>, but y #0 has type tensor<2xf32>}}
  %d = "tf._Gradients"(%x, %dy, %x) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// -----

func.func @number_of_dys(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{1 dys for 2 ys}}
  %d = "tf._Gradients"(%x, %x, %x, %x) <{operandSegmentSizes = array<i32: 2, 1, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// -----

func.func @number_of_results(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{1 results, expected one for each of 2 xs}}
  %d = "tf._Gradients"(%x, %x, %x) <{operandSegmentSizes = array<i32: 1, 0, 2, 0>}> : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// -----

func.func @custom(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{the gradient function @missing of `tf.PartitionedCall`: there is no such function}}
  %y = "tf.PartitionedCall"(%x) <{f = @f}> : (tensor<2xf32>) -> tensor<2xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> attributes {bef.gradient = @missing} {
  func.return %x : tensor<2xf32>
}

// -----

func.func @wrong_custom(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{@g of `tf.PartitionedCall`: it has 1 arguments and 1 results, expected 3}}
  %y = "tf.PartitionedCall"(%x) <{f = @f}> : (tensor<2xf32>) -> tensor<2xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> attributes {bef.gradient = @g} {
  func.return %x : tensor<2xf32>
}
func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}

// -----

// The fused operators of an op may need more operands than it has.
func.func @few_operands(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %b: tensor<2xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{it has no operand #3}}
  %y = "tf._FusedMatMul"(%x, %w, %b) <{fused_ops = ["BiasAdd", "BiasAdd"], num_args = 1 : i64}> : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  func.return %d : tensor<2x2xf32>
}

// -----

func.func @recompute(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{`bef.recompute` is none, cheap or all, got 'much'}}
  %y = "tf.PartitionedCall"(%x) <{f = @f}> {bef.recompute = "much"} : (tensor<2xf32>) -> tensor<2xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tf.Exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

func.func @keep_every(%n: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{`bef.keep_every` of a loop is a number of iterations, at least 1}}
  %y:2 = "tf.StatelessWhile"(%n, %x) <{cond = @is_left, body = @step}> {bef.keep_every = 0 : i64} : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
  %d = "tf._Gradients"(%y#1, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}
func.func private @is_left(%i: tensor<i32>, %v: tensor<2xf32>) -> tensor<i1> {
  %zero = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %more = "tf.Greater"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %more : tensor<i1>
}
func.func private @step(%i: tensor<i32>, %v: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
  %u = "tf.Exp"(%v) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %i, %u : tensor<i32>, tensor<2xf32>
}

// -----

// Without a rule a gradient is refused, not taken for zero: here of second order.
func.func @recurrent(%x: tensor<1x1x1xf32>, %w: tensor<1x1x1xf32>, %b: tensor<1x2xf32>, %n: tensor<1xi32>, %h: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %y:2 = "tf._Rnn"(%x, %w, %w, %b, %n, %h) <{hidden_size = 1 : i64}> : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x2xf32>, tensor<1xi32>, tensor<1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1xf32>)
  %d = "tf._Gradients"(%y#1, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  // expected-error @+1 {{there is no gradient of `tf._RnnGrad` (1 op}}
  %e = "tf._Gradients"(%d, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  func.return %e : tensor<1x1x1xf32>
}
