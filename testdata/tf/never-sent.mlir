// Values that nobody sends: an error with the channel and the frame, never a hang.

// A file that waits for what nobody sends ends with an error.
// NEVER: error: never sent: channel 7 from nobody to /job:localhost/replica:0/task:0/device:CPU:0{{$}}
// RUN: not bef-exec %s --functions never --input i32:1 2>&1 | FileCheck %s --check-prefix=NEVER
func.func @never(%x: i32) -> i32 {
  %s = dev.step
  %y = dev.recv in %s channel 7 from "nobody" : i32
  tfrt.return %y : i32
}

// Two parts that wait for each other: nothing runs, is ready, or is awaited.
// RUN: bef-exec %s --functions circle --work-queue s 2>&1 | FileCheck %s --check-prefix=CIRCLE
// RUN: bef-exec %s --functions circle --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=CIRCLE
// RUN: bef-exec %s --functions circle --seed 3 2>&1 | FileCheck %s --check-prefix=CIRCLE
// CIRCLE-DAG: error: never sent: channel 1 from B to {{.*}}CPU:0, in loop, iteration 1{{$}}
func.func @circle() -> (i32, i32) {
  %s = dev.step
  %f = dev.enter %s {bef.frame = "loop"}
  %g = dev.next %f
  %a = tfrt.call @sends(%g) {bef.operand_modes = ["lenient"]} : (!dev.step) -> i32
  %b = tfrt.call @sends_back(%g) {bef.operand_modes = ["lenient"]} : (!dev.step) -> i32
  tfrt.return %a, %b : i32, i32
}
func.func private @sends(%s: !dev.step) -> i32 {
  %x = dev.recv in %s channel 1 from "B" : i32
  dev.send %x in %s channel 2 to "B" : i32
  tfrt.return %x : i32
}
func.func private @sends_back(%s: !dev.step) -> i32 {
  %x = dev.recv in %s channel 2 from "A" : i32
  dev.send %x in %s channel 1 to "A" : i32
  tfrt.return %x : i32
}

// A loop passes on what is not known: the operands of one that does not begin, or the results of its last
// iteration. Nobody outside of the execution has to give them.
// RUN: bef-exec %s --functions passed --work-queue s 2>&1 | FileCheck %s --check-prefix=PASSED
// RUN: bef-exec %s --functions passed --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=PASSED
// PASSED: error: never sent: channel 1 from B to {{.*}}CPU:0{{$}}
func.func @passed() -> (i32, i32) {
  %s = dev.step
  %x = dev.recv in %s channel 1 from "B" : i32
  %no = tfrt.constant.i1 false
  %a, %b = tfrt.while %no @again(%x, %no) {bef.operand_modes = ["required", "lenient", "lenient"]} parallel_iterations(1) : (i32, i1) -> (i32, i1)
  %yes = tfrt.constant.i1 true
  %c, %d = tfrt.while %yes @again(%x, %no) {bef.operand_modes = ["required", "lenient", "lenient"]} parallel_iterations(1) : (i32, i1) -> (i32, i1)
  tfrt.return %a, %c : i32, i32
}
func.func private @again(%x: i32, %more: i1) -> (i32, i1, i1) {
  tfrt.return %x, %more, %more : i32, i1, i1
}

// A value that is not known is not sent: its receiver would wait for it, and nobody for its sender.
// RUN: bef-exec %s --functions lenient 2>&1 | FileCheck %s --check-prefix=LENIENT
// LENIENT: error: the value is not final: it must not be lenient
func.func @lenient() -> i32 {
  %s = dev.step
  %x = dev.recv in %s channel 1 from "B" : i32
  dev.send %x in %s channel 2 to "A" {bef.operand_modes = ["lenient", "required"]} : i32
  %y = dev.recv in %s channel 2 from "A" : i32
  tfrt.return %y : i32
}

// What goes on elsewhere is waited for: a sender that takes its time.
// RUN: bef-exec %s --functions late --work-queue s | FileCheck %s --check-prefix=LATE
// RUN: bef-exec %s --functions late --work-queue mstd:2 | FileCheck %s --check-prefix=LATE
// LATE: 'late' returned 7
func.func @late() -> i32 {
  %s = dev.step
  %a = dev.recv in %s channel 1 from "B" : i32
  %seven = tfrt.constant.i32 7
  %b = "tfrt_test.async_copy.with_delay.i32"(%seven) : (i32) -> i32
  dev.send %b in %s channel 1 to "A" : i32
  tfrt.return %a : i32
}

// A part that fails does not run the branch in which another part waits for it: that one has its error, too.
// RUN: bef-exec %s --functions failed --work-queue s 2>&1 | FileCheck %s --check-prefix=FAILED
// RUN: bef-exec %s --functions failed --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=FAILED
// FAILED-NOT: never sent
// FAILED: 'failed' returned <<error: something bad happened>>,<<error: something bad happened>>
func.func @failed() -> (i32, i32) {
  %s = dev.step
  %yes = tfrt.constant.i1 true
  %a = tfrt.cond %yes @takes @takes(%s) {bef.operand_modes = ["required", "lenient"]} : (!dev.step) -> (i32)
  %bad = "tfrt_test.fail"() : () -> i32
  %same = "tfrt.equal.i32"(%bad, %bad) : (i32, i32) -> i1
  %b = tfrt.cond %same @gives @gives(%s) {bef.operand_modes = ["required", "lenient"]} : (!dev.step) -> (i32)
  tfrt.return %a, %b : i32, i32
}
func.func private @takes(%s: !dev.step) -> i32 {
  %x = dev.recv in %s channel 1 from "B" : i32
  tfrt.return %x : i32
}
func.func private @gives(%s: !dev.step) -> i32 {
  %x = tfrt.constant.i32 7
  dev.send %x in %s channel 1 to "A" : i32
  tfrt.return %x : i32
}

// A predicate that is expected and does not come, and one that comes and is not expected, in a file of which loading
// does not see all parts.
// RUN: not bef-exec %s --functions alone --input i32:1 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE-DAG: error: channel 1: 1 of 2 values are sent in a message
// ALONE-DAG: error: channel 2: 2 of 1 values are sent in a message
// ALONE: 'alone' returned <<error: channel 1{{.*}}>>,<<error: channel 1{{.*}}>>,<<error: channel 2{{.*}}>>
func.func @alone(%x: i32) -> (i32, i1, i32) {
  %s = dev.step
  %f = dev.enter %s {bef.frame = "call"}
  %yes = tfrt.constant.i1 true
  dev.send %x in %f channel 1 to "A" : i32
  dev.send %x, %yes in %f channel 2 to "A" : i32, i1
  %y, %p = dev.recv in %f channel 1 from "B" : i32, i1
  %z = dev.recv in %f channel 2 from "B" : i32
  tfrt.return %y, %p, %z : i32, i1, i32
}

// A value and a predicate that are sent in one message arrive as they are: one that failed leaves the other alone.
// RUN: bef-exec %s --functions each --work-queue s 2>&1 | FileCheck %s --check-prefix=EACH
// RUN: bef-exec %s --functions each --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=EACH
// EACH: 'each' returned <<error: something bad happened>>,1,7,<<error: something bad happened>>
func.func @each() -> (i32, i1, i32, i1) {
  %s = dev.step
  %seven = tfrt.constant.i32 7
  %yes = tfrt.constant.i1 true
  %bad = "tfrt_test.fail"() : () -> i32
  %worse = "tfrt.equal.i32"(%bad, %bad) : (i32, i32) -> i1
  dev.send %bad, %yes in %s channel 1 to "A" : i32, i1
  dev.send %seven, %worse in %s channel 2 to "A" : i32, i1
  %a, %p = dev.recv in %s channel 1 from "B" : i32, i1
  %b, %q = dev.recv in %s channel 2 from "B" : i32, i1
  tfrt.return %a, %p, %b, %q : i32, i1, i32, i1
}
