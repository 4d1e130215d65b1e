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

// -----

// A gather is in the order of the devices.
// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[G:.*]] = "tf.ConcatV2"(%arg1, %arg0, %{{.*}}) {device = "/cpu:1"}
  // CHECK: return %[[G]], %[[G]]
  %a = "tf.CollectiveGather"(%x) {group_size = 2, group_key = 1, instance_key = 3, shape = #tf_type.shape<4>, device = "/cpu:1"} : (tensor<2xf32>) -> tensor<4xf32>
  %b = "tf.CollectiveGather"(%y) {group_size = 2, group_key = 1, instance_key = 3, shape = #tf_type.shape<4>, device = "/cpu:0"} : (tensor<2xf32>) -> tensor<4xf32>
  tfrt.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: %[[N:.*]] = "tf.Neg"(%arg0)
  // CHECK: %[[B:.*]] = "tf.Identity"(%[[N]]) {device = "/cpu:1"}
  // CHECK: return %[[B]], %[[B]]
  %r = "tf.CollectiveBcastRecv"() {T = f32, group_size = 2, group_key = 1, instance_key = 3, shape = #tf_type.shape<>, device = "/cpu:1"} : () -> tensor<f32>
  %n = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  %s = "tf.CollectiveBcastSend"(%n) {group_size = 2, group_key = 1, instance_key = 3, shape = #tf_type.shape<>, device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r, %s : tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @version_2
func.func @version_2(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  // CHECK: "tf.Maximum"(%arg0, %arg1)
  %n = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %a = "tf.CollectiveReduceV2"(%x, %n, %n, %n) {Nordering_token = 0, merge_op = "Max", final_op = "Id"} : (tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  %b = "tf.CollectiveReduceV2"(%y, %n, %n, %n) {Nordering_token = 0, merge_op = "Max", final_op = "Id"} : (tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}

// -----

func.func @nobody(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{the group has 0 senders, not 1}}
  %a = "tf.CollectiveBcastRecv"() {T = f32, group_size = 1, group_key = 1, instance_key = 3, shape = #tf_type.shape<>} : () -> tensor<f32>
  tfrt.return %a : tensor<f32>
}

// -----

func.func @mixed(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{its members do different things}}
  %a = "tf.CollectiveBcastSend"(%x) {group_size = 2, group_key = 1, instance_key = 3, shape = #tf_type.shape<>} : (tensor<f32>) -> tensor<f32>
  %b = "tf.CollectiveReduce"(%x) {group_size = 2, group_key = 1, instance_key = 3, merge_op = "Max", final_op = "Id", subdiv_offsets = [0]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}
