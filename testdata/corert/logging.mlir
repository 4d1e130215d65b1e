// The handler that reports what it passes on.
//
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor 2>&1 | FileCheck %s
// RUN: rm -rf %t && mkdir -p %t
// RUN: tfrt_translate -mlir-to-bef %s | env LOGGING_DEV_METADATA_DUMP_PREFIX=%t/ LOGGING_DEV_TENSOR_DUMP_PREFIX=%t/ bef_executor --functions=sync
// RUN: cat %t/metadata.log | FileCheck %s --check-prefix=FILE
// RUN: cat %t/op_0_tfrt_test.create_dense_tensor_output_0 | FileCheck %s --check-prefix=TENSOR
// RUN: tfrt_translate -mlir-to-bef %s | env LOGGING_DEV_METADATA_DUMP_PREFIX=%t/ LOGGING_DEV_TENSOR_DUMP_PREFIX=%t/s_ bef_executor --functions=converted
// RUN: cat %t/s_op_2_tf.Identity_input_0 | FileCheck %s --check-prefix=STRINGS
// RUN: cat %t/op_1_tfrt_test.odd_collector_input_0 | FileCheck %s --check-prefix=TENSOR

// TENSOR: 1, 2, 3
// STRINGS: a, b

// CHECK-LABEL: --- Running 'plain'
// CHECK-NEXT: [0] dispatch 'tfrt_test.create_dense_tensor' 0 arguments, 1 result, OpAttrs contains 2 entries:
// CHECK-NEXT:   'shape' type=I64 value=[3]
// CHECK-NEXT:   'values' type=I32 value=[1, 2, 3]
// CHECK-EMPTY:
// CHECK-NEXT: Inputs for [0]: 'tfrt_test.create_dense_tensor':
// CHECK-EMPTY:
// CHECK-NEXT: [1] dispatch 'tfrt_test.odd_collector' 1 argument, 1 result, no attributes
// CHECK-NEXT: Inputs for [1]: 'tfrt_test.odd_collector':
// CHECK-NEXT:   Input for [1] tensor 0: DenseHostTensor dtype = i32, shape = [3], values = [1, 2, 3]
// CHECK-EMPTY:
// CHECK-NEXT: 'plain' returned
func.func @plain() -> !corert.tensorhandle {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %log = "corert.create_logging_op_handler"(%cpu) {sync_log_results = 0 : i1} : (!corert.ophandler) -> !corert.ophandler
  %a = corert.executeop(%log) "tfrt_test.create_dense_tensor"() {shape = [3], values = [1 : i32, 2 : i32, 3 : i32]} : 1
  %b = corert.executeop(%log) "tfrt_test.odd_collector"(%a) : 1
  tfrt.return %b : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'sync'
// CHECK-NEXT: [0] dispatch 'tfrt_test.create_dense_tensor' 0 arguments, 1 result, OpAttrs contains 2 entries:
// FILE: [0] dispatch 'tfrt_test.create_dense_tensor' 0 arguments, 1 result, OpAttrs contains 2 entries:
// FILE: Outputs for [1]: 'tfrt_test.odd_collector':
// CHECK: Outputs for [0]: 'tfrt_test.create_dense_tensor':
// CHECK-NEXT:   Output for [0] tensor 0: DenseHostTensor dtype = i32, shape = [3], values = [1, 2, 3]
// CHECK-EMPTY:
// CHECK-NEXT: [1] dispatch 'tfrt_test.odd_collector' 1 argument, 1 result, no attributes
// CHECK: Outputs for [1]: 'tfrt_test.odd_collector':
// CHECK-NEXT:   Output for [1] tensor 0: DenseHostTensor dtype = i32, shape = [2], values = [1, 3]
func.func @sync() -> !corert.tensorhandle {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %log = "corert.create_logging_op_handler"(%cpu) {sync_log_results = 1 : i1} : (!corert.ophandler) -> !corert.ophandler
  %a = corert.executeop(%log) "tfrt_test.create_dense_tensor"() {shape = [3], values = [1 : i32, 2 : i32, 3 : i32]} : 1
  %b = corert.executeop(%log) "tfrt_test.odd_collector"(%a) : 1
  tfrt.return %b : !corert.tensorhandle
}

// What is reported is dense, if it is not strings; an op without results has no report of them.
// CHECK-LABEL: --- Running 'converted'
// CHECK: Outputs for [0]: 'tfrt_test.create_from_scalar':
// CHECK-NEXT:   Output for [0] tensor 0: DenseHostTensor dtype = i32, shape = [2], values = [1, 1]
// CHECK-EMPTY:
// CHECK-NEXT: [1] dispatch 'tfrt_test.print' 1 argument, 0 results, no attributes
// CHECK-NEXT: Inputs for [1]: 'tfrt_test.print':
// CHECK-NEXT:   Input for [1] tensor 0: DenseHostTensor dtype = i32, shape = [2], values = [1, 1]
// CHECK-EMPTY:
// CHECK-NEXT: ScalarHostTensor dtype = i32, shape = [2], value = 1
// CHECK-NEXT: [2] dispatch 'tf.Identity' 1 argument, 1 result, no attributes
// CHECK-NEXT: Inputs for [2]: 'tf.Identity':
// CHECK-NEXT:   Input for [2] tensor 0: StringHostTensor shape = [2], values = ["a", "b"]
func.func @converted() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %log = "corert.create_logging_op_handler"(%cpu) {sync_log_results = 1 : i1} : (!corert.ophandler) -> !corert.ophandler
  %a = corert.executeop(%log) "tfrt_test.create_from_scalar"() {shape = [2], value = 1 : i32} : 1
  %ch1 = corert.executeop.seq(%log, %ch) "tfrt_test.print"(%a)
  %s = corert.const_string_tensor {shape = [2], value = ["a", "b"]}
  %ch2, %t = corert.executeop.seq(%log, %ch1) "tf.Identity"(%s) : 1
  tfrt.return %ch2 : !tfrt.chain
}
