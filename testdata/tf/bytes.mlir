// Strings that are not UTF-8, as elements of constants and as attributes: printed, parsed, in files and executed.
//
// RUN: ir-opt %s | ir-opt | FileCheck %s
// RUN: ir-translate %s -O2 -o %t.bef && ir-translate %t.bef | FileCheck %s --check-prefix=RAISED
// RUN: bef-exec %s -O0 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %t.bef | FileCheck %s --check-prefix=EXEC
// RUN: ir-translate %t.bef -o %t.mlir && bef-exec %t.mlir | FileCheck %s --check-prefix=EXEC
// RUN: ir-translate %s --to graphdef -o %t.pb && bef-exec %t.pb | FileCheck %s --check-prefix=EXEC

// CHECK: dense<["\FF\00a", "text \\\22", "\C3("]> : tensor<3x!tf_type.string>
// CHECK: separator = "\FE\\\22"
// CHECK: dense<"\80"> : tensor<2x!tf_type.string>
// RAISED-DAG: strings = ["\FF\00a", "text \\\22", "\C3("]
// RAISED-DAG: separator = "\FE\\\22"
// EXEC: 'main' returned array([b'\xff\x00a\xfe\\"\xff\x00a',
// EXEC-NEXT: b'\xc3(\xfe\\"\xc3('], shape=(3,), dtype=object),array([b'\x80', b'\x80'], shape=(2,), dtype=object)
func.func @main() -> (tensor<3x!tf_type.string>, tensor<2x!tf_type.string>) {
  %0 = "tf.Const"() {value = dense<["\FF\00a", "text \\\22", "\C3("]> : tensor<3x!tf_type.string>} : () -> tensor<3x!tf_type.string>
  %1 = "tf.StringJoin"(%0, %0) {separator = "\FE\\\22"} : (tensor<3x!tf_type.string>, tensor<3x!tf_type.string>) -> tensor<3x!tf_type.string>
  %2 = "tf.Const"() {value = dense<"\80"> : tensor<2x!tf_type.string>} : () -> tensor<2x!tf_type.string>
  tfrt.return %1, %2 : tensor<3x!tf_type.string>, tensor<2x!tf_type.string>
}
