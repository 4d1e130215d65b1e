// From and to handles. Nothing waits.
//
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --test_init_function=register_handlers | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check --init-function register_handlers --tfrt-output --verify-diagnostics | FileCheck %s

func.func @register_handlers() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'constants'
// CHECK-NEXT: DenseHostTensor dtype = ui64, shape = [1], values = [2]
// CHECK-NEXT: DenseHostTensor dtype = i1, shape = [2], values = [
// CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [1], values = [
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2, 2], values = [
// CHECK-NEXT: DenseHostTensor dtype = complex64, shape = [2], values = [
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [0], values = []
func.func @constants() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = corert.create_dense_tensor.ui64 {shape = [1], value = [2 : ui64]}
  %b = corert.create_dense_tensor.i1 {shape = [2], value = [true, false]}
  %c = corert.create_dense_tensor.bf16 {shape = [1], value = [2.0 : bf16]}
  %d = corert.create_dense_tensor.f32 {shape = [2, 2], value = [0.5 : f32]}
  %e = corert.create_dense_tensor.complex64 {shape = [2], value = [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]}
  %f = corert.create_dense_tensor.i32 {shape = [0], value = []}
  %ch1 = "corert.print_tensorhandle"(%a, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%b, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%c, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch4 = "corert.print_tensorhandle"(%d, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch5 = "corert.print_tensorhandle"(%e, %ch4) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch6 = "corert.print_tensorhandle"(%f, %ch5) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch6 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_constant'
// CHECK-NEXT: 'wrong_constant' returned <<error: {{.*}}2 values for a tensor of 3 elements>>
func.func @wrong_constant() -> !corert.tensorhandle {
  // expected-error @+1 {{2 values for a tensor of 3 elements}}
  %a = corert.create_dense_tensor.i32 {shape = [3], value = [1 : i32, 2 : i32]}
  tfrt.return %a : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'numbers'
// CHECK-NEXT: shape = [2, 2]
// CHECK-NEXT: shape = [2, 2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 1, 1, 1]
// CHECK-NEXT: 'numbers' returned 7,7,!tfrt.chain value
func.func @numbers() -> (i32, i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.const_dense_tensor dense<7> : tensor<i32>
  %x = corert.tensorhandle_to_int32 %a
  %b = corert.executeop(%cpu) "tfrt_test.async.noop"(%a) : 1
  %y = corert.tensorhandle_to_int32 %b
  %c = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2, 2], values = [1 : i32]} : 1
  %d = corert.executeop(%cpu) "tfrt_test.async.noop"(%c) : 1
  %e = corert.executeop(%cpu) "tfrt_test.async.noop_no_md"(%c) : 1
  %s = "corert.tensorhandle_to_shape"(%d) : (!corert.tensorhandle) -> !ts.shape
  %t = "corert.tensorhandle_to_shape"(%e) : (!corert.tensorhandle) -> !ts.shape
  %ch1 = ts.print_shape %s, %ch
  %ch2 = ts.print_shape %t, %ch1
  %h = "corert.tensorhandle_to_ht"(%e) : (!corert.tensorhandle) -> !t.tensor
  %f = "corert.ht_to_tensorhandle"(%h, %ch2) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%f)
  tfrt.return %x, %y, %ch3 : i32, i32, !tfrt.chain
}

// CHECK-LABEL: --- Running 'errors'
// CHECK-NEXT: 'errors' returned <<error: {{.*}}2 elements{{.*}}>>,<<error: error from test.error.tensor implementation>>,<<error: error from test.error.tensor implementation>>
func.func @errors() -> (i32, i32, !ts.shape) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.const_dense_tensor dense<7> : tensor<2xi32>
  %x = corert.tensorhandle_to_int32 %a
  // expected-error @+1 {{error from test.error.tensor implementation}}
  %b = corert.executeop(%cpu) "tfrt_test.error.tensor"(%a) : 1
  %y = corert.tensorhandle_to_int32 %b
  %s = "corert.tensorhandle_to_shape"(%b) : (!corert.tensorhandle) -> !ts.shape
  tfrt.return %x, %y, %s : i32, i32, !ts.shape
}

// CHECK-LABEL: --- Running 'transfers'
// CHECK-NEXT: tensor_type = ScalarHost
// CHECK-NEXT: ScalarHostTensor dtype = i32, shape = [2], value = 1
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 1]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 1]
// CHECK-NEXT: 'transfers' returned !tfrt.chain value,<<error: cannot convert ScalarHost to CooHost>>
func.func @transfers() -> (!tfrt.chain, !corert.tensorhandle) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %device = tfrt.get_device %ch {device_name = "CPU:0"}
  %a = corert.executeop(%cpu) "tfrt_test.create_from_scalar"() {shape = [2], value = 1 : i32} : 1
  %type = corert.get_dst_tensor_type %a, %device
  %ch1 = "tfrt_test.print_tensor_type"(%type, %ch) : (!tfrt.tensor_type, !tfrt.chain) -> !tfrt.chain
  %b = corert.transfer %a, %device, %type
  %dense = "tfrt_test.get_static_tensor_type"() {type = "DenseHost"} : () -> !tfrt.tensor_type
  %c = corert.transfer %b, %device, %dense
  %d = corert.transfer_inferred_tensortype %c, %device
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%b)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%c)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%d)
  %coo = "tfrt_test.get_static_tensor_type"() {type = "CooHost"} : () -> !tfrt.tensor_type
  // expected-error @+1 {{cannot convert ScalarHost to CooHost}}
  %e = corert.transfer %a, %device, %coo
  tfrt.return %ch4, %e : !tfrt.chain, !corert.tensorhandle
}
