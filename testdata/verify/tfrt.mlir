// What tfrt's ops want of their regions and of the functions that they call. TFRT's words do as well as ours.
//
// RUN: ir-opt %s --verify-diagnostics --split-input-file
// RUN: tfrt_opt %s -verify-diagnostics -split-input-file

func.func @f(%a: i32) -> i32 {
  tfrt.return %a : i32
}
func.func @calls(%a: i32, %b: i64) {
  // expected-error @+1 {{'tfrt.call' op incorrect number of operands for callee}}
  %0 = tfrt.call @f(%a, %a) : (i32, i32) -> i32
  // expected-error @+1 {{`tfrt.call` of `@f` has type `(i64) -> (i32)`, but the function has type `(i32) -> (i32)`}}
  %1 = tfrt.call @f(%b) : (i64) -> i32
  // expected-error @+1 {{'tfrt.call' op operand type mismatch}}
  %2 = tfrt.call @f(%b) : (i64) -> i32
  // expected-error @+1 {{'tfrt.call' op incorrect number of results for callee}}
  tfrt.call @f(%a) : (i32) -> ()
  // expected-error @+1 {{'tfrt.call' op result type mismatch}}
  %3 = tfrt.call @f(%a) : (i32) -> i64
  // expected-error @+1 {{'nobody' does not reference a valid function}}
  %4 = tfrt.call @nobody(%a) : (i32) -> i32
  // One more chain orders a call.
  %ch = tfrt.new.chain
  %5 = tfrt.call @f(%a, %ch) : (i32, !tfrt.chain) -> i32
  tfrt.return
}

// -----

func.func @one(%a: i32) -> i32 {
  tfrt.return %a : i32
}
func.func @other(%a: i64) -> i32 {
  %b = tfrt.constant.i32 1
  tfrt.return %b : i32
}
func.func @conditions(%c: i1, %a: i32, %b: i64) {
  // expected-error @+1 {{'tfrt.cond' op operand type mismatch for false function}}
  %0 = tfrt.cond %c @one @other (%a) : (i32) -> (i32)
  // expected-error @+1 {{'tfrt.cond' op operand type mismatch for true function}}
  %1 = tfrt.cond %c @one @other (%b) : (i64) -> (i32)
  // expected-error @+2 {{incorrect number of results for true function}}
  // expected-error @+1 {{incorrect number of results for false function}}
  tfrt.cond %c @one @one (%a) : (i32) -> ()
  tfrt.return
}

// -----

func.func @step(%a: i32, %t: tensor<?xf32>) -> (i32, tensor<?xf32>, i1) {
  %more = tfrt.constant.i1 false
  tfrt.return %a, %t, %more : i32, tensor<?xf32>, i1
}
func.func @endless(%a: i32) -> i32 {
  tfrt.return %a : i32
}
func.func @loops(%c: i1, %a: i32, %b: i64, %t: tensor<2xf32>) {
  // What is known of a tensor's shape makes no difference.
  %0:2 = tfrt.while %c @step(%a, %t) parallel_iterations(1) : (i32, tensor<2xf32>) -> (i32, tensor<2xf32>)
  // expected-error @+1 {{'tfrt.while' op operand type mismatch}}
  %1:2 = tfrt.while %c @step(%b, %t) parallel_iterations(1) : (i64, tensor<2xf32>) -> (i32, tensor<2xf32>)
  // expected-error @+1 {{'tfrt.while' op incorrect number of operands for callee}}
  %2:2 = tfrt.while %c @step(%a) parallel_iterations(1) : (i32) -> (i32, tensor<2xf32>)
  // expected-error @+1 {{`tfrt.while` of `@endless` has type `(i32) -> (i32, i1)`, but the function has type `(i32) -> (i32)`}}
  %3 = tfrt.while %c @endless(%a) parallel_iterations(1) : (i32) -> (i32)
  // expected-error @+1 {{has type `(i32, tensor<2xf32>) -> (tensor<2xf32>, i32, i1)`, but the function has type `(i32, tensor<?xf32>) -> (i32, tensor<?xf32>, i1)`}}
  %4:2 = tfrt.while %c @step(%a, %t) parallel_iterations(1) : (i32, tensor<2xf32>) -> (tensor<2xf32>, i32)
  tfrt.return
}
func.func @once(%a: i32, %b: i64) {
  %0 = tfrt.once @endless(%a) : (i32) -> (i32)
  // expected-error @+1 {{'tfrt.once' op operand type mismatch}}
  %1 = tfrt.once @endless(%b) : (i64) -> (i32)
  // expected-error @+1 {{'tfrt.once' op incorrect number of results for callee}}
  tfrt.once @endless(%a) : (i32) -> ()
  // expected-error @+1 {{which is `builtin.module` and no function}}
  tfrt.once @module() : () -> ()
  tfrt.return
}
module @module {
}

// -----

func.func @block(%start: i32, %end: i32, %x: i64) {
  tfrt.return
}
func.func @backwards(%x: i64, %start: i32, %end: i32) {
  tfrt.return
}
func.func @number(%start: i32, %end: i32, %x: i64) -> i32 {
  tfrt.return %start : i32
}
func.func @blocks(%a: i32, %b: i32, %x: i64) {
  %0 = tfrt.parallel_call.i32 %a to %b fixed %a @block(%x) : i64
  // expected-error @+1 {{'tfrt.parallel_call.i32' op incorrect number of callee operands}}
  %1 = tfrt.parallel_call.i32 %a to %b fixed %a @block()
  // expected-error @+1 {{callee must take stard and end indices first}}
  %2 = tfrt.parallel_call.i32 %a to %b fixed %a @backwards(%x) : i64
  // expected-error @+1 {{async callee must return a chain}}
  %3 = tfrt.parallel_call.i32 %a to %b fixed %a @number(%x) : i64
  tfrt.return
}

// -----

func.func @regions(%c: i1, %n: i32, %x: i64, %start: i32, %end: i32) {
  %0 = tfrt.if %c, %n : (i32) -> i32 {
    tfrt.return %n : i32
  } else {
    // expected-error @+1 {{'tfrt.return' op operand types don't match 'tfrt.if' result}}
    tfrt.return
  }
  %1 = tfrt.repeat.i32 %n, %x : i64 {
    %y = tfrt.constant.i32 1
    // expected-error @+1 {{`tfrt.return` gives `(i32)`, but `tfrt.repeat.i32` needs `(i64)`}}
    tfrt.return %y : i32
  }
  %2 = tfrt.parallel_for.i32 %start to %end fixed %n {
    // expected-error @+1 {{'tfrt.return' op operand types don't match 'tfrt.parallel_for.i32' result}}
    tfrt.return %start : i32
  }
  %3 = tfrt_test.do.async %n : (i32) -> (i32) {
    // expected-error @+1 {{don't match 'tfrt_test.do.async' result}}
    tfrt.return
  }
  // expected-error @+1 {{incorrect number of return values. One return value is expected}}
  %4 = tfrt_test.benchmark "nothing"(%n : i32) duration_secs = 1, max_count = 1 {
    tfrt.return
  }
  // expected-error @+1 {{expected 'else' in 'tfrt.if' with result values}}
  %5 = tfrt.if %c, %n : (i32) -> i32 {
    tfrt.return %n : i32
  }
  tfrt.return
}

// -----

func.func @returns(%a: i32) -> i64 {
  // expected-error @+1 {{type of return operand 0 ('i32') doesn't match function result type ('i64')}}
  tfrt.return %a : i32
}
func.func @more(%a: i32) {
  // expected-error @+1 {{'tfrt.return' op has 1 operands, but enclosing function returns 0}}
  tfrt.return %a : i32
}
