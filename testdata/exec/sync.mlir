// The kernels of a synchronous function run in the order of the program, and the first failure ends it.
//
// RUN: bef-exec %s --work-queue s --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check | FileCheck %s

// CHECK: --- Running 'order':
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [1]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [3]
func.func @order() attributes {tfrt.sync} {
  %a = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1], values = [1 : i32]} : () -> !t.tensor
  %b = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1], values = [2 : i32]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %a
  tfrt_dht_sync.print_tensor %b
  %c = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1], values = [3 : i32]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %c
  tfrt.return
}

// CHECK: --- Running 'failure':
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [1]
// CHECK-NEXT: 'failure' returned <<error: something bad happened>>{{$}}
func.func @failure() -> (i32, i32) attributes {tfrt.sync} {
  %one = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %a = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1], values = [1 : i32]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %a
  "tfrt_test.error_s"() : () -> ()
  tfrt_dht_sync.print_tensor %a
  %two = "tfrt.add_s.i32"(%one, %one) : (i32, i32) -> i32
  tfrt.return %one, %two : i32, i32
}

// CHECK: --- Running 'caller':
// CHECK-NEXT: 'caller' returned 3,<<error: something bad happened>>
func.func @sum(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %sum = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %sum : i32
}
func.func @fails(%a: i32, %b: i32) -> i32 attributes {tfrt.sync} {
  %sum = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  %bad = "tfrt_test.fail_s"() : () -> i32
  tfrt.return %sum : i32
}
func.func @caller() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %a = "tfrt_test.invoke_sync_function.i32_i32.i32"(%one, %two) {fn = @sum} : (i32, i32) -> i32
  %b = "tfrt_test.invoke_sync_function.i32_i32.i32"(%one, %two) {fn = @fails} : (i32, i32) -> i32
  tfrt.return %a, %b : i32, i32
}
