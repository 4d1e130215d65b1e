// Text to BEF and back is the text; the same bytes come out each time.
//
// RUN: ir-translate %s -o %t.bef && ir-translate %s -o %t.again.bef && cmp %t.bef %t.again.bef
// RUN: ir-translate %t.bef | FileCheck %s
// RUN: ir-translate %t.bef -o %t.mlir && ir-opt %s -o %t.direct.mlir && cmp %t.mlir %t.direct.mlir
// RUN: ir-translate --bef-to-mlir %t.bef | ir-translate --mlir-to-bef | ir-translate --bef-to-mlir - | cmp %t.mlir -
// RUN: ir-translate --from mlir --to mlir %s | cmp %t.mlir -
// RUN: ir-translate %t.bef -o %t.copy.bef && ir-translate %t.copy.bef | cmp %t.mlir -
// RUN: ir-translate %s -O0 --to=bef | cmp %t.bef -
// RUN: ir-translate %t.bef --keep-names | FileCheck %s --check-prefix=NAMES
// RUN: ir-translate %t.bef --generic | FileCheck %s --check-prefix=GENERIC
// RUN: ir-translate %s --disable-optional-sections -o %t.small.bef
// RUN: ir-translate %t.small.bef | FileCheck %s
// RUN: ir-translate %t.small.bef --keep-names | FileCheck %s --check-prefix=SMALL
// RUN: ir-opt %s --print-debuginfo -o %t.loc.mlir && ir-translate %t.loc.mlir -o %t.loc.bef
// RUN: ir-translate %t.loc.bef | cmp %t.mlir -

// CHECK: func.func @main(%arg0: i32) -> i32 {
// CHECK-NEXT: %0 = tfrt.new.chain
// CHECK-NEXT: %1 = tfrt.constant.i32 1
// CHECK-NEXT: %2 = tfrt.add.i32 %arg0, %1
// CHECK-NEXT: %3 = tfrt.print.i32 %2, %0
// CHECK-NEXT: %4:2 = tfrt.call @callee(%2) : (i32) -> (i32, !tfrt.chain)
// CHECK-NEXT: tfrt.return %4#0 : i32

// NAMES: func.func @main(%x: i32) -> i32 {
// NAMES: %sum = tfrt.add.i32 %x, %one
// NAMES: %r:2 = tfrt.call @callee(%sum)

// The names of arguments are part of the interface; those of other values are not.
// SMALL: func.func @main(%x: i32) -> i32 {
// SMALL: %2 = tfrt.add.i32 %x, %1

// GENERIC: "func.func"()
// GENERIC: "tfrt.add.i32"(
func.func @main(%x: i32) -> i32 {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %sum = tfrt.add.i32 %x, %one
  %printed = tfrt.print.i32 %sum, %ch
  %r:2 = tfrt.call @callee(%sum) : (i32) -> (i32, !tfrt.chain)
  tfrt.return %r#0 : i32
}

func.func @callee(%y: i32 {bef.name = "given"}) -> (i32 {bef.name = "taken"}, !tfrt.chain) {
  %ch = tfrt.new.chain
  %shape = ts.build_shape [1 : i64, 57 : i64, 92 : i64]
  %t = "cpu.constant"() {value = dense<[[1.0, 2.0], [3.0, 4.5]]> : tensor<2x2xf32>} : () -> !t.tensor
  %done = tfrt_dht.print_tensor %t, %ch
  tfrt.return %y, %done : i32, !tfrt.chain
}
