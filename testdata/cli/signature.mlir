// A program whose functions all need arguments says how it is called; exit code 2 is tested in tools/tests/cli.rs.
//
// RUN: ir-translate %s -o %t.bef
// RUN: not bef-exec %t.bef 2>&1 | FileCheck %s
// RUN: not bef-exec %s --repeat 3 2>&1 | FileCheck %s
// RUN: not bef-exec %s --output y.npy 2>&1 | FileCheck %s --check-prefix=WANTED
// RUN: not bef-exec %s --functions other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: bef-exec %t.bef --tfrt-output | FileCheck %s --check-prefix=TFRT
// RUN: bef-exec %s --functions other --input n=i32:5 | FileCheck %s --check-prefix=CALLED
//
// CHECK: --- Not running 'main' because it has arguments.
// CHECK: --- Not running 'other' because it has arguments.
// CHECK: error: nothing runs: no arguments are given
// CHECK-NEXT: note: the function is main(n: i32, x: tensor<2x2xf32>, images: tensor<?x8x8xf32>, i64, c: !tfrt.chain) -> (i32)
// CHECK-NEXT: note: call it like this: bef-exec {{.*}} --input n=i32:1 --input x=f32[2x2]:1,0,1,0 --input images=images.npy --input 3=i64:1{{$}}
// WANTED: error: no arguments are given
// WANTED-NEXT: note: the function is main(
// WANTED-NEXT: note: call it like this: bef-exec
// OTHER: --- Not running 'other' because it has arguments.
// OTHER: note: call it like this: bef-exec {{.*}} --functions other --input n=i32:1{{$}}
// CALLED: 'other' returned 5
// TFRT: --- Not running 'other' because it has arguments.
func.func @main(%n: i32 {bef.name = "n"}, %x: tensor<2x2xf32> {bef.name = "x"}, %images: tensor<?x8x8xf32> {bef.name = "images"}, %k: i64 {bef.name = ""}, %c: !tfrt.chain) -> i32 {
  tfrt.return %n : i32
}
func.func @other(%n: i32) -> i32 {
  tfrt.return %n : i32
}
