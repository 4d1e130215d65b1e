// Results that are computed again where they are read late, so that less memory is needed.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-rematerialize{max-bytes=49344})' 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t.err
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-rematerialize{max-bytes=49344},print-memory-plan)' 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not ir-opt %s --pass-pipeline='builtin.module(tf-rematerialize{max-bytes=40000})' 2>&1 | FileCheck %s --check-prefix=LEAST
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-rematerialize{max-bytes=0})' | FileCheck %s --check-prefix=ALL
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-rematerialize{max-bytes=49344},tf-plan-memory)' 2>/dev/null | ir-translate -O0 --mlir-to-bef -o %t.bef
// RUN: bef-exec %s -O0 --functions main --output %t.npy
// RUN: bef-exec %t.bef --functions main --expect %t.npy --rtol 0 --atol 0
// RUN: bef-exec %t.bef --functions main --expect %t.npy --rtol 0 --atol 0 --work-queue mstd:2
// RUN: bef-exec %s --functions main --max-bytes 60000 --expect %t.npy --rtol 1e-5
// RUN: bef-exec %s -O0 --functions views --output %t.npy
// RUN: bef-exec %t.bef --functions views --expect %t.npy --rtol 0 --atol 0 --work-queue mstd:2
// RUN: not bef-exec %s -O1 --functions main --max-bytes 60000 2>&1 | FileCheck %s --check-prefix=LEVEL

// LEVEL: E0908{{.*}}--max-bytes needs a graph of operators at -O2

// Between its first and its last reader %a is not kept; what it is made of is a constant.
// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = "tf.Exp"(%[[X:.*]]) :
// CHECK-NEXT:    "tf.MatMul"(%[[A]], %[[X]])
// CHECK-NEXT:    "tf.MatMul"
// CHECK-NEXT:    %[[C:.*]] = "tf.MatMul"
// CHECK-NEXT:    %[[AGAIN:.*]] = "tf.Exp"(%[[X]]) :
// CHECK-NEXT:    "tf.Mul"(%[[C]], %[[AGAIN]])
// SAID: remark[E0913]: the results of @main take 49344 bytes at once instead of 65792: 1 ops are computed again, {{.*}} % more work
// PLAN: memory of @main
// PLAN: peak 49344 bytes, lower bound 49344
// LEAST: error[E0908]: the results of @main take 49344 bytes at once at least, of 40000 allowed
// ALL-LABEL: func.func @main
// ALL:         "tf.Exp"
// ALL-NOT:     "tf.Exp"
// ALL:         return
func.func @main() -> tensor<64x64xf32> {
  %x = "tf.Const"() {value = dense<0.015625> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %a = "tf.Exp"(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = "tf.MatMul"(%a, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = "tf.MatMul"(%p, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = "tf.MatMul"(%q, %p) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = "tf.Mul"(%r, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = "tf.MatMul"(%s, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tfrt.return %t : tensor<64x64xf32>
}

// A view that is read late is made of the new result; %b is made again too, since %a is.
// CHECK-LABEL: func.func @views
// CHECK:         %[[B:.*]] = "tf.Neg"
// CHECK-NEXT:    %[[A:.*]] = "tf.Exp"(%[[B]]) :
// CHECK-NEXT:    "tf.Reshape"(%[[A]]
// CHECK:         "tf.MatMul"
// CHECK:         "tf.MatMul"
// CHECK:         "tf.MatMul"
// CHECK:         %[[B2:.*]] = "tf.Neg"
// CHECK:         %[[A2:.*]] = "tf.Exp"(%[[B2]]) :
// CHECK:         %[[V2:.*]] = "tf.Reshape"(%[[A2]]
// CHECK:         "tf.Mul"(%{{.*}}, %[[V2]])
// CHECK:         "tf.MatMul"(%{{.*}}, %[[A2]])
func.func @views() -> tensor<64x64xf32> {
  %x = "tf.Const"() {value = dense<0.015625> : tensor<64x64xf32>} : () -> tensor<64x64xf32>
  %flat = "tf.Const"() {value = dense<[4096]> : tensor<1xi32>} : () -> tensor<1xi32>
  %square = "tf.Const"() {value = dense<[64, 64]> : tensor<2xi32>} : () -> tensor<2xi32>
  %b = "tf.Neg"(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = "tf.Exp"(%b) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %v = "tf.Reshape"(%a, %flat) : (tensor<64x64xf32>, tensor<1xi32>) -> tensor<4096xf32>
  %p = "tf.MatMul"(%a, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = "tf.MatMul"(%p, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = "tf.MatMul"(%q, %p) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %w = "tf.Reshape"(%r, %flat) : (tensor<64x64xf32>, tensor<1xi32>) -> tensor<4096xf32>
  %s = "tf.Mul"(%w, %v) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  %t = "tf.Reshape"(%s, %square) : (tensor<4096xf32>, tensor<2xi32>) -> tensor<64x64xf32>
  %u = "tf.MatMul"(%t, %a) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tfrt.return %u : tensor<64x64xf32>
}
