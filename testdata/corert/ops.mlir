// Operators of the handler `cpu`: errors, futures, values, effects.
//
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --test_init_function=register_handlers | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check --init-function register_handlers --functions=dense,shapes,error_of_operand,several,forwarded | FileCheck %s --check-prefix=SOME
// RUN: bef-exec %s --seed 1 --leak-check --init-function register_handlers --verify-diagnostics

// CHECK: --- Running 'register_handlers':
func.func @register_handlers() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'unknown_handler'
// CHECK-NEXT: 'unknown_handler' returned <<error: op_handler not found: gpu>>
func.func @unknown_handler() -> !corert.ophandler {
  %ch = tfrt.new.chain
  // expected-error @+1 {{op_handler not found}}
  %gpu = corert.get_op_handler %ch "gpu"
  tfrt.return %gpu : !corert.ophandler
}

// CHECK-LABEL: --- Running 'unknown_op'
// CHECK-NEXT: 'unknown_op' returned <<error: tf.invalidop was not supported by NullOpHandler>>
func.func @unknown_op() -> !corert.tensorhandle {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  // expected-error @+1 {{tf.invalidop was not supported by NullOpHandler}}
  %x = corert.executeop(%cpu) "tf.invalidop"() : 1
  tfrt.return %x : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'unknown_op_in_order'
// CHECK-NEXT: 'unknown_op_in_order' returned <<error: tf.invalidop was not supported by NullOpHandler>>
func.func @unknown_op_in_order() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  // expected-error @+1 {{tf.invalidop was not supported by NullOpHandler}}
  %ch1, %x = corert.executeop.seq(%cpu, %ch) "tf.invalidop"() : 1
  %ch2 = "corert.print_tensorhandle"(%x, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dense'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 1, 1, 1]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [2, 2, 2, 2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [3], values = [1, 2, 3]
// CHECK-NEXT: 'dense' returned !tfrt.chain value
// SOME-LABEL: --- Running 'dense'
// SOME-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 1, 1, 1]
func.func @dense() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2, 2], values = [1 : i32]} : 1
  %b = corert.executeop(%cpu) "tfrt_test.add"(%a, %a) : 1
  %c = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [3], values = [1 : i32, 2 : i32, 3 : i32]} : 1
  %ch1 = "corert.print_tensorhandle"(%a, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%b)
  %ch3 = "corert.print_tensorhandle"(%c, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'returned'
// CHECK-NEXT: 'returned' returned !corert.tensorhandle value
func.func @returned() -> !corert.tensorhandle {
  %a = corert.const_dense_tensor dense<[0, 1]> : tensor<2xi32>
  tfrt.return %a : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'scalars'
// CHECK-NEXT: ScalarHostTensor dtype = i32, shape = [2, 2], value = 1
// CHECK-NEXT: ScalarHostTensor dtype = i32, shape = [2, 2], value = 2
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [2, 2, 2, 2]
// CHECK-NEXT: ScalarHostTensor dtype = i32, shape = [2, 2], value = 2
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 1, 1, 1]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [4, 4, 4, 4]
func.func @scalars() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_from_scalar"() {shape = [2, 2], value = 1 : i32} : 1
  %b = corert.executeop(%cpu) "tfrt_test.add"(%a, %a) : 1
  %c = corert.executeop(%cpu) "tfrt_test.add.denseonly"(%a, %a) : 1
  %d = corert.executeop(%cpu) "tf.AddV2"(%a, %a) : 1
  %e = corert.executeop(%cpu) "tf.Mul"(%a, %a) : 1
  %f = corert.executeop(%cpu) "tf.AddV2"(%b, %c) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%a)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%b)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%c)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%d)
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print"(%e)
  %ch6 = corert.executeop.seq(%cpu, %ch5) "tfrt_test.print"(%f)
  tfrt.return %ch6 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'missing_attribute'
// CHECK-NEXT: 'missing_attribute' returned <<error: tfrt_test.create_from_scalar must have 'value' attribute>>
func.func @missing_attribute() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  // expected-error @+1 {{test.create_from_scalar must have 'value' attribute}}
  %a = corert.executeop(%cpu) "tfrt_test.create_from_scalar"() {shape = [2, 2]} : 1
  %ch1 = "corert.print_tensorhandle"(%a, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'shapes'
// CHECK-NEXT: 'shapes' returned <<error: matmul arguments have incompatible shapes>>,<<error: matmul arguments have incompatible shapes>>
// SOME-LABEL: --- Running 'shapes'
// SOME-NEXT: 'shapes' returned
func.func @shapes() -> (!tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2, 3], values = [1.0 : f32]} : 1
  // expected-error @+1 {{matmul arguments have incompatible shapes}}
  %b = corert.executeop(%cpu) "tfrt_test.matmul"(%a, %a) {transpose_a = false, transpose_b = false} : 1
  %ch1 = "corert.print_tensorhandle"(%b, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{matmul arguments have incompatible shapes}}
  %ch2, %c = corert.executeop.seq(%cpu, %ch) "tfrt_test.matmul"(%a, %a) {transpose_a = true, transpose_b = true} : 1
  tfrt.return %ch1, %ch2 : !tfrt.chain, !tfrt.chain
}

// The operator is skipped, and nothing is said.
// CHECK-LABEL: --- Running 'error_of_operand'
// CHECK-NEXT: 'error_of_operand' returned <<error: error from test.error.tensor implementation>>
// SOME-LABEL: --- Running 'error_of_operand'
// SOME-NEXT: 'error_of_operand' returned
func.func @error_of_operand() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [1], values = [1 : i32]} : 1
  // expected-error @+1 {{error from test.error.tensor implementation}}
  %b = corert.executeop(%cpu) "tfrt_test.error.tensor"(%a) : 1
  %c = corert.executeop(%cpu) "tfrt_test.add"(%a, %b) : 1
  %ch1 = "corert.print_tensorhandle"(%c, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%c)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%a)
  tfrt.return %ch3 : !tfrt.chain
}

// An operator that fails has given its handle before.
// CHECK-LABEL: --- Running 'failed'
// CHECK-NEXT: Error TensorHandle: 'error from test.error.tensor implementation'
// CHECK-NEXT: future TensorHandle with metadata i32 shape = [1]
// CHECK-NEXT: 'failed' returned <<error: error from test.error.tensor implementation>>,!tfrt.chain value
func.func @failed() -> (!tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [1], values = [1 : i32]} : 1
  // expected-error @+1 {{error from test.error.tensor implementation}}
  %b = corert.executeop(%cpu) "tfrt_test.error.tensor"(%a) : 1
  %ch1 = "corert.print_tensorhandle"(%b, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %c = corert.executeop(%cpu) "tfrt_test.async.noop"(%a) : 1
  // expected-error @+1 {{error from test.error.tensor implementation}}
  %d = corert.executeop(%cpu) "tfrt_test.error.tensor"(%c) : 1
  %ch2 = "corert.print_tensorhandle"(%d, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%d)
  tfrt.return %ch3, %ch2 : !tfrt.chain, !tfrt.chain
}

// CHECK-LABEL: --- Running 'invalid_handle'
// CHECK-NEXT: 'invalid_handle' returned <<error: invalid tensorhandle>>
func.func @invalid_handle() -> !corert.tensorhandle {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  // expected-error @+1 {{invalid tensorhandle}}
  %a = "tfrt_test.error_tensorhandle"() : () -> !corert.tensorhandle
  %b = corert.executeop(%cpu) "tfrt_test.identity"(%a) : 1
  tfrt.return %b : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'invalid_chain'
// CHECK-NEXT: 'invalid_chain' returned <<error: error chain>>,<<error: error chain>>
func.func @invalid_chain() -> (!tfrt.chain, !corert.tensorhandle) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [1], values = [1 : i32]} : 1
  // expected-error @+1 {{error chain}}
  %ch1 = "tfrt_test.error_chain"(%ch) : (!tfrt.chain) -> !tfrt.chain
  %ch2, %b = corert.executeop.seq(%cpu, %ch1) "tfrt_test.identity"(%a) : 1
  tfrt.return %ch2, %b : !tfrt.chain, !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'cancelled'
// CHECK-NEXT: 'cancelled' returned <<error: Cancelled>>
func.func @cancelled() -> !corert.tensorhandle {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %x, %ch1 = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %ch2, %a = corert.executeop.seq(%cpu, %ch1) "tfrt_test.create_dense_tensor"() {shape = [1], values = [1 : i32]} : 1
  tfrt.return %a : !corert.tensorhandle
}

// Printing waits for nothing, an operator for its operands.
// CHECK-LABEL: --- Running 'futures'
// CHECK-NEXT: future TensorHandle with metadata i32 shape = [2, 2]
// CHECK-NEXT: fully future TensorHandle with unresolved metadata
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [2, 2, 2, 2]
// CHECK-NEXT: 'futures' returned !tfrt.chain value
func.func @futures() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2, 2], values = [1 : i32]} : 1
  %b = corert.executeop(%cpu) "tfrt_test.async.noop"(%a) : 1
  %c = corert.executeop(%cpu) "tfrt_test.async.noop_no_md"(%a) : 1
  %d = corert.executeop(%cpu) "tfrt_test.add"(%b, %a) : 1
  %ch1 = "corert.print_tensorhandle"(%b, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%c, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%d)
  tfrt.return %ch3 : !tfrt.chain
}

// A future becomes an error.
// CHECK-LABEL: --- Running 'future_errors'
// CHECK: 'future_errors' returned <<error: {{.*}}must have same shape{{.*}}>>,<<error: {{.*}}must have same shape{{.*}}>>
func.func @future_errors() -> (!tfrt.chain, i32) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2, 2], values = [1 : i32]} : 1
  %b = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2], values = [1 : i32]} : 1
  %c = corert.executeop(%cpu) "tfrt_test.async.noop_no_md"(%a) : 1
  // expected-error @+1 {{arguments of test.add must have same shape}}
  %d = corert.executeop(%cpu) "tfrt_test.add"(%b, %c) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%d)
  %x = corert.tensorhandle_to_int32 %d
  tfrt.return %ch1, %x : !tfrt.chain, i32
}

// CHECK-LABEL: --- Running 'several'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 0]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 3]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 0]
// CHECK-NEXT: CooHostTensor dtype = i32, shape = [2, 3], indices = [0, 1, 1, 2], values = [7, 9]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 3], values = [0, 14, 0, 0, 0, 18]
// SOME-LABEL: --- Running 'several'
// SOME-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 0]
func.func @several() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2, 2], values = [1.0 : f32, 2.0 : f32, 4.0 : f32, 3.0 : f32]} : 1
  %b = corert.executeop(%cpu) "tfrt_test.argmax"(%a) {axis = 1 : i32} : 1
  %c = corert.executeop(%cpu) "tfrt_test.reduce_mean"(%a) {axis = 0 : i32} : 1
  %d = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [4], values = [1 : i32, 2 : i32, 3 : i32, 4 : i32]} : 1
  %e = corert.executeop(%cpu) "tfrt_test.odd_collector"(%d) : 1
  %f = corert.executeop(%cpu) "tfrt_test.cast"(%e) {type = f32} : 1
  %g = corert.executeop(%cpu) "tfrt_test.equal"(%b, %e) : 1
  %i = corert.const_dense_tensor dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>
  %v = corert.const_dense_tensor dense<[7, 9]> : tensor<2xi32>
  %h = corert.executeop(%cpu) "tfrt_test.create_coo_tensor"(%i, %v) {shape = [2, 3]} : 1
  %j = corert.executeop(%cpu) "tfrt_test.add.denseonly"(%h, %h) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%b)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%c)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%e)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%f)
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print"(%g)
  %ch6 = corert.executeop.seq(%cpu, %ch5) "tfrt_test.print"(%h)
  %ch7 = corert.executeop.seq(%cpu, %ch6) "tfrt_test.print"(%j)
  tfrt.return %ch7 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'strings'
// CHECK-NEXT: StringHostTensor shape = [2], values = ["a", "b"]
// CHECK-NEXT: StringHostTensor shape = [2, 2], values = ["c", "c", "c", "c"]
// CHECK-NEXT: Error TensorHandle: 'Cannot implictly convert StringHost to DenseHost'
// CHECK-NEXT: 'strings' returned !tfrt.chain value
func.func @strings() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.const_string_tensor {shape = [2], value = ["a", "b"]}
  %b = corert.const_string_tensor {shape = [2, 2], value = ["c"]}
  %ch1 = "corert.print_tensorhandle"(%a, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%b, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{Cannot implictly convert StringHost to DenseHost}}
  %c = corert.executeop(%cpu) "tfrt_test.identity_dense_only"(%a) : 1
  %ch3 = "corert.print_tensorhandle"(%c, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// The result of an operator lies where its operand lay, if nobody else has that.
// CHECK-LABEL: --- Running 'forwarded'
// CHECK-NEXT: DenseHostTensor: buffer=[[ADDRESS:0x[0-9a-f]+]]
// CHECK-NEXT: DenseHostTensor: buffer=[[ADDRESS]]
// CHECK-NEXT: DenseHostTensor: buffer=[[ADDRESS]]
// SOME-LABEL: --- Running 'forwarded'
// SOME-NEXT: DenseHostTensor: buffer=[[ADDRESS:0x[0-9a-f]+]]
// SOME-NEXT: DenseHostTensor: buffer=[[ADDRESS]]
// SOME-NEXT: DenseHostTensor: buffer=[[ADDRESS]]
func.func @forwarded() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [4, 4], values = [1.0 : f32]} : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print_address"(%a)
  %ch2, %b = corert.executeop.seq(%cpu, %ch1) "tf.Relu"(%a) : 1
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print_address"(%b)
  %c = corert.const_dense_tensor dense<1.0> : tensor<4x4xf32>
  %ch4, %d = corert.executeop.seq(%cpu, %ch3) "tf.AddV2"(%b, %c) : 1
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print_address"(%d)
  tfrt.return %ch5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'kept'
// CHECK-NEXT: DenseHostTensor: buffer=[[ADDRESS:0x[0-9a-f]+]]
// CHECK-NOT: DenseHostTensor: buffer=[[ADDRESS]]
// CHECK: 'kept' returned
func.func @kept() -> (!tfrt.chain, !corert.tensorhandle) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [4, 4], values = [1.0 : f32]} : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print_address"(%a)
  %ch2, %b = corert.executeop.seq(%cpu, %ch1) "tf.Relu"(%a) : 1
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print_address"(%b)
  tfrt.return %ch3, %a : !tfrt.chain, !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'long_chain'
// CHECK-NEXT: 'long_chain' returned <<error: op handlers nest too deeply: at most 64 may ask each other>>
func.func @long_chain() -> !corert.ophandler {
  %n = tfrt.constant.i32 100
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %h = tfrt.repeat.i32 %n, %null : !corert.ophandler {
    // expected-error @+1 {{op handlers nest too deeply}}
    %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
    tfrt.return %cpu : !corert.ophandler
  }
  tfrt.return %h : !corert.ophandler
}

// CHECK-LABEL: --- Running 'large'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [5, 8], values = [7, 7, {{(7, )+}}7, ...]
// CHECK-NEXT: 'large' returned
func.func @large() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [5, 8], values = [7 : i32]} : 1
  %ch1 = "corert.print_tensorhandle"(%a, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// State works as in compiled programs.
// CHECK-LABEL: --- Running 'variables'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [3, 3]
func.func @variables() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2], values = [3 : i32]} : 1
  %v = corert.executeop(%cpu) "tf.VarHandleOp"() {dtype = i32, shape = #corert.shape<2>, shared_name = "v"} : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tf.AssignVariableOp"(%v, %a)
  %ch2, %r = corert.executeop.seq(%cpu, %ch1) "tf.ReadVariableOp"(%v) {dtype = i32} : 1
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%r)
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_operands'
// CHECK-NEXT: 'wrong_operands' returned <<error: missing 'values' attribute>>,<<error: size of 'values' must either be 1 or match num of elements.{{.*}}>>,<<error: incompatible dtypes for test.add{{.*}}>>,<<error: argument 1 of matmul op is not a rank-2 tensor>>,<<error: axis must less than input rank{{.*}}>>,!corert.tensorhandle value,<<error: missing 'axis' attribute>>,<<error: missing 'type' attribute>>,<<error: each test.create_coo_tensor index must have the same size as shape attribute>>
func.func @wrong_operands() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %x = corert.const_dense_tensor dense<1.0> : tensor<2x2xf32>
  %v = corert.const_dense_tensor dense<1.0> : tensor<2xf32>
  %n = corert.const_dense_tensor dense<1> : tensor<2x2xi32>
  // expected-error @+1 {{missing 'values' attribute}}
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [2]} : 1
  // expected-error @+1 {{size of 'values' must either be 1 or match num of elements.}}
  %b = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [3], values = [1 : i32, 2 : i32]} : 1
  // expected-error @+1 {{incompatible dtypes for test.add}}
  %c = corert.executeop(%cpu) "tfrt_test.add"(%x, %n) : 1
  // expected-error @+1 {{argument 1 of matmul op is not a rank-2 tensor}}
  %d = corert.executeop(%cpu) "tfrt_test.matmul"(%x, %v) {transpose_a = false, transpose_b = false} : 1
  // expected-error @+1 {{axis must less than input rank}}
  %e = corert.executeop(%cpu) "tfrt_test.argmax"(%x) {axis = 2 : i32} : 1
  // expected-error @+1 {{expected a 1D tensor input}}
  %f = corert.executeop(%cpu) "tfrt_test.odd_collector"(%n) : 1
  // expected-error @+1 {{missing 'axis' attribute}}
  %g = corert.executeop(%cpu) "tfrt_test.reduce_mean"(%x) : 1
  // expected-error @+1 {{missing 'type' attribute}}
  %h = corert.executeop(%cpu) "tfrt_test.cast"(%x) : 1
  // expected-error @+1 {{each test.create_coo_tensor index must have the same size as shape attribute}}
  %i = corert.executeop(%cpu) "tfrt_test.create_coo_tensor"(%n, %v) {shape = [2]} : 1
  tfrt.return %a, %b, %c, %d, %e, %f, %g, %h, %i : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

// The type of a cast is also given by its name.
// CHECK-LABEL: --- Running 'cast_by_name'
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [
func.func @cast_by_name() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %n = corert.const_dense_tensor dense<1> : tensor<2xi32>
  %x = corert.executeop(%cpu) "tfrt_test.cast"(%n) {type = "f32"} : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%x)
  tfrt.return %ch1 : !tfrt.chain
}

// The first handler of a name stays.
// CHECK-LABEL: --- Running 'registered_twice'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 1]
func.func @registered_twice() -> !tfrt.chain {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %ch = corert.register_op_handler %null "cpu"
  %cpu = corert.get_op_handler %ch "cpu"
  %n = corert.const_dense_tensor dense<1> : tensor<2xi32>
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%n)
  tfrt.return %ch1 : !tfrt.chain
}
