// Kernels of several devices in one function: on the queue of the caller, on queues of their own, in memories of
// their own.

// RUN: ir-translate %s -O0 --devices CPU:2,SIM:1 -o %t.bef
// RUN: bef-exec %t.bef --leak-check --work-queue s --devices CPU:2,SIM:1 | FileCheck %s
// RUN: bef-exec %t.bef --leak-check --work-queue mstd:2 --devices 'CPU:2{threads=1},SIM:1{streams=2}' | FileCheck %s
// RUN: bef-exec %t.bef --leak-check --seed 3 --devices 'CPU:2,SIM:1{link=1us/10GB,speed=0.5}' | FileCheck %s
// RUN: not bef-exec %t.bef --work-queue s --devices CPU:2 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not bef-exec %t.bef --work-queue s --devices CPU:1,GPU:1 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not bef-exec %t.bef --work-queue s --devices 'CPU:2,SIM:1{threads=2}' 2>&1 | FileCheck %s --check-prefix=PROPERTY
// RUN: bef-exec %t.bef --work-queue s --devices 'CPU:2,SIM:1{fail-after=1}' 2>&1 | FileCheck %s --check-prefix=FAULT

// MISSING: 'tf.Square' is placed on device '/job:localhost/replica:0/task:0/device:SIM:0', which this runtime does not have; the file uses
// MISSING-SAME: there are /job:localhost/replica:0/task:0/device:CPU:0, /job:localhost/replica:0/task:0/device:CPU:1
// KIND: there are no devices of kind GPU; there are: SIM, CPU
// PROPERTY: cannot make /job:localhost/replica:0/task:0/device:SIM:0: a SIM has streams: give `streams=N`, not threads
// FAULT: error: /job:localhost/replica:0/task:0/device:SIM:0: launch 1 faulted

// CHECK: 'main' returned array([{{ *}}-2.,{{ *}}8.,{{ *}}-18.]
func.func @main() -> tensor<3xf32> {
  %x = "tf.Const"() <{value = dense<[1.0, -2.0, 3.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %square = "tf.Square"(%x) {device = "/device:SIM:0"} : (tensor<3xf32>) -> tensor<3xf32>
  %sign = "tf.Sign"(%x) {device = "/device:CPU:1"} : (tensor<3xf32>) -> tensor<3xf32>
  %product = "tf.Mul"(%square, %sign) {device = "/device:CPU:1"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %minus = "tf.Neg"(%product) {device = "/device:CPU:0"} : (tensor<3xf32>) -> tensor<3xf32>
  %result = "tf.Add"(%minus, %minus) {device = "/device:CPU:0"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  tfrt.return %result : tensor<3xf32>
}
