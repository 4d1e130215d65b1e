// The predicate of a branch rides on a value that a part gets for the branch only, in one message.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts)' | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2})' | ir-opt --pass-pipeline='builtin.module(verify-parts)' | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2 wire=bf16},verify-parts)' | FileCheck %s --check-prefix=WIRE

// RUN: bef-exec %s -O0 --devices CPU:2 --partition device --functions rides --input f32:3 --work-queue s | FileCheck %s --check-prefix=RIDES
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --functions rides --input f32:3 --work-queue mstd:2 | FileCheck %s --check-prefix=RIDES
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --functions rides --input f32:3 --seed 5 | FileCheck %s --check-prefix=RIDES
// RIDES: 'rides' returned{{.*}}9
// CHECK-LABEL: func.func private @rides.CPU_1(
// CHECK-NOT: dev.recv
// CHECK: %[[X:.*]]:2 = dev.recv in %arg0 channel [[N:[0-9]+]] from "{{.*}}CPU:0"{{.*}} : tensor<f32>, tensor<i1>
// CHECK-NOT: dev.recv
// CHECK: "tf.If"(%[[X]]#1, %[[X]]#0, %{{.*}})
// CHECK-LABEL: func.func private @rides.CPU_0(
// CHECK: %[[P:.*]] = "tf.Less"
// CHECK: %[[A:.*]] = "tf.Abs"
// CHECK: dev.send %[[A]], %[[P]] in %arg1 channel [[N]] to "{{.*}}CPU:1" : tensor<f32>, tensor<i1>
// Only the value is rounded.
// WIRE-LABEL: func.func private @rides.CPU_1(
// WIRE: %[[X:.*]]:2 = dev.recv {{.*}} : tensor<bf16>, tensor<i1>
// WIRE: %[[A:.*]] = "tf.Cast"(%[[X]]#0)
// WIRE: "tf.If"(%[[X]]#1, %[[A]], %{{.*}})
func.func @rides(%x: tensor<f32>) -> tensor<f32> {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %p = "tf.Less"(%x, %zero) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %a = "tf.Abs"(%x) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  %r = "tf.If"(%p, %a) {then_branch = @then, else_branch = @else} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @then(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Neg"(%x) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @else(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Square"(%x) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}

// A predicate that failed arrives as it is.
// RUN: not bef-exec %s -O0 --devices CPU:2 --partition device --functions predicate_fails --input i32:9 2>&1 | FileCheck %s --check-prefix=PREDICATE
// PREDICATE: error: {{.*}}9 is not in [0, 2)
// PREDICATE-NOT: never sent
// CHECK-LABEL: func.func private @predicate_fails.CPU_1(
// CHECK: dev.recv {{.*}} : tensor<i32>, tensor<i1>
func.func @predicate_fails(%i: tensor<i32>) -> tensor<i32> {
  %table = "tf.Const"() {value = dense<[true, false]> : tensor<2xi1>} : () -> tensor<2xi1>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %a = "tf.Abs"(%i) {device = "/cpu:0"} : (tensor<i32>) -> tensor<i32>
  %p = "tf.GatherV2"(%table, %i, %axis) {device = "/cpu:0"} : (tensor<2xi1>, tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "tf.If"(%p, %a) {then_branch = @negated, else_branch = @negated} : (tensor<i1>, tensor<i32>) -> tensor<i32>
  tfrt.return %r : tensor<i32>
}
func.func private @negated(%x: tensor<i32>) -> tensor<i32> {
  %y = "tf.Neg"(%x) {device = "/cpu:1"} : (tensor<i32>) -> tensor<i32>
  tfrt.return %y : tensor<i32>
}

// Two branches by one predicate: each gets it with a value of its own, the smallest.
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --functions twice --input i32:1 --input f32[3]:1,2,3 --seed 3 | FileCheck %s --check-prefix=TWICE
// TWICE: 'twice' returned{{.*}}-2
// CHECK-LABEL: func.func private @twice.CPU_1(
// CHECK: dev.recv {{.*}} : tensor<i32>, tensor<i32>
// CHECK: dev.recv {{.*}} : tensor<3xf32>
// CHECK: "tf.Case"
// CHECK: dev.recv {{.*}} : tensor<i32>, tensor<i32>
// CHECK: "tf.Case"
// CHECK-NOT: dev.recv
// CHECK-LABEL: func.func private @twice.CPU_0(
func.func @twice(%i: tensor<i32>, %x: tensor<3xf32>) -> tensor<i32> {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %a = "tf.Abs"(%x) {device = "/cpu:0"} : (tensor<3xf32>) -> tensor<3xf32>
  %b = "tf.Mul"(%i, %two) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %c = "tf.AddV2"(%i, %two) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %p = "tf.AddV2"(%i, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = "tf.Case"(%p, %a, %b) {branches = [@counted, @counted, @second]} : (tensor<i32>, tensor<3xf32>, tensor<i32>) -> tensor<i32>
  %s = "tf.Case"(%p, %c) {branches = [@negated, @negated]} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %t = "tf.Add"(%r, %s) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %t : tensor<i32>
}
func.func private @counted(%x: tensor<3xf32>, %n: tensor<i32>) -> tensor<i32> {
  %m = "tf.Size"(%x) {device = "/cpu:1"} : (tensor<3xf32>) -> tensor<i32>
  %y = "tf.Sub"(%m, %n) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %y : tensor<i32>
}
func.func private @second(%x: tensor<3xf32>, %n: tensor<i32>) -> tensor<i32> {
  %m = "tf.Size"(%x) {device = "/cpu:1"} : (tensor<3xf32>) -> tensor<i32>
  %y = "tf.Sub"(%m, %n) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %y : tensor<i32>
}

// What something else of the part reads is sent alone: nobody else waits for both.
// CHECK-LABEL: func.func private @both.CPU_1(
// CHECK: dev.recv {{.*}}} : tensor<i1>
// CHECK: dev.recv {{.*}}} : tensor<f32>
// CHECK-LABEL: func.func private @both.CPU_0(
func.func @both(%x: tensor<f32>) -> (tensor<f32>, tensor<i1>) {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %p = "tf.Less"(%x, %zero) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %a = "tf.Abs"(%x) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  %r = "tf.If"(%p, %a) {then_branch = @then, else_branch = @else} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  %q = "tf.LogicalNot"(%p) {device = "/cpu:1"} : (tensor<i1>) -> tensor<i1>
  tfrt.return %r, %q : tensor<f32>, tensor<i1>
}

// The predicate of a branch inside of a branch rides on the same value.
// RUN: bef-exec %s -O0 --devices CPU:2 --partition device --functions nested --input f32:-3 --seed 2 | FileCheck %s --check-prefix=NESTED
// NESTED: 'nested' returned{{.*}}-3
// CHECK-LABEL: func.func private @nested.CPU_1(
// CHECK: %[[X:.*]]:3 = dev.recv {{.*}} : tensor<f32>, tensor<i1>, tensor<i1>
// CHECK-NOT: dev.recv
// CHECK: "tf.If"(%[[X]]#2, %[[X]]#1, %[[X]]#0, %{{.*}})
// CHECK-LABEL: func.func private @inside.CPU_1(
// CHECK-NOT: dev.recv
// CHECK: "tf.If"
func.func @nested(%x: tensor<f32>) -> tensor<f32> {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %p = "tf.Less"(%x, %zero) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %q = "tf.Less"(%x, %one) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %a = "tf.Abs"(%x) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  %r = "tf.If"(%p, %q, %a) {then_branch = @inside, else_branch = @outside} : (tensor<i1>, tensor<i1>, tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @inside(%q: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %y = "tf.If"(%q, %x) {then_branch = @then, else_branch = @else} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @outside(%q: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  tfrt.return %x : tensor<f32>
}
