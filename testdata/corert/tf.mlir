// TensorFlow's operators by name.
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
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [
func.func @constants() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.executeop(%cpu) "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>, dtype = f32} : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%a)
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'elementwise'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [5, 8]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [-3, -4]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [4, 12]
// CHECK-NEXT: DenseHostTensor dtype = i1, shape = [2], values = [
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [0, 0]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [2]
func.func @elementwise() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %b = corert.const_dense_tensor dense<[4, 6]> : tensor<2xi32>
  %c = corert.executeop(%cpu) "tf.AddV2"(%a, %b) {T = i32} : 1
  %d = corert.executeop(%cpu) "tf.Sub"(%a, %b) : 1
  %e = corert.executeop(%cpu) "tf.Mul"(%a, %b) : 1
  %f = corert.executeop(%cpu) "tf.Less"(%a, %b) : 1
  %g = corert.executeop(%cpu) "tf.ZerosLike"(%a) : 1
  %h = corert.executeop(%cpu) "tf.Cast"(%a) {DstT = f32} : 1
  %i = corert.executeop(%cpu) "tf.Shape"(%a) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%c)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%d)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%e)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%f)
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print"(%g)
  %ch6 = corert.executeop.seq(%cpu, %ch5) "tfrt_test.print"(%h)
  %ch7 = corert.executeop.seq(%cpu, %ch6) "tfrt_test.print"(%i)
  tfrt.return %ch7 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'layers'
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2, 2], values = [
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2, 2], values = [
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2, 2], values = [
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [2], values = [
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 2, 2, 1], values = [
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 1, 1, 1], values = [
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [3, 4], values = [
func.func @layers() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.const_dense_tensor dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %bias = corert.const_dense_tensor dense<[0.5, -100.0]> : tensor<2xf32>
  %b = corert.executeop(%cpu) "tf.MatMul"(%a, %a) {transpose_a = false, transpose_b = true, T = f32} : 1
  %c = corert.executeop(%cpu) "tf.BiasAdd"(%b, %bias) {data_format = "NHWC"} : 1
  %d = corert.executeop(%cpu) "tf._FusedMatMul"(%a, %a, %bias) {fused_ops = ["BiasAdd", "Relu"], num_args = 1 : i64, transpose_a = false, transpose_b = false, epsilon = 0.0 : f32} : 1
  %axis = corert.const_dense_tensor dense<0> : tensor<1xi32>
  %e = corert.executeop(%cpu) "tf.Mean"(%a, %axis) {keep_dims = false} : 1
  %image = corert.const_dense_tensor dense<1.0> : tensor<1x3x3x1xf32>
  %filter = corert.const_dense_tensor dense<1.0> : tensor<2x2x1x1xf32>
  %f = corert.executeop(%cpu) "tf.Conv2D"(%image, %filter) {strides = [1, 1, 1, 1], padding = "VALID", data_format = "NHWC"} : 1
  %g = corert.executeop(%cpu) "tf.MaxPool"(%f) {ksize = [1, 2, 2, 1], strides = [1, 1, 1, 1], padding = "VALID", data_format = "NHWC"} : 1
  %pads = corert.const_dense_tensor dense<[[0, 1], [1, 1]]> : tensor<2x2xi32>
  %h = corert.executeop(%cpu) "tf.Pad"(%a, %pads) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%b)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%c)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%d)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%e)
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print"(%f)
  %ch6 = corert.executeop.seq(%cpu, %ch5) "tfrt_test.print"(%g)
  %ch7 = corert.executeop.seq(%cpu, %ch6) "tfrt_test.print"(%h)
  tfrt.return %ch7 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'movement'
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [4], values = [1, 2, 1, 2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1, 2], values = [1, 2]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [4], values = [1, 2, 1, 2]
// CHECK-NEXT: StringHostTensor shape = [4], values = ["a", "b", "a", "b"]
// CHECK-NEXT: StringHostTensor shape = [2, 1], values = ["a", "b"]
func.func @movement() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %a = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %s = corert.const_string_tensor {shape = [2], value = ["a", "b"]}
  %n = corert.const_dense_tensor dense<[2]> : tensor<1xi32>
  %zero = corert.const_dense_tensor dense<0> : tensor<i32>
  %one = corert.const_dense_tensor dense<1> : tensor<i32>
  %b = corert.executeop(%cpu) "tf.Tile"(%a, %n) : 1
  %c = corert.executeop(%cpu) "tf.ExpandDims"(%a, %zero) : 1
  %d = corert.executeop(%cpu) "tf.ConcatV2"(%a, %a, %zero) {N = 2 : i64} : 1
  %e = corert.executeop(%cpu) "tf.Tile"(%s, %n) : 1
  %f = corert.executeop(%cpu) "tf.ExpandDims"(%s, %one) : 1
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%b)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%c)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%d)
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%e)
  %ch5 = corert.executeop.seq(%cpu, %ch4) "tfrt_test.print"(%f)
  tfrt.return %ch5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'several_results'
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 1, 1, 2], values = [
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [1]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1], values = [2]
func.func @several_results() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %x = corert.const_dense_tensor dense<1.0> : tensor<1x1x1x2xf32>
  %v = corert.const_dense_tensor dense<0.5> : tensor<2xf32>
  %r:6 = corert.executeop(%cpu) "tf.FusedBatchNormV3"(%x, %v, %v, %v, %v) {epsilon = 0.001 : f32, data_format = "NHWC", is_training = false} : 6
  %a = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %zero = corert.const_dense_tensor dense<0> : tensor<i32>
  %s:2 = corert.executeop(%cpu) "tf.Split"(%zero, %a) {num_split = 2 : i64} : 2
  %ch1 = corert.executeop.seq(%cpu, %ch) "tfrt_test.print"(%r#0)
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%s#0)
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%s#1)
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'refused'
// CHECK-NEXT: 'refused' returned <<error: invalid data format. Currently only support NHWC>>,<<error: {{.*}}[2]{{.*}}[3]{{.*}}>>,<<error: {{.*}}gives 1 results, used with 2>>,<<error: {{.*}}'value'{{.*}}>>,<<error: matmul arguments have incompatible shapes: In[0]: [2, 3], In[1]: [2, 3]{{.*}}>>,<<error: incompatible dtypes for binary operation{{.*}}>>
func.func @refused() -> (!corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %ch = tfrt.new.chain
  %cpu = corert.get_op_handler %ch "cpu"
  %x = corert.const_dense_tensor dense<1.0> : tensor<1x2x1x1xf32>
  %a = corert.const_dense_tensor dense<1.0> : tensor<2xf32>
  %b = corert.const_dense_tensor dense<1.0> : tensor<3xf32>
  %m = corert.const_dense_tensor dense<1.0> : tensor<2x3xf32>
  %n = corert.const_dense_tensor dense<1> : tensor<2xi32>
  // expected-error @+1 {{invalid data format. Currently only support NHWC}}
  %r = corert.executeop(%cpu) "tf.BiasAdd"(%x, %a) {data_format = "NCHW"} : 1
  // expected-error @+1 {{[3]}}
  %s = corert.executeop(%cpu) "tf.AddV2"(%a, %b) : 1
  // expected-error @+1 {{gives 1 results, used with 2}}
  %t:2 = corert.executeop(%cpu) "tf.Relu"(%a) : 2
  // expected-error @+1 {{'value'}}
  %u = corert.executeop(%cpu) "tf.Const"() : 1
  // expected-error @+1 {{matmul arguments have incompatible shapes}}
  %v = corert.executeop(%cpu) "tf.MatMul"(%m, %m) {transpose_a = false, transpose_b = false} : 1
  // expected-error @+1 {{incompatible dtypes for binary operation}}
  %w = corert.executeop(%cpu) "tf.Mul"(%a, %n) : 1
  tfrt.return %r, %s, %t#1, %u, %v, %w : !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}
