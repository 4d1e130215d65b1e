// A merge of one chain: upstream leaves it alone if the chain has no other use. Optimization folds it.
//
// RUN: ir-opt %s --canonicalize | FileCheck %s
// RUN: ir-opt %s --canonicalize --canonicalize | FileCheck %s
// RUN: tfrt_opt %s -canonicalize | FileCheck %s
// RUN: ir-translate %s -O0 --to mlir | FileCheck %s --check-prefix=O0
// RUN: ir-translate %s -O1 --to mlir | FileCheck %s --check-prefix=O1
// RUN: ir-translate %s -O2 --to mlir | FileCheck %s --check-prefix=O1

// CHECK-LABEL: func.func @used_elsewhere(
// CHECK-NEXT: tfrt.return %arg0, %arg0 : !tfrt.chain, !tfrt.chain
func.func @used_elsewhere(%ch: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %m = tfrt.merge.chains %ch : !tfrt.chain
  tfrt.return %m, %ch : !tfrt.chain, !tfrt.chain
}

// CHECK-LABEL: func.func @alone(
// CHECK-NEXT: %[[M:.*]] = tfrt.merge.chains %arg0 : !tfrt.chain
// CHECK-NEXT: tfrt.return %[[M]] : !tfrt.chain
// O0-LABEL: func.func @alone(
// O0: tfrt.merge.chains
// O1-LABEL: func.func @alone(
// O1-NEXT: tfrt.return %arg0 : !tfrt.chain
func.func @alone(%ch: !tfrt.chain) -> !tfrt.chain {
  %m = tfrt.merge.chains %ch : !tfrt.chain
  tfrt.return %m : !tfrt.chain
}

// An op graph, for which there are levels of optimization.
func.func @graph(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "tf.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}
