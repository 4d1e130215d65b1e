// Operators of the handler `cpu` that the other files do not use, and handlers with a number.
//
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor --test_init_function=register_handlers | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check --init-function register_handlers --tfrt-output --verify-diagnostics | FileCheck %s
// RUN: bef-exec %s --seed 5 --leak-check --init-function register_handlers --tfrt-output --verify-diagnostics | FileCheck %s

func.func @register_handlers() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %n = tfrt.constant.i32 0
  %cpu = "corert.create_cpu_op_handler_with_ordinal"(%null, %n) : (!corert.ophandler, i32) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'functions'
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [0.000000e+00, 6.931472e-01]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [6.931472e-01, 1.098612e+00]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [1.000000e+00, 7.071068e-01]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [7.310586e-01, 8.80797{{[01]}}e-01]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [7.615942e-01, 9.640276e-01]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 2], values = [2.689414e-01, 7.310586e-01]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 2], values = [-1.313262e+00, -3.132617e-01]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2, 1], values = [1.000000e+00, 2.000000e+00]
func.func @functions() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %x = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %m = corert.const_dense_tensor dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %turn = corert.const_dense_tensor dense<[1, 0]> : tensor<2xi32>
  %a = corert.executeop(%cpu) "tf.Log"(%x) : 1
  %b = corert.executeop(%cpu) "tf.Log1p"(%x) : 1
  %c = corert.executeop(%cpu) "tf.Rsqrt"(%x) : 1
  %d = corert.executeop(%cpu) "tf.Sigmoid"(%x) : 1
  %e = corert.executeop(%cpu) "tf.Tanh"(%x) : 1
  %f = corert.executeop(%cpu) "tf.Softmax"(%m) : 1
  %g = corert.executeop(%cpu) "tf.LogSoftmax"(%m) : 1
  %h = corert.executeop(%cpu) "tf.Transpose"(%m, %turn) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%a)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%b)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%c)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%d)
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print"(%e)
  %ch6 = corert.executeop.seq(%cpu, %ch5) "tfrt_test.print"(%f)
  %ch7 = corert.executeop.seq(%cpu, %ch6) "tfrt_test.print"(%g)
  %ch8 = corert.executeop.seq(%cpu, %ch7) "tfrt_test.print"(%h)
  tfrt.return %ch8 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'arithmetic'
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [2.500000e-01, 1.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [2.500000e-01, 1.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [4.000000e+00, 2.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [1.000000e+00, 2.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = i1, shape = [2], values = [{{0, 1|false, true}}]
// CHECK-NEXT: DenseHostTensor dtype = i1, shape = [2], values = [{{1, 0|true, false}}]
// CHECK-NEXT: DenseHostTensor dtype = i1, shape = [2], values = [{{0, 0|false, false}}]
// CHECK-NEXT: DenseHostTensor dtype = i1, shape = [2], values = [{{0, 1|false, true}}]
// CHECK-NEXT: DenseHostTensor dtype = i1, shape = [2], values = [{{1, 1|true, true}}]
func.func @arithmetic() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %x = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %y = corert.const_dense_tensor dense<[4.0, 2.0]> : tensor<2xf32>
  %a = corert.executeop(%cpu) "tf.RealDiv"(%x, %y) : 1
  %b = corert.executeop(%cpu) "tf.Div"(%x, %y) : 1
  %c = corert.executeop(%cpu) "tf.Maximum"(%x, %y) : 1
  %d = corert.executeop(%cpu) "tf.Minimum"(%x, %y) : 1
  %e = corert.executeop(%cpu) "tf.Equal"(%x, %y) : 1
  %f = corert.executeop(%cpu) "tf.NotEqual"(%x, %y) : 1
  %g = corert.executeop(%cpu) "tf.Greater"(%x, %y) : 1
  %h = corert.executeop(%cpu) "tf.GreaterEqual"(%x, %y) : 1
  %i = corert.executeop(%cpu) "tf.LessEqual"(%x, %y) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%a)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%b)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%c)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%d)
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print"(%e)
  %ch6 = corert.executeop.seq(%cpu, %ch5) "tfrt_test.print"(%f)
  %ch7 = corert.executeop.seq(%cpu, %ch6) "tfrt_test.print"(%g)
  %ch8 = corert.executeop.seq(%cpu, %ch7) "tfrt_test.print"(%h)
  %ch9 = corert.executeop.seq(%cpu, %ch8) "tfrt_test.print"(%i)
  tfrt.return %ch9 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tests'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [2, 4]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [2, 4]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [0.000000e+00, 2.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [1, 2, 1, 2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 2]
func.func @tests() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %n = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %x = corert.const_dense_tensor dense<[-1.0, 2.0]> : tensor<2xf32>
  %a = corert.executeop(%cpu) "tfrt_test.add.denseonly2"(%n, %n) : 1
  %b = corert.executeop(%cpu) "tfrt_test.add.denseonly3"(%n, %n) : 1
  %c = corert.executeop(%cpu) "tfrt_test.relu"(%x) : 1
  %d = corert.executeop(%cpu) "tfrt_test.broadcast"(%n) {shape = [2, 2]} : 1
  %e = corert.executeop(%cpu) "tfrt_test.identity"(%n) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%a)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%b)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%c)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%d)
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print"(%e)
  tfrt.return %ch5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'epilogues'
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 1], values = [6.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 1], values = [-8.646647e-01]
func.func @epilogues() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %x = corert.const_dense_tensor dense<2.0> : tensor<1x1xf32>
  %up = corert.const_dense_tensor dense<5.0> : tensor<1xf32>
  %down = corert.const_dense_tensor dense<-6.0> : tensor<1xf32>
  %a = corert.executeop(%cpu) "tf._FusedMatMul"(%x, %x, %up) {fused_ops = ["BiasAdd", "Relu6"], num_args = 1 : i64, transpose_a = false, transpose_b = false, epsilon = 0.0 : f32} : 1
  %b = corert.executeop(%cpu) "tf._FusedMatMul"(%x, %x, %down) {fused_ops = ["BiasAdd", "Elu"], num_args = 1 : i64, transpose_a = false, transpose_b = false, epsilon = 0.0 : f32} : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%a)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%b)
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'attributes'
// CHECK-NEXT: OpAttrs contains 1 entries:
// CHECK-NEXT:   'sizes' type=I64 value=[1, -2]
// CHECK-EMPTY:
func.func @attributes() -> !tfrt.chain {
  %a = "corert.create_op_attrs"() : () -> !corert.opattrs
  %ch = "corert.op_attrs_set_array.i64"(%a) {key = "sizes", value = [1 : i64, -2 : i64]} : (!corert.opattrs) -> !tfrt.chain
  %ch1 = "tfrt_test.corert.op_attrs_print"(%a, %ch) : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
