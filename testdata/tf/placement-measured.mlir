// Measured times count instead of estimates, and are forgotten after the placement.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=list print})' 2>&1 | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place)' | FileCheck %s --check-prefix=ALONE
// RUN: bef-exec %s -O0 --input f32:2 --profile=json 2> %t.json | FileCheck %s --check-prefix=RESULT
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: bef-exec %s -O0 --devices CPU:2 --place list --cost-profile %t.json --print-placement --input f32:2 2>&1 | FileCheck %s --check-prefix=PLACED
// RUN: sed -e 's/"ns": [0-9]*/"ns": 7000000/' %t.json > %t.slow.json
// RUN: bef-exec %s -O0 --devices CPU:2 --place list --cost-profile %t.slow.json --print-placement --input f32:2 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: sed -e 's/"ns": /"ns": -/' %t.json > %t.wrong.json
// RUN: not bef-exec %s --devices CPU:2 --cost-profile %t.wrong.json --input f32:2 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not bef-exec %s --devices CPU:2 --cost-profile %t.none.json --input f32:2 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: sed -e 's/placement-measured.mlir:/other.mlir:/' %t.json > %t.other.json
// RUN: bef-exec %s --devices CPU:2 --cost-profile %t.other.json --input f32:2 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed -e '2s/placement-measured.mlir:[0-9]*/other.mlir:1/' %t.json > %t.some.json
// RUN: bef-exec %s --devices CPU:2 --cost-profile %t.some.json --input f32:2 2>&1 | FileCheck %s --check-prefix=SOME
// OTHER: warning: the profile has no time of any operator of this program
// SOME: warning: 1 places of the profile are no operators of this program, as '{{.*}}other.mlir:1:

// Two long ops beside each other: together as long as one.
// CHECK: `tf.Sin` {{.*}} 5000.0 us
// CHECK: makespan 500{{.*}} us, lower bound 5000.0 us
// CHECK-NOT: cost_ns
// ALONE-NOT: cost_ns
// RESULT: 'main' returned
// JSON: {"kernels": [
// JSON: {"source": "{{.*}}placement-measured.mlir:{{[0-9]+}}:{{[0-9]+}}", "kind": "CPU", "kernel": "tf.{{.*}}", "operands": "f32{{.*}}", "calls": 1, "ns": {{[0-9]+}}}
// JSON: ]}
// PLACED: makespan
// SLOW: `tf.Sin` {{.*}}7000.0 us
// WRONG: error: {{.*}}makes no sense: kernels[0].ns is no measurement: -
// MISSING: error: {{.*}}cannot read
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %a = "tf.Sin"(%x) {cost_ns = {CPU = 5000000 : i64}} : (tensor<f32>) -> tensor<f32>
  %b = "tf.Cos"(%x) {cost_ns = {CPU = 5000000 : i64}} : (tensor<f32>) -> tensor<f32>
  %c = "tf.AddV2"(%a, %b) {cost_ns = {CPU = 0 : i64}} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %c : tensor<f32>
}
