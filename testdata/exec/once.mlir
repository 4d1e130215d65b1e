// `tfrt.once`: a function is called the first time that anybody asks for it; everybody gets its results, errors too.
//
// RUN: bef-exec %s --work-queue s | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 | FileCheck %s
// RUN: bef-exec %s --seed 1 | FileCheck %s
// RUN: bef-exec %s --seed 2 | FileCheck %s
// RUN: bef-exec %s --seed 7 | FileCheck %s

func.func @print(%x: i32) -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %done = tfrt.print.i32 %x, %ch
  tfrt.return %x, %done : i32, !tfrt.chain
}

// CHECK-LABEL: --- Running 'twice'
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: 'twice' returned 1,1
func.func @twice() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %first, %ch = tfrt.once @print(%one) : (i32) -> (i32, !tfrt.chain)
  %two, %ordered = tfrt.once @print(%first) : (i32) -> (i32, !tfrt.chain)
  tfrt.return %first, %two : i32, i32
}

// Each waits for what takes a while, so that both have begun when they ask for each other: whoever asks last is refused, and so both fail.
func.func @a(%x: i32) -> i32 {
  %us = tfrt.constant.i32 20000
  %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %y = tfrt.once @b(%x, %slept) : (i32, !tfrt.chain) -> (i32)
  tfrt.return %y : i32
}
func.func @b(%x: i32) -> i32 {
  %us = tfrt.constant.i32 20000
  %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %y = tfrt.once @a(%x, %slept) : (i32, !tfrt.chain) -> (i32)
  tfrt.return %y : i32
}

// CHECK-LABEL: --- Running 'each_other'
// CHECK: 'each_other' returned <<error: {{.*}}'tfrt.once @{{[ab]}}' {{waits for 'tfrt.once @[ab]', which asks for it|is asked for by its own function}}{{.*}}>>,<<error: {{.*}}>>
func.func @each_other() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %x = tfrt.once @a(%one) : (i32) -> (i32)
  %y = tfrt.once @b(%one) : (i32) -> (i32)
  tfrt.return %x, %y : i32, i32
}

// Whoever comes first calls it; nobody who waits for it, or calls something that does, is in its way.
func.func @slow(%x: i32) -> i32 {
  %us = tfrt.constant.i32 20000
  %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %y = "tfrt.add.i32"(%x, %x, %slept) : (i32, i32, !tfrt.chain) -> i32
  tfrt.return %y : i32
}
func.func @asks(%x: i32) -> i32 {
  %us = tfrt.constant.i32 1000
  %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
  %y = tfrt.once @slow(%x, %slept) : (i32, !tfrt.chain) -> (i32)
  tfrt.return %y : i32
}

// CHECK-LABEL: --- Running 'behind_one_another'
// CHECK: 'behind_one_another' returned 2,2
func.func @behind_one_another() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %x = tfrt.once @slow(%one) : (i32) -> (i32)
  %y = tfrt.once @asks(%one) : (i32) -> (i32)
  tfrt.return %x, %y : i32, i32
}

func.func @same(%x: i32) -> i32 {
  tfrt.return %x : i32
}

// A chain behind the arguments orders the call, the first one too.
// CHECK-LABEL: --- Running 'ordered'
// CHECK-NEXT: 'ordered' returned 5
func.func @ordered() -> i32 {
  %five = tfrt.constant.i32 5
  %ch = tfrt.new.chain
  %x = tfrt.once @same(%five, %ch) : (i32, !tfrt.chain) -> (i32)
  tfrt.return %x : i32
}
