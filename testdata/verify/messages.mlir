// Messages that say what to do: paths around a definition, the terminator of the enclosing op, dialects.
//
// RUN: not ir-opt %s --split-input-file 2>&1 | FileCheck %s

func.func @path(%c: i1) -> i32 {
  cf.cond_br %c, ^define, ^join
^define:
  %x = arith.constant 1 : i32
  cf.br ^join
^join:
  // CHECK: messages.mlir:[[@LINE+2]]:19: error[E0411]: operand #0 of `arith.addi` is not defined on the path ^bb0 -> ^join: its definition is in ^define
  // CHECK: help: define it in a block that every path passes, or pass it as an argument of the block
  %y = arith.addi %x, %c1 : i32
  %c1 = arith.constant 1 : i32
  return %y : i32
}

// -----

// The order inside of one block; a loop is a path.
func.func @loop(%c: i1) -> i32 {
  cf.br ^head
^head:
  // CHECK: messages.mlir:[[@LINE+2]]:19: error[E0411]: operand #0 of `arith.addi` is used before its definition
  // CHECK: messages.mlir:[[@LINE+1]]:23: error[E0411]: operand #1 of `arith.addi` is not defined on the path ^bb0 -> ^head: its definition is in ^body
  %s = arith.addi %t, %u : i32
  %t = arith.constant 1 : i32
  cf.cond_br %c, ^body, ^end
^body:
  %u = arith.constant 1 : i32
  cf.br ^head
^end:
  return %s : i32
}

// -----

// A long path is cut.
func.func @long(%c: i1, %x: i32) -> i32 {
  cf.br ^b1
^b1:
  cf.cond_br %c, ^b2, ^definition
^definition:
  %v = arith.addi %x, %x : i32
  cf.br ^b2
^b2:
  cf.br ^b3
^b3:
  cf.br ^b4
^b4:
  cf.br ^b5
^b5:
  cf.br ^b6
^b6:
  cf.br ^b7
^b7:
  cf.br ^b8
^b8:
  // CHECK: error[E0411]: operand #0 of `arith.muli` is not defined on the path ^bb0 -> ^b1 -> ^b2 -> ^b3 -> ... -> ^b5 -> ^b6 -> ^b7 -> ^b8: its definition is in ^definition
  %w = arith.muli %v, %x : i32
  return %w : i32
}

// -----

func.func @regions(%c: i1) -> i32 {
  "scf.if"(%c) ({
    %x = arith.constant 1 : i32
    scf.yield
  }, {}) : (i1) -> ()
  // CHECK: messages.mlir:[[@LINE+1]]:10: error[E0302]: use of undefined value `%x`
  return %x : i32
}

// -----

// CHECK: error[E0409]: a block of `func.func` does not end with a terminator
// CHECK: help: end the block with `func.return`
func.func @upstream() {
  %x = arith.constant 1 : i32
}
// CHECK: error[E0409]: a block of `func.func` does not end with a terminator
// CHECK: help: end the block with `tfrt.return`
func.func @kernels() {
  %x = tfrt.constant.i32 1
}
func.func @inside(%c: i1) {
  // CHECK: error[E0409]: a block of `scf.if` does not end with a terminator
  // CHECK: help: end the block with `scf.yield`
  "scf.if"(%c) ({
    %x = arith.constant 1 : i32
  }, {}) : (i1) -> ()
  return
}
func.func @kernel_with_region(%c: i1) {
  // CHECK: error[E0409]: a block of `tfrt.if` does not end with a terminator
  // CHECK: help: end the block with `tfrt.return`
  "tfrt.if"(%c) ({
    %x = tfrt.constant.i32 1
  }, {}) : (i1) -> ()
  tfrt.return
}
func.func @branches(%x: tensor<i1>) {
  // CHECK: error[E0409]: a block of `tf.IfRegion` does not end with a terminator
  // CHECK: help: end the block with `tf.Yield`
  "tf.IfRegion"(%x) ({
    "tf.NoOp"() : () -> ()
  }, {
    "tf.Yield"() : () -> ()
  }) : (tensor<i1>) -> ()
  tfrt.return
}

// -----

func.func @dialects(%x: tensor<i1>) {
  // CHECK: messages.mlir:[[@LINE+4]]:3: error[E0310]: unknown dialect `foo` of the operation `foo.bar`
  // CHECK: help: write unregistered operations in generic form and pass --allow-unregistered-dialect
  // CHECK: note: the dialects are arith, btf, builtin, cf,
  // CHECK-SAME: tf, tf_executor, tf_sync, tfrt, tfrt_dht
  "foo.bar"() : () -> ()
  // CHECK: messages.mlir:[[@LINE+2]]:8: error[E0310]: unknown dialect `tfr` of the operation `tfr.add.i32`
  // CHECK: help: did you mean `tfrt.add.i32`?
  %0 = tfr.add.i32 %x, %x
  // CHECK: messages.mlir:[[@LINE+2]]:3: error[E0310]: unknown dialect `arit` of the operation `arit.frobnicate`
  // CHECK: help: did you mean `arith`?
  "arit.frobnicate"() : () -> ()
  // CHECK: messages.mlir:[[@LINE+1]]:3: error[E0301]: unknown operation `arith.frobnicate`
  "arith.frobnicate"() : () -> ()
  tfrt.return
}
