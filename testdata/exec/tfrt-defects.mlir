// Where TFRT goes wrong, and what happens here instead. (Merges of chains that lose an ordering: compiler/tests/chains.rs.)
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

func.func @same(%x: i32) -> i32 {
  tfrt.return %x : i32
}
// A case beyond its branches runs one of no function (TFRT: after it has set the error).
// CHECK: --- Running 'case_out_of_range':
// CHECK-NEXT: 'case_out_of_range' returned <<error: branch_index invalid. branch index: 1 # branches: 1>>,<<error: branch_index invalid. branch index: -1 # branches: 1>>
func.func @case_out_of_range() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %minus = tfrt.constant.i32 -1
  %a = tfrt.case %one [@same] (%one) : (i32) -> (i32)
  %b = tfrt.case %minus [@same] (%one) : (i32) -> (i32)
  tfrt.return %a, %b : i32, i32
}

// Errors of blocks are not dropped (TFRT: the chain is always ready); ranges that are empty or reversed have no blocks (TFRT: a size underflows);
// a block has a size (TFRT: an assertion).
func.func @divide(%start: i32, %end: i32, %zero: i32) -> !tfrt.chain {
  %q, %r = tfrt.div.i32 %start, %zero
  %ch = tfrt.merge.chains %q : i32
  tfrt.return %ch : !tfrt.chain
}
// CHECK: --- Running 'parallel':
// CHECK-NEXT: 'parallel' returned <<error: Divide by zero>>,!tfrt.chain value,!tfrt.chain value,<<error: the size of a block is 0; it must be positive>>,<<error: the size of a block is -1; it must be positive>>
func.func @parallel() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %minus = tfrt.constant.i32 -1
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %ten = tfrt.constant.i32 10
  %nought = tfrt.constant.i32 0
  %failing = tfrt.parallel_for.i32 %zero to %ten fixed %one, %nought : i32 {
    %q, %r = tfrt.div.i32 %ten, %nought
    %ch = tfrt.merge.chains %q : i32
    tfrt.return %ch : !tfrt.chain
  }
  %empty = tfrt.parallel_call.i32 %ten to %ten fixed %one @divide(%zero) : i32
  %reversed = tfrt.parallel_call.i32 %ten to %zero fixed %one @divide(%zero) : i32
  %none = tfrt.parallel_call.i32 %zero to %ten fixed %zero @divide(%zero) : i32
  %negative = tfrt.parallel_call.i32 %zero to %ten fixed %minus @divide(%zero) : i32
  tfrt.return %failing, %empty, %reversed, %none, %negative : !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain
}

// A trip count is not negative (TFRT: an assertion); 0 gives the arguments.
// CHECK: --- Running 'repeat':
// CHECK-NEXT: 'repeat' returned 7,<<error: the trip count is -3: it must not be negative>>
func.func @repeat() -> (i32, i32) {
  %zero = tfrt.constant.i32 0
  %minus = tfrt.constant.i32 -3
  %x = tfrt.constant.i32 7
  %a = tfrt.repeat.i32 %zero, %x : i32 {
    %y = tfrt.add.i32 %x, %x
    tfrt.return %y : i32
  }
  %b = tfrt.repeat.i32 %minus, %x : i32 {
    tfrt.return %x : i32
  }
  tfrt.return %a, %b : i32, i32
}

// As many iterations as are asked for, and no more, are in flight (TFRT: all of them): here the prints of one follow those of the one before.
func.func @count(%i: i32, %end: i32, %ch: !tfrt.chain) -> (i32, i32, !tfrt.chain, i1) {
  %one = tfrt.constant.i32 1
  %late = "tfrt_test.async_copy.i32"(%i) : (i32) -> i32
  %printed = tfrt.print.i32 %late, %ch
  %next = tfrt.add.i32 %i, %one
  %more = "tfrt.lessequal.i32"(%next, %end) : (i32, i32) -> i1
  tfrt.return %next, %end, %printed, %more : i32, i32, !tfrt.chain, i1
}
// CHECK: --- Running 'bounded':
// CHECK-NEXT: int32 = 0
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: int32 = 2
// CHECK-NEXT: 'bounded' returned 3
func.func @bounded() -> i32 {
  %zero = tfrt.constant.i32 0
  %two = tfrt.constant.i32 2
  %yes = tfrt.constant.i1 true
  %ch = tfrt.new.chain
  %r:3 = tfrt.while %yes @count(%zero, %two, %ch) parallel_iterations(2) : (i32, i32, !tfrt.chain) -> (i32, i32, !tfrt.chain)
  tfrt.return %r#0 : i32
}

// Kept, since TFRT's tests expect it: an f16 prints as its bits. What prints is in the order of its chains, whatever it prints (TFRT: two buffers).
// CHECK: --- Running 'printed':
// CHECK-NEXT: f16 = 15360
// CHECK-NEXT: string = text
// CHECK-NEXT: int32 = 0
func.func @printed() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %half = tfrt.constant.f16 1.0
  %text = tfrt_test.get_string {value = "text"}
  %zero = tfrt.constant.i32 0
  %a = "tfrt.print.f16"(%half, %ch) : (f16, !tfrt.chain) -> !tfrt.chain
  %b = "tfrt_test.print_string"(%text, %a) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %c = tfrt.print.i32 %zero, %b
  tfrt.return %c : !tfrt.chain
}
