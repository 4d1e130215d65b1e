// Custom forms, as TFRT writes them. Reading what was printed and printing it again changes nothing.
//
// RUN: ir-opt %s | FileCheck %s
// RUN: ir-opt %s | ir-opt | FileCheck %s
// RUN: ir-opt %s --generic | ir-opt | FileCheck %s

// CHECK: module {
// CHECK-NEXT: func.func private @native(i32, f32) -> (i64, f32) attributes {tfrt.native}
func.func private @native(i32, f32) -> (i64, f32) attributes {tfrt.native}

// CHECK-LABEL: func.func @basic.i32(%arg0: i32 {bef.name = "x"}, %arg1: !tfrt.chain) -> (i32 {bef.name = "y"}, !tfrt.chain) {
func.func @basic.i32(%x: i32 {bef.name = "x"}, %ch : !tfrt.chain) -> (i32 {bef.name = "y"}, !tfrt.chain) {
  // CHECK-NEXT: %0 = tfrt.constant.i32 42
  %a = tfrt.constant.i32 42
  // CHECK-NEXT: %1 = tfrt.constant.i1 true
  %b = tfrt.constant.i1 1
  // CHECK-NEXT: %2 = tfrt.constant.f32 1.000000e-01
  %f = tfrt.constant.f32 0.1
  // CHECK-NEXT: %3:2 = tfrt.div.i32 %arg0, %0
  %q, %r = tfrt.div.i32 %x, %a
  // CHECK-NEXT: %4 = tfrt.add.i32 %3#0, %3#1 {note = "sum"}
  %s = tfrt.add.i32 %q, %r {note = "sum"}
  // CHECK-NEXT: %5 = tfrt.minus.i32 %4, %0
  %m = "tfrt.minus.i32"(%s, %a) : (i32, i32) -> i32
  // An extra chain at the end is allowed where the kernel takes none; only generic form can say it.
  // CHECK-NEXT: %6 = "tfrt.add.i32"(%5, %0, %arg1) : (i32, i32, !tfrt.chain) -> i32
  %e = "tfrt.add.i32"(%m, %a, %ch) : (i32, i32, !tfrt.chain) -> i32
  // CHECK-NEXT: %7 = tfrt.print.i32 %6, %arg1
  %c = tfrt.print.i32 %e, %ch
  // CHECK-NEXT: %8 = tfrt.merge.chains %7, %0 : !tfrt.chain, i32
  %d = tfrt.merge.chains %c, %a : !tfrt.chain, i32
  // CHECK-NEXT: %9:2 = tfrt.call @native(%6, %2) : (i32, f32) -> (i64, f32)
  %n:2 = tfrt.call @native(%e, %f) : (i32, f32) -> (i64, f32)
  // CHECK-NEXT: %10 = tfrt_dht.create_uninitialized_tensor.i32.2 [3, 2]
  %t = tfrt_dht.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]
  // CHECK-NEXT: %11 = tfrt_dht.fill_tensor_with_constant.i32 %10, %8 7
  %u = tfrt_dht.fill_tensor_with_constant.i32 %t, %d 7 : i32
  // CHECK-NEXT: %12 = tfrt_dht.set_tensor_with_constant_values.i32 %10, %11 [1 : i32, 2 : i32]
  %v = tfrt_dht.set_tensor_with_constant_values.i32 %t, %u [1 : i32, 2 : i32]
  // CHECK-NEXT: %13 = ts.build_shape [1, 57, 92]
  %w = ts.build_shape [1 : i64, 57 : i64, 92 : i64]
  // CHECK-NEXT: %14 = cpu.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
  %k = cpu.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  // CHECK-NEXT: tfrt.return %6, %12 : i32, !tfrt.chain
  tfrt.return %e, %v : i32, !tfrt.chain
}
