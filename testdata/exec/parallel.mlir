// Blocks of a range run in parallel; what is done once is done once.
//
// RUN: bef-exec %s --work-queue s --leak-check 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s --check-prefix=ANY
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s --check-prefix=ANY
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s --check-prefix=ANY
// RUN: bef-exec %s --work-queue s --functions blocks | FileCheck %s --check-prefix=ORDER

// CHECK: --- Running 'blocks':
// CHECK: 'blocks' returned !tfrt.chain value
// ANY: --- Running 'blocks':
// ANY-DAG: int32 = 0
// ANY-DAG: int32 = 3
// ANY-DAG: int32 = 6
// ANY-DAG: int32 = 9
// ANY-DAG: int32 = 10
// ANY: 'blocks' returned !tfrt.chain value
// ORDER: int32 = 0
// ORDER-NEXT: int32 = 3
// ORDER-NEXT: int32 = 3
// ORDER-NEXT: int32 = 6
// ORDER-NEXT: int32 = 6
// ORDER-NEXT: int32 = 9
// ORDER-NEXT: int32 = 9
// ORDER-NEXT: int32 = 10
// ORDER-NEXT: 'blocks'
func.func @blocks() -> !tfrt.chain {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 10
  %three = tfrt.constant.i32 3
  %ch = tfrt.new.chain
  %done = tfrt.parallel_for.i32 %start to %end fixed %three, %ch : !tfrt.chain {
    %a = tfrt.print.i32 %start, %ch
    %b = tfrt.print.i32 %end, %a
    tfrt.return %b : !tfrt.chain
  }
  tfrt.return %done : !tfrt.chain
}

// The first block that fails says how; an empty range has no blocks.
func.func @fails(%start: i32, %end: i32, %zero: i32) -> !tfrt.chain {
  %q, %r = tfrt.div.i32 %start, %zero
  %ch = tfrt.merge.chains %q : i32
  tfrt.return %ch : !tfrt.chain
}
// CHECK: --- Running 'calls':
// CHECK-NEXT: 'calls' returned <<error: Divide by zero>>,!tfrt.chain value,<<error: the size of a block is 0; it must be positive>>
// ANY: 'calls' returned <<error: Divide by zero>>,!tfrt.chain value,<<error: the size of a block is 0; it must be positive>>
// ERR: parallel.mlir:[[@LINE-7]]:12: error: Divide by zero
// ERR-NEXT: parallel.mlir:[[@LINE+6]]:8: note: called from here
// ERR-NEXT: parallel.mlir:[[@LINE+7]]:8: error: the size of a block is 0; it must be positive
func.func @calls() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %zero = tfrt.constant.i32 0
  %n = tfrt.constant.i32 1000
  %one = tfrt.constant.i32 1
  %a = tfrt.parallel_call.i32 %zero to %n fixed %one @fails(%zero) : i32
  %b = tfrt.parallel_call.i32 %n to %zero fixed %one @fails(%zero) : i32
  %c = tfrt.parallel_call.i32 %zero to %n fixed %zero @fails(%zero) : i32
  tfrt.return %a, %b, %c : !tfrt.chain, !tfrt.chain, !tfrt.chain
}

func.func @shout(%x: i32) -> i32 {
  %ch = tfrt.new.chain
  %done = tfrt.print.i32 %x, %ch
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
// CHECK: --- Running 'once':
// CHECK-NEXT: int32 = 7
// CHECK-NEXT: 'once' returned 14,14
// ANY: --- Running 'once':
// ANY-NEXT: int32 = 7
// ANY-NEXT: 'once' returned 14,14
func.func @once() -> (i32, i32) {
  %seven = tfrt.constant.i32 7
  %a = tfrt.once @shout(%seven) : (i32) -> (i32)
  %b = tfrt.once @shout(%seven) : (i32) -> (i32)
  tfrt.return %a, %b : i32, i32
}
// ERR-NOT: {{.}}
