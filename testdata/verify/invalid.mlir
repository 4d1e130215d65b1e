// What the op table, SSA and symbols forbid. All errors are reported, in the order of the text.
//
// RUN: not ir-opt %s --allow-unregistered-dialect 2>&1 | FileCheck %s --implicit-check-not='{{^[^ ][^:]*:[0-9]+:[0-9]+: error}}'


func.func @table(%i: i32, %c: !tfrt.chain) {
  // CHECK: invalid.mlir:[[@LINE+1]]:8: error[E0405]: `tfrt.constant.i32` needs the attribute `value`
  %0 = "tfrt.constant.i32"() : () -> i32
  // CHECK: invalid.mlir:[[@LINE+1]]:8: error[E0401]: `tfrt.add.i32` takes 2 operands, found 1
  %1 = "tfrt.add.i32"(%i) : (i32) -> i32
  // CHECK: invalid.mlir:[[@LINE+1]]:27: error[E0402]: operand #1 (`rhs`) of `tfrt.add.i32` has type !tfrt.chain, expected i32
  %2 = "tfrt.add.i32"(%i, %c) : (i32, !tfrt.chain) -> i32
  // CHECK: invalid.mlir:[[@LINE+1]]:8: error[E0404]: result #0 (`result`) of `tfrt.add.i32` has type i64, expected i32
  %3 = "tfrt.add.i32"(%i, %i) : (i32, i32) -> i64
  // CHECK: invalid.mlir:[[@LINE+1]]:8: error[E0406]: attribute `value` of `tfrt.constant.i64` is `1 : i32`, expected an integer of type i64
  %4 = "tfrt.constant.i64"() {value = 1 : i32} : () -> i64
  // CHECK: invalid.mlir:[[@LINE+1]]:21: error[E0411]: operand #0 of `tfrt.add.i32` is used before its definition
  %5 = tfrt.add.i32 %6, %i
  %6 = tfrt.constant.i32 1
  // CHECK: invalid.mlir:[[@LINE+2]]:3: error[E0413]: `tfrt.call` refers to `@tabel`, which is not defined
  // CHECK: {{^ *}}help: did you mean `@table`?
  tfrt.call @tabel() : () -> ()
  // CHECK: invalid.mlir:[[@LINE+1]]:3: error[E0415]: `tfrt.call` of `@table` has type `(i32) -> ()`, but the function has type `(i32, !tfrt.chain) -> ()`
  tfrt.call @table(%i) : (i32) -> ()
  // CHECK: invalid.mlir:[[@LINE+1]]:3: error[E0416]: `tfrt.return` gives `(i32)`, but the function's results are `()`
  tfrt.return %i : i32
}

func.func @blocks() {
  // CHECK: invalid.mlir:[[@LINE+1]]:3: error[E0410]: `tfrt.return` must be the last operation of its block
  tfrt.return
  // CHECK: invalid.mlir:[[@LINE+1]]:8: error[E0409]: a block of `func.func` does not end with a terminator
  %0 = tfrt.new.chain
}

// CHECK: invalid.mlir:[[@LINE+1]]:1: error[E0414]: redefinition of symbol `@blocks`
func.func private @blocks()
// CHECK: {{^[^ ].*}} note: first defined here

func.func @unordered(%c: i1) {
  // Inside operations that nobody knows, order is not asked for; that values are visible is.
  "u.graph"() ({
    "u.use"(%later) : (i32) -> ()
    %later = "u.def"() : () -> i32
  }) : () -> ()
  "u.cond"(%c)[^a, ^b] : (i1) -> ()
^a:
  %x = tfrt.constant.i32 1
  "u.br"()[^b] : () -> ()
^b:
  // CHECK: invalid.mlir:[[@LINE+1]]:21: error[E0411]: operand #0 of `tfrt.add.i32` is not defined on the path ^bb0 -> ^b: its definition is in ^a
  %y = tfrt.add.i32 %x, %x
  // CHECK: invalid.mlir:[[@LINE-1]]:25: error[E0411]: operand #1 of `tfrt.add.i32` is not defined on the path ^bb0 -> ^b: its definition is in ^a
  tfrt.return
}
