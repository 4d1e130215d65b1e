// Large constants are left out of text for readers.
//
// RUN: ir-opt %s --elide-large-constants=4 | FileCheck %s
// RUN: ir-opt %s --mlir-elide-elementsattrs-if-larger=4 | FileCheck %s
// RUN: ir-opt --mlir-elide-elementsattrs-if-larger 4 %s | FileCheck %s
// RUN: ir-opt %s --elide-large-constants | FileCheck %s --check-prefix=MORE
// RUN: ir-translate %s -O0 --to mlir --elide-large-constants=4 | FileCheck %s --check-prefix=KERNELS
// RUN: not ir-translate %s --to bef -o %t.bef --elide-large-constants 2>&1 | FileCheck %s --check-prefix=USELESS
// USELESS: '--elide-large-constants' needs MLIR as output

// CHECK: dense<[1, 2, 3, 4]> : tensor<4xi32>
// CHECK: dense_resource<__elided__> : tensor<5xi32>
// CHECK: dense<7> : tensor<100xi32>
// MORE: dense<[1, 2, 3, 4]> : tensor<4xi32>
// MORE: dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
// KERNELS: dense_resource<__elided__>
func.func @main() -> (tensor<4xi32>, tensor<5xi32>, tensor<100xi32>) {
  %a = "tf.Const"() {value = dense<[1, 2, 3, 4]> : tensor<4xi32>} : () -> tensor<4xi32>
  %b = "tf.Const"() {value = dense<[1, 2, 3, 4, 5]> : tensor<5xi32>} : () -> tensor<5xi32>
  %c = "tf.Const"() {value = dense<7> : tensor<100xi32>} : () -> tensor<100xi32>
  tfrt.return %a, %b, %c : tensor<4xi32>, tensor<5xi32>, tensor<100xi32>
}
