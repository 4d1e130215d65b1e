// The program of the README, which tools/tests/readme.rs compares with this one.
//
// RUN: bef-exec %s --input x=i32:41 | FileCheck %s
// CHECK: int32 = 42
// CHECK-NEXT: 'main' returned 42
func.func @main(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %sum = tfrt.add.i32 %x, %one
  %ch0 = tfrt.new.chain
  %ch1 = tfrt.print.i32 %sum, %ch0
  tfrt.return %sum : i32
}
