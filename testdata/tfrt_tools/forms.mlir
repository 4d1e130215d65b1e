// Forms of ops and types that differ between versions of TFRT.
//
// RUN: tfrt_opt %s | FileCheck %s
// RUN: tfrt_opt %s | tfrt_opt | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | tfrt_translate -bef-to-mlir | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor | FileCheck %s --check-prefix=EXEC

// The result types of a condition are in parentheses, also a single one.
// CHECK-LABEL: func.func @conditions(
// EXEC: --- Not running 'conditions' because it has arguments.
func.func @conditions(%c: i1, %a: i32, %b: i64) -> (i32, i32) {
  // CHECK: tfrt.if %{{.*}}, %{{.*}} : (i32) -> (i32) {
  %one = tfrt.if %c, %a : (i32) -> i32 {
    tfrt.return %a : i32
  } else {
    tfrt.return %a : i32
  }
  // CHECK: tfrt.if %{{.*}}, %{{.*}} : (i32) -> (i32) {
  %other = tfrt.if %c, %a : (i32) -> (i32) {
    tfrt.return %a : i32
  } else {
    tfrt.return %a : i32
  }
  // CHECK: tfrt.if %{{.*}}, %{{.*}}, %{{.*}} : (i32, i64) -> (i64, i32) {
  %two:2 = tfrt.if %c, %a, %b : (i32, i64) -> (i64, i32) {
    tfrt.return %b, %a : i64, i32
  } else {
    tfrt.return %b, %a : i64, i32
  }
  // CHECK: tfrt.if %{{.*}} : () -> () {
  tfrt.if %c : () -> () {
    tfrt.return
  }
  tfrt.return %one, %other : i32, i32
}

func.func @first(%ch: !tfrt.chain, %a: i32) -> (!tfrt.chain, i32) {
  %r = tfrt.print.i32 %a, %ch
  tfrt.return %r, %a : !tfrt.chain, i32
}
func.func @second(%ch: !tfrt.chain, %a: i32) -> (!tfrt.chain, i32) {
  tfrt.return %ch, %a : !tfrt.chain, i32
}
func.func @third(%ch: !tfrt.chain) -> !tfrt.chain {
  tfrt.return %ch : !tfrt.chain
}

// The chain of a case may be left out of its types; it is printed.
// CHECK-LABEL: func.func @case(
// EXEC: --- Running 'case':
// EXEC-NEXT: int32 = 0
// EXEC-NEXT: 'case' returned 0,0
func.func @case() -> (i32, i32) {
  %ch = tfrt.new.chain
  %i = tfrt.constant.i32 0
  // CHECK: tfrt.case %{{.*}} [@first, @second](%{{.*}}, %{{.*}}) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  %ch1, %x = tfrt.case %i [@first, @second] (%ch, %i) : (i32) -> (i32)
  %j = tfrt.constant.i32 1
  // CHECK: tfrt.case %{{.*}} [@first, @second](%{{.*}}, %{{.*}}) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  %ch2, %y = tfrt.case %j [@first, @second] (%ch1, %i) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  // CHECK: tfrt.case %{{.*}} [@third](%{{.*}}) : (!tfrt.chain) -> (!tfrt.chain)
  %ch3 = tfrt.case %i [@third] (%ch2) : () -> ()
  tfrt.return %x, %y : i32, i32
}

// Two spellings of one type.
// CHECK-LABEL: func.func @tensors(
// CHECK-SAME: !t.tensor) -> !t.tensor
// EXEC: --- Not running 'tensors' because it has arguments.
func.func @tensors(%a: !tfrt_tensor.tensor) -> !t.tensor {
  // CHECK: tfrt.return %{{.*}} : !t.tensor
  tfrt.return %a : !tfrt_tensor.tensor
}

// CHECK-LABEL: func.func @tensor_passed(
// EXEC: --- Running 'tensor_passed':
// EXEC-NEXT: shape = [2]
func.func @tensor_passed() {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %b = tfrt.call @tensors(%a) : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor
  %shape = tfrt_dht.get_tensor_shape %b
  %done = ts.print_shape %shape, %ch
  tfrt.return
}

// A synchronous function may end with the error of `tfrt_test.error_s`.
// CHECK-LABEL: func.func @error(
// EXEC: --- Running 'error':
// EXEC-NEXT: 'error' returned <<error: something bad happened>>
func.func @error() -> i32 attributes {tfrt.sync} {
  // CHECK: "tfrt_test.error_s"() : () -> i32
  // expected-error @+1 {{something bad happened}}
  %a = "tfrt_test.error_s"() : () -> i32
  tfrt.return %a : i32
}

// EXEC: --- Running 'errors':
// EXEC-NEXT: 'errors' returned <<error: something bad happened>>,<<error: something bad happened>>
func.func @errors() -> (i32, f32) {
  // expected-error @+1 {{something bad happened}}
  "tfrt_test.error_s"() : () -> ()
  // expected-error @+1 {{something bad happened}}
  %a:2 = "tfrt_test.error_s"() : () -> (i32, f32)
  tfrt.return %a#0, %a#1 : i32, f32
}
