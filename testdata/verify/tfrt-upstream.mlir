// MLIR's and TFRT's words for wrong types and attributes.
//
// RUN: ir-opt %s --verify-diagnostics --split-input-file
// RUN: tfrt_opt %s -verify-diagnostics -split-input-file

func.func @results() {
  // expected-error @+1 {{'ts.build_shape' op result #0 must be !ts.shape type, but got 'i64'}}
  %a = "ts.build_shape"() {value = [1 : i64]} : () -> i64
  // expected-error @+1 {{'ts.build_partial_shape' op result #0 must be !ts.partial_shape type}}
  %b = "ts.build_partial_shape"() {value = [1 : i64]} : () -> !ts.shape
  // expected-error @+1 {{'tfrt.constant.i32' op result #0 must be 32-bit signless integer, but got 'i64'}}
  %c = "tfrt.constant.i32"() {value = 1 : i32} : () -> i64
  // expected-error @+1 {{'tfrt_test.get_string' op result #0 must be !tfrt.string type}}
  %d = "tfrt_test.get_string"() {value = "x"} : () -> i64
  // expected-error @+1 {{'vt.constant' op result #0 must be !vt.value type, but got '!tfrt.chain'}}
  %e = "vt.constant"() {value = 1 : i32} : () -> !tfrt.chain
  tfrt.return
}

// -----

func.func @operands(%i: i32, %l: i64, %d: f64, %ch: !tfrt.chain, %t: !t.tensor) {
  // expected-error @+2 {{'tfrt.add.f32' op operand #0 must be 32-bit float, but got 'i32'}}
  // expected-error @+1 {{'tfrt.add.f32' op operand #1 must be 32-bit float, but got 'f64'}}
  %a = "tfrt.add.f32"(%i, %d) : (i32, f64) -> f32
  // expected-error @+1 {{'tfrt.print.i32' op operand #1 must be !tfrt.chain type, but got 'i64'}}
  %b = "tfrt.print.i32"(%i, %l) : (i32, i64) -> !tfrt.chain
  // expected-error @+1 {{'tfrt_test.sum' op operand #1 must be variadic of 32-bit signless integer, but got 'i64'}}
  %c = "tfrt_test.sum"(%i, %l) : (i32, i64) -> i32
  // expected-error @+2 {{'tfrt.and.i1' op operand #0 must be 1-bit signless integer, but got '!tfrt.chain'}}
  // expected-error @+1 {{'tfrt.and.i1' op operand #1 must be 1-bit signless integer, but got 'i32'}}
  %e = "tfrt.and.i1"(%ch, %i) : (!tfrt.chain, i32) -> i1
  %f = "tfrt_dht.get_tensor_shape"(%t) : (!t.tensor) -> !ts.shape
  // expected-error @+1 {{'tfrt_dht.get_tensor_shape' op operand #0 must be !tfrt_tensor.tensor type, but got '!ts.shape'}}
  %g = "tfrt_dht.get_tensor_shape"(%f) : (!ts.shape) -> !ts.shape
  tfrt.return
}

// -----

func.func @cost(%a: i32) {
  // expected-error @+1 {{'tfrt_test.test_cost' op cost value must be larger than 0}}
  %b = tfrt_test.test_cost %a {id = 0 : i64, _tfrt_cost = 0 : i64} : i32
  // expected-error @+1 {{the cost of `tfrt_test.test_cost` is -3, expected at least 1}}
  %c = tfrt_test.test_cost %a {id = 0 : i64, _tfrt_cost = -3 : i64} : i32
  // expected-error @+1 {{'tfrt_test.test_cost' op requires attribute '_tfrt_cost'}}
  %d = tfrt_test.test_cost %a {id = 0 : i64} : i32
  // expected-error @+1 {{attribute `_tfrt_cost` of `tfrt_test.test_cost` is `1 : i32`, expected an integer of type i64}}
  %e = tfrt_test.test_cost %a {id = 0 : i64, _tfrt_cost = 1 : i32} : i32
  %f = tfrt_test.test_cost %a {id = 0 : i64, _tfrt_cost = 1 : i64} : i32
  tfrt.return
}

// -----

func.func @one(%a: i32) attributes {tfrt.sync} {
  tfrt.return
}
func.func @giving(%a: i32) -> i32 attributes {tfrt.sync} {
  tfrt.return %a : i32
}
func.func @benchmarks(%a: i32, %b: i64) {
  tfrt_test.sync_benchmark @one(%a : i32) duration_secs = 1, max_count = 2
  // expected-error @+1 {{'tfrt_test.sync_benchmark' op requires a 'target_fn' symbol reference attribute}}
  "tfrt_test.sync_benchmark"(%a) {duration_secs = 1 : i32, max_count = 2 : i32} : (i32) -> ()
  // expected-error @+1 {{'tfrt_test.sync_benchmark' op requires a 'target_fn' symbol reference attribute}}
  "tfrt_test.sync_benchmark"(%a) {target_fn = "one", duration_secs = 1 : i32, max_count = 2 : i32} : (i32) -> ()
  // expected-error @+1 {{'tfrt_test.sync_benchmark' op 'nobody' does not reference a valid function}}
  tfrt_test.sync_benchmark @nobody(%a : i32) duration_secs = 1, max_count = 2
  // expected-error @+1 {{'tfrt_test.sync_benchmark' op incorrect number of operands for callee}}
  tfrt_test.sync_benchmark @one() duration_secs = 1, max_count = 2
  // expected-error @+1 {{'tfrt_test.sync_benchmark' op operand type mismatch}}
  tfrt_test.sync_benchmark @one(%b : i64) duration_secs = 1, max_count = 2
  // expected-error @+1 {{'tfrt_test.sync_benchmark' op Target benchmark function must return zero value.}}
  tfrt_test.sync_benchmark @giving(%a : i32) duration_secs = 1, max_count = 2
  tfrt.return
}

// -----

func.func @misspelled(%a: i32) {
  // expected-error @+1 {{expected the name of an attribute}}
  tfrt_test.sync_benchmark @misspelled(%a : i32) seconds = 1, max_count = 2
  tfrt.return
}
