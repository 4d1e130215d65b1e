// A result that nobody reads is destroyed right after its kernel.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor %t.bef | FileCheck %s
// RUN: bef_executor -work_queue_type=mstd:1 %t.bef | FileCheck %s --check-prefix=ANY
// RUN: bef_executor -work_queue_type=mstd:4 %t.bef | FileCheck %s --check-prefix=ANY
// RUN: bef-exec --seed 1 --leak-check %t.bef | FileCheck %s
// RUN: bef-exec --work-queue s --leak-check %t.bef | FileCheck %s

// One stream, whose order is known before it runs.
// CHECK: --- Running 'one_stream':
// CHECK: {{^}}constructed vt.value(4)
// CHECK-NEXT: move constructed vt.value(4)
// CHECK-NEXT: destroyed vt.value(4)
// CHECK: --- Running 'several_streams':
// ANY: --- Running 'one_stream':
// ANY: destroyed vt.value(4)
// ANY: --- Running 'several_streams':
func.func @one_stream() attributes {tfrt.cost_threshold = 100 : i64} {
  %value = "vt.constant"() {value = 4 : i32} : () -> !vt.value
  %ch0 = "tfrt_test.print_hello"() : () -> !tfrt.chain
  %ch1 = "tfrt_test.print_hello"() : () -> !tfrt.chain
  tfrt.return
}

// The operands of an addition live until then, the unread sum no longer.
// CHECK: {{^}}constructed vt.value(3)
// CHECK-NEXT: move constructed vt.value(3)
// CHECK-NEXT: destroyed vt.value(1)
// CHECK-NEXT: destroyed vt.value(2)
// CHECK-NEXT: destroyed vt.value(3)
// CHECK: --- Running 'later':
// ANY-DAG: destroyed vt.value(1)
// ANY-DAG: destroyed vt.value(2)
// ANY-DAG: destroyed vt.value(3)
// ANY: --- Running 'later':
func.func @several_streams() attributes {tfrt.cost_threshold = 1 : i64} {
  %one = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  %two = "vt.constant"() {value = 2 : i32} : () -> !vt.value
  %sum = "vt.add"(%one, %two) : (!vt.value, !vt.value) -> !vt.value
  %ch = "tfrt_test.print_hello"() : () -> !tfrt.chain
  tfrt.return
}

// A function that may have to wait: a kernel alone, the last one of a straight line, and one inside of it.
// CHECK: {{^}}constructed vt.value(5)
// CHECK-NEXT: move constructed vt.value(5)
// CHECK-NEXT: destroyed vt.value(5)
// CHECK: --- Running 'line':
// ANY: destroyed vt.value(5)
// ANY: --- Running 'line':
func.func @later() -> i32 {
  %late = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %value = "vt.constant"() {value = 5 : i32} : () -> !vt.value
  %ch = "tfrt_test.print_hello"() : () -> !tfrt.chain
  tfrt.return %late : i32
}

// CHECK: {{^}}constructed vt.value(14)
// CHECK-NEXT: move constructed vt.value(14)
// CHECK-NEXT: destroyed vt.value(7)
// CHECK-NEXT: print vt_value(14)
// CHECK: {{^}}constructed vt.value(28)
// CHECK-NEXT: move constructed vt.value(28)
// CHECK-NEXT: destroyed vt.value(14)
// CHECK-NEXT: destroyed vt.value(28)
// CHECK: --- Running 'of_calls':
func.func @line() -> i32 {
  %late = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %seven = "vt.constant"() {value = 7 : i32} : () -> !vt.value
  %sum = "vt.add"(%seven, %seven) : (!vt.value, !vt.value) -> !vt.value
  %ch = "vt.print"(%sum) : (!vt.value) -> !tfrt.chain
  %behind = "tfrt_test.identity"(%ch, %sum) : (!tfrt.chain, !vt.value) -> !vt.value
  %twice = "vt.add"(%behind, %behind) : (!vt.value, !vt.value) -> !vt.value
  tfrt.return %late : i32
}

func.func @make() -> (!vt.value, i32) {
  %value = "vt.constant"() {value = 6 : i32} : () -> !vt.value
  %late = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  tfrt.return %value, %late : !vt.value, i32
}

// The result of a call, before what comes after the call.
// CHECK: constructed vt.value(6)
// CHECK: destroyed vt.value(6)
// CHECK: int32 = 1
// CHECK: 'of_calls' returned
// ANY: --- Running 'of_calls':
// ANY: destroyed vt.value(6)
// ANY: 'of_calls' returned
func.func @of_calls() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %value, %late = tfrt.call @make() : () -> (!vt.value, i32)
  %printed = tfrt.print.i32 %late, %ch
  tfrt.return %printed : !tfrt.chain
}
