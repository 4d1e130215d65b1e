// Native functions are called by whatever calls functions, and run by the executor.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor %t.bef 2>%t.err | FileCheck %s
// RUN: not test -s %t.err
// RUN: bef_executor -work_queue_type=mstd:2 %t.bef | FileCheck %s
// RUN: bef_executor -work_queue_type=mstd:1 %t.bef | FileCheck %s
// RUN: bef-exec --seed 3 %t.bef 2>/dev/null | FileCheck %s
// RUN: tfrt_translate -bef-to-mlir %t.bef | FileCheck %s --check-prefix=TEXT
// RUN: tfrt_translate -mlir-to-bef --disable-optional-sections %s | bef_executor | FileCheck %s
// RUN: bef-exec %t.bef --input i32:5 --functions with_argument | FileCheck %s --check-prefix=INPUT

// TEXT: func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
// TEXT-NEXT: func.func private @native_async_add(i32, i32) -> i32 attributes {tfrt.native}
// TEXT-NEXT: func.func private @native_sink(i32, i1) attributes {tfrt.native}
// TEXT-NEXT: func.func private @native_async_sink(i32, i32, i32) -> !tfrt.chain attributes {tfrt.native}
// CHECK: --- Not running 'native_add' because it has arguments.
// CHECK-NEXT: --- Not running 'native_async_add' because it has arguments.
// CHECK-NEXT: --- Not running 'native_sink' because it has arguments.
// CHECK-NEXT: --- Not running 'native_async_sink' because it has arguments.
func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
func.func private @native_async_add(i32, i32) -> i32 attributes {tfrt.native}
func.func private @native_sink(i32, i1) attributes {tfrt.native}
func.func private @native_async_sink(i32, i32, i32) -> !tfrt.chain attributes {tfrt.native}

func.func @sub(%a: i32, %b: i32) -> i32 {
  %c = "tfrt.minus.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %c : i32
}

// CHECK: --- Running 'calls':
// CHECK-NEXT: 'calls' returned 7,7,3,7,3,7
func.func @calls() -> (i32, i32, i32, i32, i32, i32) {
  %five = tfrt.constant.i32 5
  %two = tfrt.constant.i32 2
  %true = tfrt.constant.i1 true
  %false = tfrt.constant.i1 false
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %a = tfrt.call @native_add(%five, %two) : (i32, i32) -> i32
  %b = tfrt.cond %true @native_async_add @sub (%five, %two) : (i32, i32) -> (i32)
  %c = tfrt.cond %false @native_add @sub (%five, %two) : (i32, i32) -> (i32)
  %d = tfrt.case %zero [@native_add, @sub] (%five, %two) : (i32, i32) -> (i32)
  %e = tfrt.case %one [@native_async_add, @sub] (%five, %two) : (i32, i32) -> (i32)
  %f = tfrt.once @native_async_add(%five, %two) : (i32, i32) -> (i32)
  tfrt.call @native_sink(%a, %true) : (i32, i1) -> ()
  tfrt.return %a, %b, %c, %d, %e, %f : i32, i32, i32, i32, i32, i32
}

// An argument that comes later.
// CHECK: --- Running 'late':
// CHECK-NEXT: 'late' returned 10
func.func @late() -> i32 {
  %a = "tfrt_test.async_constant.i32"() {value = 5 : i32} : () -> i32
  %true = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  %b = tfrt.cond %true @native_add @sub (%a, %a) : (i32, i32) -> (i32)
  tfrt.return %b : i32
}

// CHECK: --- Running 'parallel':
// CHECK-NEXT: 'parallel' returned {{.*chain.*}}
func.func @parallel() -> !tfrt.chain {
  %begin = tfrt.constant.i32 0
  %end = tfrt.constant.i32 1000
  %size = tfrt.constant.i32 7
  %ch = tfrt.parallel_call.i32 %begin to %end fixed %size @native_async_sink(%size) : i32
  tfrt.return %ch : !tfrt.chain
}

// An error of native code that is called has the place of the call; one that is run directly has none.
// CHECK: --- Running 'fails':
// CHECK-NEXT: 'fails' returned <<error: something bad happened>>
func.func @fails() -> i32 {
  // expected-error @+1 {{something bad happened}}
  %a = tfrt.call @native_error() : () -> i32
  tfrt.return %a : i32
}

// INPUT: --- Running 'with_argument':
// INPUT-NEXT: 'with_argument' returned 10
// CHECK: --- Not running 'with_argument' because it has arguments.
func.func @with_argument(%a: i32) -> i32 {
  %b = tfrt.call @native_add(%a, %a) : (i32, i32) -> i32
  tfrt.return %b : i32
}

// TEXT: func.func private @native_error() -> i32 attributes {tfrt.native}
// CHECK: --- Running 'native_error':
// CHECK-NEXT: 'native_error' returned <<error: something bad happened>>
func.func private @native_error() -> i32 attributes {tfrt.native}
