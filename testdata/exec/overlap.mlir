// Iterations of a `while` overlap: one starts as soon as the condition of the one before is known, on what else there is; at most
// `parallel_iterations` are in flight. Branches start when their condition comes, on what else there is.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s --check-prefixes=CHECK,ORDER
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// What a task prints, 100 more than what is printed at once, is the last effect of an iteration.
func.func @flies(%i: i32, %end: i32) -> (i32, i32, i1) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %hundred = tfrt.constant.i32 100
  %ch1 = tfrt.print.i32 %i, %ch
  %late = "tfrt_test.async_add.i32"(%i, %hundred) : (i32, i32) -> i32
  %landed = tfrt.print.i32 %late, %ch1
  %next = tfrt.add.i32 %i, %one
  %more = "tfrt.lessequal.i32"(%next, %end) : (i32, i32) -> i1
  tfrt.return %next, %end, %more : i32, i32, i1
}

// CHECK: --- Running 'serial':
// CHECK-NEXT: int32 = 0
// CHECK-NEXT: int32 = 100
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: int32 = 101
// CHECK-NEXT: int32 = 2
// CHECK-NEXT: int32 = 102
// CHECK-NEXT: 'serial' returned 3
func.func @serial() -> i32 {
  %zero = tfrt.constant.i32 0
  %end = tfrt.constant.i32 2
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.while %yes @flies(%zero, %end) parallel_iterations(1) : (i32, i32) -> (i32, i32)
  tfrt.return %r#0 : i32
}

// CHECK: --- Running 'two_in_flight':
// ORDER-NEXT: int32 = 0
// ORDER-NEXT: int32 = 1
// ORDER-NEXT: int32 = 100
// ORDER-NEXT: int32 = 2
// ORDER-NEXT: int32 = 101
// ORDER-NEXT: int32 = 3
// ORDER-NEXT: int32 = 102
// ORDER-NEXT: int32 = 103
// CHECK: 'two_in_flight' returned 4
func.func @two_in_flight() -> i32 {
  %zero = tfrt.constant.i32 0
  %end = tfrt.constant.i32 3
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.while %yes @flies(%zero, %end) parallel_iterations(2) : (i32, i32) -> (i32, i32)
  tfrt.return %r#0 : i32
}

// Nothing here is asynchronous. What takes long, and is not asked whether there is a next iteration, is left to another stream.
func.func @works(%i: i32, %end: i32) -> (i32, i32, i1) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %hundred = tfrt.constant.i32 100
  %ch1 = tfrt.print.i32 %i, %ch
  %slow = tfrt.call @slow(%i) : (i32) -> i32
  %late = tfrt.add.i32 %slow, %hundred
  %landed = tfrt.print.i32 %late, %ch1
  %next = tfrt.add.i32 %i, %one
  %more = "tfrt.lessequal.i32"(%next, %end) : (i32, i32) -> i1
  tfrt.return %next, %end, %more : i32, i32, i1
}
func.func @slow(%i: i32) -> i32 {
  %slow = "tfrt_test.copy.with_delay.i32"(%i) : (i32) -> i32
  tfrt.return %slow : i32
}
// CHECK: --- Running 'two_at_work':
// ORDER-NEXT: int32 = 0
// ORDER-NEXT: int32 = 1
// ORDER-NEXT: int32 = 100
// ORDER-NEXT: int32 = 2
// ORDER-NEXT: int32 = 101
// ORDER-NEXT: int32 = 3
// ORDER-NEXT: int32 = 102
// ORDER-NEXT: int32 = 103
// CHECK: 'two_at_work' returned 4
func.func @two_at_work() -> i32 {
  %zero = tfrt.constant.i32 0
  %end = tfrt.constant.i32 3
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.while %yes @works(%zero, %end) parallel_iterations(2) : (i32, i32) -> (i32, i32)
  tfrt.return %r#0 : i32
}

// The loop's results are there before its iterations have ended: what needs them goes on, what comes after the loop does not.
// CHECK: --- Running 'all_in_flight':
// ORDER-NEXT: int32 = 0
// ORDER-NEXT: int32 = 1
// ORDER-NEXT: int32 = 2
// ORDER-NEXT: int32 = 3
// ORDER-NEXT: int32 = 100
// CHECK: int32 = 77
// CHECK-NEXT: 'all_in_flight' returned 3
func.func @all_in_flight() -> i32 {
  %zero = tfrt.constant.i32 0
  %end = tfrt.constant.i32 2
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.while %yes @flies(%zero, %end) parallel_iterations(9) : (i32, i32) -> (i32, i32)
  %ch = tfrt.new.chain
  %ch1 = tfrt.print.i32 %r#0, %ch
  %number = tfrt.constant.i32 77
  %ended = "tfrt.merge.chains"(%ch1, %r#0) {bef.operand_modes = ["required", "after"]} : (!tfrt.chain, i32) -> !tfrt.chain
  %ch2 = tfrt.print.i32 %number, %ended
  tfrt.return %r#0 : i32
}

// Sums in the order of iterations, of terms that are late; a condition that is late.
func.func @sums(%i: i32, %end: i32, %sum: i32) -> (i32, i32, i32, i1) {
  %one = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %twice = "tfrt_test.async_add.i32"(%sum, %sum) : (i32, i32) -> i32
  %term = "tfrt_test.async_copy.i32"(%i) : (i32) -> i32
  %next_sum = "tfrt.minus.i32"(%twice, %term) : (i32, i32) -> i32
  %next = tfrt.add.i32 %i, %one
  %more = "tfrt.lessequal.i32"(%next, %end) : (i32, i32) -> i1
  tfrt.return %next, %end, %next_sum, %more : i32, i32, i32, i1
}

// CHECK: --- Running 'as_in_serial_order':
// CHECK-NEXT: 'as_in_serial_order' returned 11,11,11,11
func.func @as_in_serial_order() -> (i32, i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %end = tfrt.constant.i32 9
  %yes = tfrt.constant.i1 true
  %r:3 = tfrt.while %yes @sums(%zero, %end, %one) parallel_iterations(1) : (i32, i32, i32) -> (i32, i32, i32)
  %s:3 = tfrt.while %yes @sums(%zero, %end, %one) parallel_iterations(2) : (i32, i32, i32) -> (i32, i32, i32)
  %t:3 = tfrt.while %yes @sums(%zero, %end, %one) parallel_iterations(4) : (i32, i32, i32) -> (i32, i32, i32)
  %u:3 = tfrt.while %yes @sums(%zero, %end, %one) parallel_iterations(8) : (i32, i32, i32) -> (i32, i32, i32)
  tfrt.return %r#2, %s#2, %t#2, %u#2 : i32, i32, i32, i32
}

// An error in the values goes through the iterations behind it; one in the condition ends the loop.
func.func @divides(%i: i32, %x: i32) -> (i32, i32, i1) {
  %minus = tfrt.constant.i32 -1
  %late = "tfrt_test.async_copy.i32"(%i) : (i32) -> i32
  %quotient, %rest = "tfrt.div.i32"(%x, %late) : (i32, i32) -> (i32, i32)
  %next = tfrt.add.i32 %i, %minus
  %enough = tfrt.constant.i32 -3
  %more = "tfrt.lessequal.i32"(%enough, %next) : (i32, i32) -> i1
  tfrt.return %next, %quotient, %more : i32, i32, i1
}
func.func @divides_to_go_on(%i: i32, %x: i32) -> (i32, i32, i1) {
  %minus = tfrt.constant.i32 -1
  %late = "tfrt_test.async_copy.i32"(%i) : (i32) -> i32
  %quotient, %rest = "tfrt.div.i32"(%x, %late) : (i32, i32) -> (i32, i32)
  %next = tfrt.add.i32 %i, %minus
  %more = "tfrt.lessequal.i32"(%quotient, %x) : (i32, i32) -> i1
  tfrt.return %next, %x, %more : i32, i32, i1
}
// CHECK: --- Running 'errors':
// CHECK-NEXT: 'errors' returned -4,<<error: Divide by zero>>,<<error: Divide by zero>>,<<error: Divide by zero>>
func.func @errors() -> (i32, i32, i32, i32) {
  %three = tfrt.constant.i32 3
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.while %yes @divides(%three, %three) parallel_iterations(4) : (i32, i32) -> (i32, i32)
  %s:2 = tfrt.while %yes @divides_to_go_on(%three, %three) parallel_iterations(4) : (i32, i32) -> (i32, i32)
  tfrt.return %r#0, %r#1, %s#0, %s#1 : i32, i32, i32, i32
}

// A branch that starts before one of its arguments is there.
func.func @prints_first(%i: i32, %late: i32) -> i32 {
  %ch = tfrt.new.chain
  %ch1 = tfrt.print.i32 %i, %ch
  %sum = tfrt.add.i32 %i, %late
  tfrt.return %sum : i32
}
// CHECK: --- Running 'late_conditions':
// ORDER-NEXT: int32 = 2
// ORDER-NEXT: int32 = 1
// CHECK: 'late_conditions' returned 8,9
func.func @late_conditions() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %condition = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  %index = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %six = "tfrt_test.async_constant.i32"() {value = 6 : i32} : () -> i32
  %seven = "tfrt_test.async_add.i32"(%six, %one) : (i32, i32) -> i32
  %r = "tfrt.cond"(%condition, %one, %seven) {a_true_fn = @prints_first, b_false_fn = @prints_first, bef.operand_modes = ["required", "lenient", "lenient"]} : (i1, i32, i32) -> i32
  %s = "tfrt.case"(%index, %two, %seven) {branches = [@prints_first, @prints_first], bef.operand_modes = ["required", "lenient", "lenient"]} : (i32, i32, i32) -> i32
  tfrt.return %r, %s : i32, i32
}
