// TFRT's tools by their names: options with one dash or two, what is not said, and errors that the text expects.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor %t.bef | FileCheck %s
// RUN: bef_executor_lite %t.bef -work_queue_type=mstd:4 | FileCheck %s --check-prefix=ANY
// RUN: tfrt_translate --mlir-to-bef %s | bef_executor --functions=hello,fail --host_allocator_type=malloc | FileCheck %s --check-prefix=ONE
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor -print_error_code -functions=fail | FileCheck %s --check-prefix=CODE
// RUN: tfrt_translate -mlir-to-bef %s | tfrt_translate -bef-to-mlir | tfrt_opt -allow-unregistered-dialect | FileCheck %s --check-prefix=TEXT

// CHECK: Choosing memory leak check allocator.
// CHECK-NEXT: Choosing single-threaded work queue.
// ONE: Choosing malloc.
// ONE-NEXT: Choosing single-threaded work queue.
// ONE-NEXT: --- Running 'hello':
// ONE-NEXT: hello host executor!

// CHECK-LABEL: --- Running 'hello':
// CHECK-NEXT: hello host executor!
// ANY-LABEL: --- Running 'hello':
// ANY-NEXT: hello host executor!
// TEXT-LABEL: func.func @hello()
// TEXT: "tfrt_test.print_hello"(%{{.*}}) : (!tfrt.chain) -> !tfrt.chain
func.func @hello() {
  %ch = tfrt.new.chain
  %done = "tfrt_test.print_hello"(%ch) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// CHECK: --- Not running 'arguments' because it has arguments.
func.func @arguments(%x: !some.type, %ch: !tfrt.chain) -> !some.type {
  // TEXT: "tfrt_test.multi_arg_result"(%arg0) : (!some.type) -> !some.type
  %r = "tfrt_test.multi_arg_result"(%x) : (!some.type) -> !some.type
  tfrt.return %r : !some.type
}

// CHECK-LABEL: --- Running 'fail':
// CHECK-NEXT: 'fail' returned <<error: something bad happened>>
// CODE: 'fail' returned <<error: something bad happened, code: INTERNAL>>
func.func @fail() -> i32 {
  // expected-error @+1 {{runtime error: something bad happened}}
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}

// CHECK-LABEL: --- Running 'others':
// CHECK-NEXT: 'others' returned 1,!tfrt.string value,!t.tensor value
func.func @others() -> (i32, !tfrt.string, !t.tensor) {
  %one = tfrt.constant.i32 1
  %text = tfrt_test.get_string {value = "text"}
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  tfrt.return %one, %text, %tensor : i32, !tfrt.string, !t.tensor
}
