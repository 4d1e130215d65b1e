// RUN: ir-opt %s --tf-plan-memory | FileCheck %s
// RUN: ir-opt %s --print-memory-plan 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: ir-opt %s --tf-plan-memory | ir-translate -O0 --mlir-to-bef -o %t.bef && bef-exec %t.bef --functions main | FileCheck %s --check-prefix=EXEC
// RUN: ir-opt %s --tf-plan-memory | ir-translate -O0 --mlir-to-bef -o %t.bef && bef-exec %t.bef --functions main --work-queue mstd:4 | FileCheck %s --check-prefix=EXEC

// Results with an unknown number of rows lie in an arena of so many times its size, fixed ones in their own.
// CHECK-LABEL: func.func private @rows
// CHECK: %[[FIXED:.*]] = cpu.arena {bytes = 4160 : i64}
// CHECK-NEXT: %[[SCALED:.*]] = "cpu.scaled_arena"(%arg0) <{axes = [0], bytes = 8320 : i64}> : (tensor<?x1024xf32>) -> !cpu.arena
// CHECK: "tf.Transpose"({{.*}}, %[[FIXED]]) <{memory = [0, 0, 4160]}>
// CHECK: "tf.ReverseV2"({{.*}}, %[[SCALED]]) <{memory = [0, 0, 4160]}>
// CHECK-NEXT: "tf.Relu"({{.*}}) <{memory = [1]}>
// CHECK-NEXT: "tf.ReverseV2"({{.*}}, %[[SCALED]]) <{memory = [0, 4160, 4160]}>
// PLAN: memory of @rows
// PLAN: peak 4160 bytes
// PLAN: memory of @rows, times dimension 0 of argument 0
// PLAN: peak 8320 bytes, lower bound 8320 (1.000), sum 8320; 2 places, 1 in place, 0 edges added
func.func private @rows(%x: tensor<?x1024xf32>, %w: tensor<32x32xf32>) -> (tensor<?xf32>, tensor<32xf32>) {
  %last = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %turn = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %t = "tf.Transpose"(%w, %turn) : (tensor<32x32xf32>, tensor<2xi32>) -> tensor<32x32xf32>
  %u = "tf.Sum"(%t, %last) : (tensor<32x32xf32>, tensor<1xi32>) -> tensor<32xf32>
  %a = "tf.ReverseV2"(%x, %last) : (tensor<?x1024xf32>, tensor<1xi32>) -> tensor<?x1024xf32>
  %b = "tf.Relu"(%a) : (tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %c = "tf.ReverseV2"(%b, %last) : (tensor<?x1024xf32>, tensor<1xi32>) -> tensor<?x1024xf32>
  %y = "tf.Sum"(%c, %last) : (tensor<?x1024xf32>, tensor<1xi32>) -> tensor<?xf32>
  tfrt.return %y, %u : tensor<?xf32>, tensor<32xf32>
}

// The size is that of each call.
// EXEC-LABEL: --- Running 'main'
// EXEC: 'main' returned
// EXEC-SAME: array([2048.], shape=(1,)
// EXEC-SAME: array([2048., 2048., 2048.], shape=(3,)
// EXEC-SAME: array([], shape=(0,)
// EXEC-SAME: array([2048.], shape=(1,)
func.func @main() -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %w = "tf.Const"() {value = dense<1.0> : tensor<32x32xf32>} : () -> tensor<32x32xf32>
  %one = "tf.Const"() {value = dense<2.0> : tensor<1x1024xf32>} : () -> tensor<1x1024xf32>
  %three = "tf.Const"() {value = dense<2.0> : tensor<3x1024xf32>} : () -> tensor<3x1024xf32>
  %none = "tf.Const"() {value = dense<> : tensor<0x1024xf32>} : () -> tensor<0x1024xf32>
  %a:2 = tfrt.call @rows(%one, %w) : (tensor<1x1024xf32>, tensor<32x32xf32>) -> (tensor<?xf32>, tensor<32xf32>)
  %b:2 = tfrt.call @rows(%three, %w) : (tensor<3x1024xf32>, tensor<32x32xf32>) -> (tensor<?xf32>, tensor<32xf32>)
  %c:2 = tfrt.call @rows(%none, %w) : (tensor<0x1024xf32>, tensor<32x32xf32>) -> (tensor<?xf32>, tensor<32xf32>)
  %d:2 = tfrt.call @rows(%one, %w) : (tensor<1x1024xf32>, tensor<32x32xf32>) -> (tensor<?xf32>, tensor<32xf32>)
  tfrt.return %a#0, %b#0, %c#0, %d#0 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
