// RUN: ir-opt %s --tf-expand-collectives --split-input-file --verify-diagnostics | FileCheck %s

// All members get one reduction, behind what the later ones need.
// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[N:.*]] = "tf.Neg"(%arg1)
  // CHECK: %[[S:.*]] = "tf.AddV2"(%arg0, %[[N]]) {device = "/cpu:0"}
  // CHECK: %[[A:.*]] = "tf.Abs"(%[[S]])
  // CHECK: return %[[A]], %[[S]]
  %a = "tf.CollectiveReduce"(%x) {group_size = 2, group_key = 1, instance_key = 3, merge_op = "Add", final_op = "Id", subdiv_offsets = [0], device = "/cpu:0"} : (tensor<2xf32>) -> tensor<2xf32>
  %b = "tf.Abs"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %n = "tf.Neg"(%y) : (tensor<2xf32>) -> tensor<2xf32>
  %c = "tf.CollectiveReduce"(%n) {group_size = 2, group_key = 1, instance_key = 3, merge_op = "Add", final_op = "Id", subdiv_offsets = [0], device = "/cpu:1"} : (tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %b, %c : tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @mean
func.func @mean(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[S:.*]] = "tf.AddV2"(%arg0, %arg1)
  // CHECK: "tf.Div"(%[[S]], %{{.*}})
  %a = "tf.CollectiveReduce"(%x) {group_size = 2, group_key = 1, instance_key = 3, merge_op = "Add", final_op = "Div", subdiv_offsets = [0]} : (tensor<f32>) -> tensor<f32>
  %b = "tf.CollectiveReduce"(%y) {group_size = 2, group_key = 1, instance_key = 3, merge_op = "Add", final_op = "Div", subdiv_offsets = [0]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}

// -----

func.func @alone(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{the group has 1 members in this function, not 2}}
  %a = "tf.CollectiveReduce"(%x) {group_size = 2, group_key = 1, instance_key = 3, merge_op = "Add", final_op = "Id", subdiv_offsets = [0]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}

// -----

func.func @circle(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{an operand of a member needs the result of the group}}
  %a = "tf.CollectiveReduce"(%x) {group_size = 2, group_key = 1, instance_key = 3, merge_op = "Max", final_op = "Id", subdiv_offsets = [0]} : (tensor<f32>) -> tensor<f32>
  %b = "tf.CollectiveReduce"(%a) {group_size = 2, group_key = 1, instance_key = 3, merge_op = "Max", final_op = "Id", subdiv_offsets = [0]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}
