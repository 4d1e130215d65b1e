// Strings of `tfrt_test`.
//
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 2 --leak-check | FileCheck %s

// CHECK-LABEL: --- Running 'strings'
func.func @strings() -> (i1, i1, !tfrt.chain) {
  // CHECK-NEXT: hello host executor!
  %ch0 = "tfrt_test.print_hello"() : () -> !tfrt.chain
  %a = tfrt_test.get_string {value = "hello "}
  %b = "tfrt_test.get_string"() {value = "world %03d%%"} : () -> !tfrt.string
  %c = "tfrt_test.append_string"(%a, %b) : (!tfrt.string, !tfrt.string) -> !tfrt.string
  // CHECK-NEXT: string = hello world %03d%%
  %ch1 = "tfrt_test.print_string"(%c, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %n = tfrt.constant.i32 7
  %d = "tfrt_test.format_string"(%c, %n) : (!tfrt.string, i32) -> !tfrt.string
  // CHECK-NEXT: string = hello world 007%
  %ch2 = "tfrt_test.print_string"(%d, %ch1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %e = "tfrt_test.string_equal"(%c, %d) : (!tfrt.string, !tfrt.string) -> i1
  %f = "tfrt_test.string_equal"(%c, %c) : (!tfrt.string, !tfrt.string) -> i1
  tfrt.return %e, %f, %ch2 : i1, i1, !tfrt.chain
}
// CHECK: 'strings' returned 0,1,!tfrt.chain value

// CHECK-LABEL: --- Running 'no_such_file'
func.func @no_such_file() -> !tfrt.string {
  %a = tfrt_test.get_string {value = "/no/such/file"}
  %b = "tfrt_test.read_string_from_file"(%a) : (!tfrt.string) -> !tfrt.string
  tfrt.return %b : !tfrt.string
}
// CHECK: 'no_such_file' returned <<error: failed to read from file /no/such/file>>

// CHECK-LABEL: --- Running 'bad_format'
func.func @bad_format() -> !tfrt.string {
  %a = tfrt_test.get_string {value = "%s"}
  %n = tfrt.constant.i32 7
  %b = "tfrt_test.format_string"(%a, %n) : (!tfrt.string, i32) -> !tfrt.string
  tfrt.return %b : !tfrt.string
}
// CHECK: 'bad_format' returned <<error: '%s' is not a format for one integer>>

// CHECK-LABEL: --- Running 'shared_context'
func.func @shared_context() -> !tfrt.string {
  %ch = tfrt.new.chain
  %a, %ch1 = "tfrt_test.use_sample_shared_context"(%ch) : (!tfrt.chain) -> (!tfrt.string, !tfrt.chain)
  tfrt.return %a : !tfrt.string
}
// CHECK: 'shared_context' returned sample_shared_context0

// CHECK-LABEL: --- Running 'nested_lists'
func.func @nested_lists() -> (!tfrt.string, i32, i32, f32) {
  %a, %b, %c, %d = "tfrt_test.flat"() {list = ["text", [[1 : i32, 2 : i32], [0.5 : f32]]]} : () -> (!tfrt.string, i32, i32, f32)
  tfrt.return %a, %b, %c, %d : !tfrt.string, i32, i32, f32
}
// CHECK: 'nested_lists' returned text,1,2,0.500000
