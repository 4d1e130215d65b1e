// RUN: bef-exec %s --work-queue s --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check | FileCheck %s

// A value is its use's own if it was made here and nobody else uses it.
// CHECK: --- Running 'uniqueness':
// CHECK-NEXT: 'uniqueness' returned 1,0,0
func.func @uniqueness() -> (i1, i1, i1) {
  %own = tfrt.constant.i32 1
  %shared = tfrt.constant.i32 2
  %sum = tfrt.add.i32 %shared, %shared
  %indirect = "tfrt_test.make_indirect"(%sum) : (i32) -> i32
  %r:3 = "tfrt_test.get_uniqueness"(%own, %shared, %indirect) : (i32, i32, i32) -> (i1, i1, i1)
  tfrt.return %r#0, %r#1, %r#2 : i1, i1, i1
}

// CHECK: --- Running 'async_values':
// CHECK-NEXT: string = base1:base2:final_class:3
// CHECK-NEXT: string = available:2;unavailable;(3);available:3;unavailable;available:4
func.func @async_values() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = "tfrt_test.async_value_get"() : () -> !tfrt.string
  %b = "tfrt_test.async_value_ref"() : () -> !tfrt.string
  %ch1 = "tfrt_test.print_string"(%a, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_test.print_string"(%b, %ch1) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK: --- Running 'dense':
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 2, 3, 4]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [3], values = [1.500000e+00, 1.500000e+00, 1.500000e+00]
func.func @dense() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> !t.tensor
  %b = "tfrt_test.sync.const_dense_attr"() {value = dense<1.5> : tensor<3xf32>} : () -> !t.tensor
  %ch1 = tfrt_dht.print_tensor %a, %ch
  %ch2 = tfrt_dht.print_tensor %b, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK: --- Running 'sums':
// CHECK-NEXT: 'sums' returned 6,3,106,10
func.func @sums() -> (i32, i32, i32, i64) {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %three = tfrt.constant.i32 3
  %a = "tfrt_test.sync_sum"(%one, %two, %three) : (i32, i32, i32) -> i32
  %b = "tfrt_test.sync_sum2"(%three) : (i32) -> i32
  %c = "tfrt_test.sum_array_attr.i32"() {start = "100", terms = [1 : i32, 2 : i32, 3 : i32]} : () -> i32
  %d = "tfrt_test.sum_array_attr.i64"() {start = "10", terms = []} : () -> i64
  tfrt.return %a, %b, %c, %d : i32, i32, i32, i64
}

// CHECK: --- Running 'not_a_number':
// CHECK-NEXT: 'not_a_number' returned <<error: 'ten' is not a number>>
func.func @not_a_number() -> i32 {
  %a = "tfrt_test.sum_array_attr.i32"() {start = "ten", terms = [1 : i32]} : () -> i32
  tfrt.return %a : i32
}

// CHECK: --- Running 'debug_info':
// CHECK-NEXT: here
// CHECK-NEXT: inlined
// CHECK-NEXT: foobar
// CHECK-NEXT: bar
// CHECK-EMPTY:
// CHECK-NEXT: Kernel has no debug info
// CHECK-NEXT: Kernel has no debug info
func.func @debug_info() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = "tfrt_test.print_debug_info"(%ch) : (!tfrt.chain) -> !tfrt.chain loc("here")
  %b = "tfrt_test.print_debug_info"(%a) : (!tfrt.chain) -> !tfrt.chain loc(callsite("inlined"("y.mlir":3:4) at "caller"))
  // The names of all parts; those inside of parts do not count.
  %c = "tfrt_test.print_debug_info"(%b) : (!tfrt.chain) -> !tfrt.chain loc(fused["foo", "bar"])
  %d = "tfrt_test.print_debug_info"(%c) : (!tfrt.chain) -> !tfrt.chain loc(fused["foo.py":42:314, "bar"])
  %e = "tfrt_test.print_debug_info"(%d) : (!tfrt.chain) -> !tfrt.chain loc(fused["x.mlir":1:2, callsite("inlined"("y.mlir":3:4) at "caller")])
  %f = "tfrt_test.print_debug_info"(%e) : (!tfrt.chain) -> !tfrt.chain loc(callsite("y.mlir":3:4 at "caller"))
  %g = "tfrt_test.print_debug_info"(%f) : (!tfrt.chain) -> !tfrt.chain loc("x.mlir":5:6)
  tfrt.return %g : !tfrt.chain
}

// CHECK: --- Running 'request':
// CHECK-NEXT: tensor_type = DenseHost
// CHECK-NEXT: 'request' returned 0
func.func @request() -> i32 {
  %data = "tfrt_test.get_request_context_data.i32"() : () -> i32
  %ty = "tfrt_test.get_static_tensor_type"() {tensor_type = "DenseHost"} : () -> !tfrt.tensor_type
  %ch = "tfrt_test.print_tensor_type"(%ty) : (!tfrt.tensor_type) -> !tfrt.chain
  %r = "tfrt_test.identity"(%ch, %data) : (!tfrt.chain, i32) -> i32
  tfrt.return %r : i32
}
