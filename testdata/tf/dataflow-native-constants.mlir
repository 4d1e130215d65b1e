// Natively, a loop's function is optimized like any other: the weights that an Enter passes into the loop are
// constants of it, and packed.
//
// RUN: ir-translate %s --no-functionalize -O2 -o %t.bef && ir-translate %t.bef | FileCheck %s
// RUN: bef-exec %s --no-functionalize -O2 --work-queue s 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s --no-functionalize -O0 --seed 3 2>&1 | FileCheck %s --check-prefix=EXEC

// CHECK-LABEL: func.func private @power_loop
// CHECK-SAME: (%{{.*}}: i32, %{{.*}}: tensor<1x8xf32>, %{{.*}}: tensor<1x8xf32>)
// CHECK: "tf._PackedMatMul"
// A constant enters, so that the loop runs in any case.
// CHECK-LABEL: func.func @power
// CHECK-NOT: tf._IsLive
// CHECK: tfrt.while
// EXEC-LABEL: 'power' returned
// EXEC-NEXT: array({{\[}}[16., 16., 16., 16., 16., 16., 16., 16.]]
func.func @power() -> tensor<1x8xf32> {
  %r = tf_executor.graph -> tensor<1x8xf32> {
    %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %x = "tf.Const"() {value = dense<1.0> : tensor<1x8xf32>} : () -> tensor<1x8xf32>
    %w = "tf.Const"() {value = dense<0.25> : tensor<8x8xf32>} : () -> tensor<8x8xf32>
    %four = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %ei = tf_executor.Enter %zero frame "loop" : (tensor<i32>) -> tensor<i32>
    %ex = tf_executor.Enter %x frame "loop" : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %ew = tf_executor.Enter %w frame "loop" constant true : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %en = tf_executor.Enter %four frame "loop" constant true : (tensor<i32>) -> tensor<i32>
    %ni, %ti = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
    %nx, %tx = tf_executor.NextIteration.Source : () -> (tensor<1x8xf32>, !tf_executor.token)
    %i, %from = tf_executor.Merge %ei, %ni : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %v, %from2 = tf_executor.Merge %ex, %nx : (tensor<1x8xf32>, tensor<1x8xf32>) -> (tensor<1x8xf32>, tensor<i32>)
    %less = "tf.Less"(%i, %en) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
    %di, %gi = tf_executor.Switch %i, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
    %dv, %gv = tf_executor.Switch %v, %c : (tensor<1x8xf32>, tensor<i1>) -> (tensor<1x8xf32>, tensor<1x8xf32>)
    %one = "tf.OnesLike"(%gi) : (tensor<i32>) -> tensor<i32>
    %next = "tf.AddV2"(%gi, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %product = "tf.MatMul"(%gv, %ew) : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    tf_executor.NextIteration.Sink %ti, %next : (!tf_executor.token, tensor<i32>) -> ()
    tf_executor.NextIteration.Sink %tx, %product : (!tf_executor.token, tensor<1x8xf32>) -> ()
    %out = tf_executor.Exit %dv : (tensor<1x8xf32>) -> tensor<1x8xf32>
    tf_executor.fetch %out : tensor<1x8xf32>
  }
  func.return %r : tensor<1x8xf32>
}
