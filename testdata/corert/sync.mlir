// The dialect of synchronous functions, and benchmarks of both.
//
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --test_init_function=register_handlers | FileCheck %s

func.func @register_handlers() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [2, 2]
// CHECK-NEXT: DenseHostTensor dtype = i1, shape = [2], values = [
// CHECK-NEXT: 'sync' returned !corert.tensorhandle value
func.func @sync() -> !corert.tensorhandle attributes {tfrt.sync} {
  %cpu = corert_sync.get_op_handler "cpu"
  "corert_sync.register_op_handler"(%cpu) {name = "other"} : (!corert.ophandler) -> ()
  %other = corert_sync.get_op_handler "other"
  %a = corert_sync.const_dense_tensor dense<1> : tensor<2xi32>
  %b = corert_sync.executeop(%other) "tfrt_test.add"(%a, %a) : 1
  %c = corert_sync.create_dense_tensor.i1 {shape = [2], value = [true, false]}
  "corert_sync.print_tensorhandle"(%b) : (!corert.tensorhandle) -> ()
  "corert_sync.print_tensorhandle"(%c) : (!corert.tensorhandle) -> ()
  tfrt.return %b : !corert.tensorhandle
}

// With one thread the tensors are not there when they are printed; nothing waits for them.
// CHECK-LABEL: --- Running 'futures'
// CHECK-NEXT: future TensorHandle with metadata i32 shape = [2, 2]
// CHECK-NEXT: fully future TensorHandle with unresolved metadata
// CHECK-NEXT: future TensorHandle with metadata i32 shape = [2, 2]
// CHECK-NEXT: Error TensorHandle: 'error from test.error.tensor implementation'
// CHECK-NEXT: 'futures' returned
func.func @futures() attributes {tfrt.sync} {
  %cpu = corert_sync.get_op_handler "cpu"
  %a = corert_sync.const_dense_tensor dense<1> : tensor<2x2xi32>
  %b = corert_sync.executeop(%cpu) "tfrt_test.async.noop"(%a) : 1
  %c = corert_sync.executeop(%cpu) "tfrt_test.async.noop_no_md"(%a) : 1
  %d = corert_sync.executeop(%cpu) "tfrt_test.add"(%b, %a) : 1
  // expected-error @+1 {{error from test.error.tensor implementation}}
  %e = corert_sync.executeop(%cpu) "tfrt_test.error.tensor"(%a) : 1
  "corert_sync.print_tensorhandle"(%b) : (!corert.tensorhandle) -> ()
  "corert_sync.print_tensorhandle"(%c) : (!corert.tensorhandle) -> ()
  "corert_sync.print_tensorhandle"(%d) : (!corert.tensorhandle) -> ()
  "corert_sync.print_tensorhandle"(%e) : (!corert.tensorhandle) -> ()
  tfrt.return
}

// CHECK-LABEL: --- Running 'unknown'
// CHECK-NEXT: 'unknown' returned <<error: tf.invalidop was not supported by NullOpHandler>>
func.func @unknown() -> !corert.tensorhandle attributes {tfrt.sync} {
  %cpu = corert_sync.get_op_handler "cpu"
  // expected-error @+1 {{tf.invalidop was not supported by NullOpHandler}}
  %b = corert_sync.executeop(%cpu) "tf.invalidop"() : 1
  tfrt.return %b : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'benchmark'
// CHECK: BM:add:Count: 10
func.func @benchmark() {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [1, 1], values = [1.0 : f32]} : 1
  tfrt_test.benchmark "add"(%cpu : !corert.ophandler, %a : !corert.tensorhandle) duration_secs = 1, max_count = 10, num_warmup_runs = 2 {
    %b = corert.executeop(%cpu) "tfrt_test.matmul"(%a, %a) {transpose_a = false, transpose_b = false} : 1
    tfrt.return %b : !corert.tensorhandle
  }
  tfrt.return
}

func.func @add(%a: !corert.tensorhandle) attributes {tfrt.sync} {
  %cpu = corert_sync.get_op_handler "cpu"
  %b = corert_sync.executeop(%cpu) "tfrt_test.add"(%a, %a) : 1
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_benchmark'
// CHECK: BM:add:Count: 10
func.func @sync_benchmark() attributes {tfrt.sync} {
  %a = corert_sync.const_dense_tensor dense<1> : tensor<2xi32>
  tfrt_test.sync_benchmark @add(%a : !corert.tensorhandle) duration_secs = 1, max_count = 10, num_warmup_runs = 2
  tfrt.return
}
