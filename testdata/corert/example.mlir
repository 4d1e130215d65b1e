// The README's example.
//
// RUN: bef-exec %s 2>&1 | FileCheck %s

// CHECK: --- Running 'main':
// CHECK-NEXT: [0] dispatch 'tf.AddV2' 2 arguments, 1 result, no attributes
// CHECK-NEXT: Inputs for [0]: 'tf.AddV2':
// CHECK-NEXT:   Input for [0] tensor 0: DenseHostTensor dtype = i32, shape = [2], values = [1, 2]
// CHECK-NEXT:   Input for [0] tensor 1: DenseHostTensor dtype = i32, shape = [2], values = [1, 2]
// CHECK-EMPTY:
// CHECK-NEXT: 'main' returned DenseHostTensor dtype = i32, shape = [2], values = [2, 4]
func.func @main() -> !corert.tensorhandle {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  %log = "corert.create_logging_op_handler"(%cpu) {sync_log_results = 0 : i1} : (!corert.ophandler) -> !corert.ophandler
  %a = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %b = corert.executeop(%log) "tf.AddV2"(%a, %a) : 1
  tfrt.return %b : !corert.tensorhandle
}
