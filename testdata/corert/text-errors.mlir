// RUN: ir-opt %s --split-input-file --verify-diagnostics

func.func @operand(%cpu: !corert.ophandler) {
  // expected-note @+1 {{prior use here}}
  %x = tfrt.constant.i32 1
  // expected-error @+1 {{expects different type than prior uses: '!corert.tensorhandle' vs 'i32'}}
  %y = corert.executeop(%cpu) "tf.x"(%x) : 1
  tfrt.return
}

// -----

func.func @no_pair(%cpu: !corert.ophandler) {
  // expected-error @+1 {{'corert.executeop' op each op_attr should be a key-value pair, where the key is a string}}
  "corert.executeop"(%cpu) {op_attrs = [0 : i32], op_func_attrs = [], op_name = "tf.x"} : (!corert.ophandler) -> ()
  tfrt.return
}

// -----

func.func @no_name(%cpu: !corert.ophandler, %ch: !tfrt.chain) {
  // expected-error @+1 {{'corert.executeop.seq' op each op_attr should be a key-value pair, where the key is a string}}
  %ch1 = "corert.executeop.seq"(%cpu, %ch) {op_attrs = [[1 : i32, 2 : i32]], op_func_attrs = [], op_name = "tf.x"} : (!corert.ophandler, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// -----

func.func @no_function_pair(%cpu: !corert.ophandler) {
  // expected-error @+1 {{'corert.executeop' op each op_func_attr should be a key-value pair, where the key is a string}}
  "corert.executeop"(%cpu) {op_attrs = [], op_func_attrs = [["a"]], op_name = "tf.x"} : (!corert.ophandler) -> ()
  tfrt.return
}

// -----

func.func @count(%cpu: !corert.ophandler) {
  // expected-error @+1 {{expected a number of results up to 65536}}
  %x = corert.executeop(%cpu) "tf.x"() : 99999999999
  tfrt.return
}

// -----

func.func @no_count(%cpu: !corert.ophandler) {
  // expected-error @+1 {{expected the number of results}}
  %x = corert.executeop(%cpu) "tf.x"() : i32
  tfrt.return
}

// -----

func.func @handler(%ch: !tfrt.chain) {
  // expected-error @+1 {{'corert.register_op_handler' op operand #0 must be !corert.ophandler type, but got '!tfrt.chain'}}
  %x = "corert.register_op_handler"(%ch) {op_handler_name = "cpu"} : (!tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// -----

func.func @result(%cpu: !corert.ophandler) {
  // expected-error @+1 {{'corert.executeop' op result #0 must be variadic of !corert.tensorhandle type, but got 'i32'}}
  %x = "corert.executeop"(%cpu) {op_attrs = [], op_func_attrs = [], op_name = "tf.x"} : (!corert.ophandler) -> i32
  tfrt.return
}
