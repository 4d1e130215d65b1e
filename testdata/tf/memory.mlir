// RUN: ir-opt %s --tf-plan-memory | FileCheck %s
// RUN: ir-opt %s --print-memory-plan 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: ir-opt %s --tf-plan-memory | ir-translate -O0 --mlir-to-bef -o %t.bef && bef-exec %t.bef | FileCheck %s --check-prefix=EXEC
// RUN: ir-opt %s --tf-plan-memory | ir-translate -O0 --mlir-to-bef -o %t.bef && bef-exec %t.bef --work-queue mstd:4 | FileCheck %s --check-prefix=EXEC

// What is not needed any more is overwritten, in place or by another result; what leaves the function is not in the arena.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[ARENA:.*]] = cpu.arena {bytes = 8320 : i64}
// CHECK: %[[A:.*]] = "tf.Tile"({{.*}}, %[[ARENA]]) <{memory = [0, 0, 4160]}>
// CHECK-NEXT: %[[B:.*]] = "tf.Relu"(%[[A]]) <{memory = [1]}>
// CHECK-NEXT: %[[C:.*]] = "tf.Transpose"(%[[B]], {{.*}}, %[[ARENA]]) <{memory = [0, 4160, 4160]}>
// CHECK-NEXT: %[[D:.*]] = "tf.MatMul"(%[[C]], %[[C]]) <{memory = [0]}>
// CHECK-NEXT: return %[[D]]
// PLAN: memory of @chain
// PLAN: peak 8320 bytes, lower bound 8320 (1.000), sum 8320; 2 places, 1 in place, 0 edges added
// EXEC-LABEL: --- Running 'chain'
// EXEC: 'chain' returned
// EXEC-NEXT: 32., 32., 32., ...
func.func @chain() -> tensor<32x32xf32> {
  %row = "tf.Const"() {value = dense<1.0> : tensor<1x32xf32>} : () -> tensor<1x32xf32>
  %times = "tf.Const"() {value = dense<[32, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %turn = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %a = "tf.Tile"(%row, %times) : (tensor<1x32xf32>, tensor<2xi32>) -> tensor<32x32xf32>
  %b = "tf.Relu"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = "tf.Transpose"(%b, %turn) : (tensor<32x32xf32>, tensor<2xi32>) -> tensor<32x32xf32>
  %d = "tf.MatMul"(%c, %c) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  tfrt.return %d : tensor<32x32xf32>
}

// Two branches that may run at the same time; one waits for the other, since that saves a third.
// CHECK-LABEL: func.func @branches
// CHECK: bef.operand_modes = [{{.*}}"after"]
// PLAN: memory of @branches
// PLAN: {{[1-9][0-9]*}} edges added
func.func @branches(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a0 = "tf.MatMul"(%x, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %a1 = "tf.MatMul"(%a0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %a2 = "tf.MatMul"(%a1, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b0 = "tf.MatMul"(%x, %x) {transpose_a = true} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b1 = "tf.MatMul"(%b0, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b2 = "tf.MatMul"(%b1, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = "tf.MatMul"(%a2, %b2) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tfrt.return %y : tensor<64x64xf32>
}

// What no machine has is not planned.
// PLAN: memory of @huge: nothing planned
func.func @huge(%x: tensor<2305843009213693951xf32>) -> tensor<2305843009213693951xf32> {
  %order = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %a = "tf.ReverseV2"(%x, %order) : (tensor<2305843009213693951xf32>, tensor<1xi32>) -> tensor<2305843009213693951xf32>
  %b = "tf.ReverseV2"(%a, %order) : (tensor<2305843009213693951xf32>, tensor<1xi32>) -> tensor<2305843009213693951xf32>
  %c = "tf.ReverseV2"(%b, %order) : (tensor<2305843009213693951xf32>, tensor<1xi32>) -> tensor<2305843009213693951xf32>
  tfrt.return %c : tensor<2305843009213693951xf32>
}

// An update of a variable reads its gradient and retains nothing, unlike an assignment.
// CHECK-LABEL: func.func @update
// CHECK: %[[ARENA:.*]] = cpu.arena {bytes = 4160 : i64}
// CHECK: "tf.MatMul"({{.*}}, %[[ARENA]]) <{memory = [0, 0, 4160]
// CHECK: "tf.MatMul"(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}) <{memory = [0]
// PLAN: memory of @update
func.func @update(%x: tensor<32x32xf32>) {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<32x32>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  %w = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<32x32>, shared_name = "w"} : () -> tensor<!tf_type.resource>
  %rate = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %a = "tf.MatMul"(%x, %x) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  "tf.ResourceApplyGradientDescent"(%v, %rate, %a) : (tensor<!tf_type.resource>, tensor<f32>, tensor<32x32xf32>) -> ()
  %b = "tf.MatMul"(%x, %x) {transpose_a = true} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  "tf.AssignVariableOp"(%w, %b) : (tensor<!tf_type.resource>, tensor<32x32xf32>) -> ()
  tfrt.return
}
