// Test kernels that have no other place.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'numbers':
// CHECK-NEXT: 'numbers' returned 2,3,4,5,10,7
func.func @numbers() -> (i32, i32, i32, i64, i32, i32) {
  %one = tfrt.constant.i32 1
  %five = tfrt.constant.i64 5
  %yes = tfrt.constant.i1 true
  %late = "tfrt_test.copy.with_delay.i32"(%one) : (i32) -> i32
  %a, %b, %c = tfrt_test.count3.i32 %late
  %d = "tfrt_test.async_copy.with_delay.i64"(%five) : (i64) -> i64
  %sum = "tfrt_test.sum"(%one, %a, %b, %c) : (i32, i32, i32, i32) -> i32
  %seven = tfrt.constant.i32 7
  %chosen = "tfrt_test.select.i32"(%yes, %seven, %one) : (i1, i32, i32) -> i32
  tfrt.return %a, %b, %c, %d, %sum, %chosen : i32, i32, i32, i64, i32, i32
}

// CHECK: --- Running 'failures':
// CHECK-NEXT: 'failures' returned <<error: error chain>>,1,<<error: something bad happened>>
func.func @failures() -> (!tfrt.chain, i32, i32) {
  %ch = tfrt.new.chain
  %a = "tfrt_test.error_chain"(%ch) : (!tfrt.chain) -> !tfrt.chain
  %b, %c = "tfrt_test.partial_fail"() : () -> (i32, i32)
  tfrt.return %a, %b, %c : !tfrt.chain, i32, i32
}

// CHECK: --- Running 'printed':
// CHECK-NEXT: bool = true
// CHECK-NEXT: bool = false
// CHECK-NEXT: 'printed' returned 1
func.func @printed() -> i1 {
  %ch = tfrt.new.chain
  %yes = tfrt.constant.i1 true
  %no = tfrt.constant.i1 false
  %c1 = "tfrt_test.print_bool"(%ch, %yes) : (!tfrt.chain, i1) -> !tfrt.chain
  %c2 = "tfrt_test.print_bool"(%c1, %no) : (!tfrt.chain, i1) -> !tfrt.chain
  %thread = "tfrt_test.get_thread_id"(%c2) : (!tfrt.chain) -> i32
  %again = "tfrt_test.get_thread_id"(%c2) : (!tfrt.chain) -> i32
  %zero = tfrt.constant.i32 0
  %known = "tfrt.lessequal.i32"(%zero, %thread) : (i32, i32) -> i1
  tfrt.return %known : i1
}

func.func @sum(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %sum = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %sum : i32
}
func.func @both(%a: i32, %b: i32) -> (i32, i32) attributes {tfrt.sync} {
  %sum = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  %product = tfrt.mul_s.i32 %a, %b
  tfrt.return %sum, %product : i32, i32
}
// CHECK: --- Running 'calls':
// CHECK-NEXT: 'calls' returned 7,7,12,7,12
func.func @calls() -> (i32, i32, i32, i32, i32) {
  %a = tfrt.constant.i32 3
  %b = tfrt.constant.i32 4
  %c = "tfrt_test.sync_function_runner.i32_i32.i32"(%a, %b) {fn = @sum} : (i32, i32) -> i32
  %d, %e = "tfrt_test.sync_function_runner.i32_i32.i32_i32"(%a, %b) {fn = @both} : (i32, i32) -> (i32, i32)
  %f, %g = "tfrt_test.invoke_sync_function.i32_i32.i32_i32"(%a, %b) {fn = @both} : (i32, i32) -> (i32, i32)
  tfrt.return %c, %d, %e, %f, %g : i32, i32, i32, i32, i32
}

// CHECK: --- Running 'attributes':
// CHECK-NEXT: 'attributes' returned 15,0,text
func.func @attributes() -> (i32, i32, !tfrt.string) attributes {tfrt.sync} {
  %sum = "tfrt_test.sync_sum_attributes"() {a = 1 : i32, b = 2 : i32, c = 3 : i32, d = 4 : i32, e = 5 : i32} : () -> i32
  %none = "tfrt_test.sync_sum_attributes"() : () -> i32
  %text = tfrt_test.get_string_sync {value = "text"}
  tfrt.return %sum, %none, %text : i32, i32, !tfrt.string
}

// CHECK: --- Running 'images':
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 1, 2, 2], values = [1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 2], values = [1.000000e+00, 2.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 2], values = [0.000000e+00, 0.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 2], values = [3.000000e+00, 4.000000e+00]
func.func @images() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %ch [1.0 : f32, 2.0 : f32]
  %wide = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 2 : i64, 2 : i64]
  %c2 = "tfrt_test.broadcast_2d.f32"(%a, %wide, %c1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c3 = tfrt_dht.print_tensor %wide, %c2
  %mean = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %c4 = "tfrt_test.global_average_pooling.f32"(%wide, %mean, %c3) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c5 = tfrt_dht.print_tensor %mean, %c4
  %c6 = "tfrt_test.subtract_inplace.f32"(%a, %mean, %c5) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c7 = tfrt_dht.print_tensor %mean, %c6
  %integers = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %c8 = tfrt_dht.set_tensor_with_constant_values.i32 %integers, %c7 [3 : i32, 4 : i32]
  %c9 = "tfrt_test.cast.i32_to_f32"(%integers, %mean, %c8) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c10 = tfrt_dht.print_tensor %mean, %c9
  tfrt.return %c10 : !tfrt.chain
}
