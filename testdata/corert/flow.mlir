// Conditions, loops and composite ops.
//
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --test_init_function=register_handlers | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor -work_queue_type=mstd:4 --test_init_function=register_handlers | FileCheck %s
// RUN: bef-exec %s --seed 3 --leak-check --init-function register_handlers --tfrt-output --verify-diagnostics | FileCheck %s

func.func @register_handlers() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

func.func @twice(%ch: !tfrt.chain, %a: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  %b = corert.executeop(%cpu) "tfrt_test.add"(%a, %a) : 1
  tfrt.return %ch, %b : !tfrt.chain, !corert.tensorhandle
}

func.func @same(%ch: !tfrt.chain, %a: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  tfrt.return %ch, %a : !tfrt.chain, !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'conditions'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [1]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [1]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [2]
func.func @conditions() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [1], values = [1 : i32]} : 1
  %zero = corert.const_dense_tensor dense<0.0> : tensor<f32>
  %some = corert.const_string_tensor {shape = [], value = ["x"]}
  %none = corert.const_string_tensor {shape = [], value = [""]}
  %later = corert.executeop(%cpu) "tfrt_test.async.noop"(%a) : 1
  %ch1, %b = corert.cond %a @twice @same (%ch, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %ch2, %c = corert.cond %zero @twice @same (%ch1, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %ch3, %d = corert.cond %some @twice @same (%ch2, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %ch4, %e = corert.cond %none @twice @same (%ch3, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %ch5, %f = corert.cond %later @twice @same (%ch4, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %ch6 = "corert.print_tensorhandle"(%b, %ch5) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch7 = "corert.print_tensorhandle"(%c, %ch6) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch8 = "corert.print_tensorhandle"(%d, %ch7) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch9 = "corert.print_tensorhandle"(%e, %ch8) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch10 = "corert.print_tensorhandle"(%f, %ch9) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch10 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_predicate'
// CHECK-NEXT: 'wrong_predicate' returned <<error: tensor predicate does not support type>>
func.func @wrong_predicate() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %i = corert.const_dense_tensor dense<[[0]]> : tensor<1x1xi64>
  %v = corert.const_dense_tensor dense<[7]> : tensor<1xi32>
  %h = corert.executeop(%cpu) "tfrt_test.create_coo_tensor"(%i, %v) {shape = [1]} : 1
  // expected-error @+1 {{tensor predicate does not support type}}
  %ch1, %b = corert.cond %h @twice @same (%ch, %v) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'failed_predicate'
// CHECK-NEXT: 'failed_predicate' returned <<error: error from test.error.tensor implementation>>
func.func @failed_predicate() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.const_dense_tensor dense<7> : tensor<i32>
  // expected-error @+1 {{error from test.error.tensor implementation}}
  %p = corert.executeop(%cpu) "tfrt_test.error.tensor"(%a) : 1
  %ch1, %b = corert.cond %p @twice @same (%ch, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  tfrt.return %ch1 : !tfrt.chain
}

func.func @is_small(%ch: !tfrt.chain, %a: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  %limit = corert.const_dense_tensor dense<9> : tensor<i32>
  %b = corert.executeop(%cpu) "tf.Less"(%a, %limit) : 1
  %c = corert.executeop(%cpu) "tfrt_test.async.noop"(%b) : 1
  tfrt.return %ch, %c : !tfrt.chain, !corert.tensorhandle
}

func.func @plus_two(%ch: !tfrt.chain, %a: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  %two = corert.const_dense_tensor dense<2> : tensor<i32>
  %b = corert.executeop(%cpu) "tf.AddV2"(%a, %two) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%b)
  tfrt.return %ch1, %b : !tfrt.chain, !corert.tensorhandle
}

func.func @fails(%ch: !tfrt.chain, %a: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  // expected-error @+1 {{error from test.error.tensor implementation}}
  %b = corert.executeop(%cpu) "tfrt_test.error.tensor"(%a) : 1
  tfrt.return %ch, %b : !tfrt.chain, !corert.tensorhandle
}

func.func @fails_too(%ch: !tfrt.chain, %a: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  %cpu = corert.get_op_handler %ch "cpu"
  // expected-error @+1 {{error from test.error.tensor implementation}}
  %b = corert.executeop(%cpu) "tfrt_test.error.tensor"(%a) : 1
  tfrt.return %ch, %b : !tfrt.chain, !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'loops'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [], values = [7]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [], values = [9]
// CHECK-NEXT: 'loops' returned 9,!tfrt.chain value
func.func @loops() -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = corert.const_dense_tensor dense<5> : tensor<i32>
  %ch1, %b = corert.while @is_small @plus_two (%ch, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %x = corert.tensorhandle_to_int32 %b
  tfrt.return %x, %ch1 : i32, !tfrt.chain
}

// CHECK-LABEL: --- Running 'no_turn'
// CHECK-NEXT: 'no_turn' returned 50
func.func @no_turn() -> i32 {
  %ch = tfrt.new.chain
  %a = corert.const_dense_tensor dense<50> : tensor<i32>
  %ch1, %b = corert.while @is_small @plus_two (%ch, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %x = corert.tensorhandle_to_int32 %b
  tfrt.return %x : i32
}

// CHECK-LABEL: --- Running 'failed_loop'
// CHECK-NEXT: 'failed_loop' returned <<error: error from test.error.tensor implementation>>
func.func @failed_loop() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = corert.const_dense_tensor dense<5> : tensor<i32>
  %ch1, %b = corert.while @fails @plus_two (%ch, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'composite'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [4]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [4]
// CHECK-NEXT: Error TensorHandle: 'error from test.error.tensor implementation'
// CHECK-NEXT: 'composite' returned !tfrt.chain value
func.func @composite() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() {shape = [1], values = [1 : i32]} : 1
  %op = "corert.make_composite_op"() {fn = @twice} : () -> !corert.op
  %b = "corert.execute_crt_op"(%op, %a) {op_attrs = [], op_func_attrs = []} : (!corert.op, !corert.tensorhandle) -> !corert.tensorhandle
  %c = "corert.execute_crt_op"(%op, %b) {op_attrs = [], op_func_attrs = []} : (!corert.op, !corert.tensorhandle) -> !corert.tensorhandle
  %d = corert.executeop(%cpu) "tfrt_test.add"(%b, %b) : 1
  %bad = "corert.make_composite_op"() {fn = @fails_too} : () -> !corert.op
  %e = "corert.execute_crt_op"(%bad, %b) {op_attrs = [], op_func_attrs = []} : (!corert.op, !corert.tensorhandle) -> !corert.tensorhandle
  %ch1 = "corert.print_tensorhandle"(%b, %ch) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%c, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%d, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch4 = "corert.print_tensorhandle"(%e, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'no_composite'
// CHECK-NEXT: 'no_composite' returned <<error: {{.*}}should only takes type [!corert.tensorhandle] as input{{.*}}>>,<<error: {{.*}}should only returns type [!corert.tensorhandle]{{.*}}>>
func.func @no_composite() -> (!corert.op, !corert.op) {
  // expected-error @+1 {{The function should only takes type [!corert.tensorhandle] as input. But the 0-th argument is type [i32].}}
  %a = "corert.make_composite_op"() {fn = @takes_number} : () -> !corert.op
  // expected-error @+1 {{The function should only returns type [!corert.tensorhandle]. But the 0-th results is type [i32].}}
  %b = "corert.make_composite_op"() {fn = @gives_number} : () -> !corert.op
  tfrt.return %a, %b : !corert.op, !corert.op
}

func.func @takes_number(%ch: !tfrt.chain, %a: i32) -> !tfrt.chain {
  tfrt.return %ch : !tfrt.chain
}

func.func @gives_number(%ch: !tfrt.chain) -> (!tfrt.chain, i32) {
  %a = tfrt.constant.i32 1
  tfrt.return %ch, %a : !tfrt.chain, i32
}
