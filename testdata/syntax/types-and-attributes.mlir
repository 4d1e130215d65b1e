// Every builtin type and attribute reads and prints.
//
// RUN: ir-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect | ir-opt --allow-unregistered-dialect | FileCheck %s

!alias = !tfrt.chain
#one = 1 : i32
#map = affine_map<(d0, d1) -> (d0 + d1)>

// CHECK: "u.types"() {a = i1, b = si7, c = ui64, d = index, e = bf16, f = complex<f32>, g = tuple<i32, tuple<>>, h = (i32) -> (f32, f64)}
"u.types"() {a = i1, b = si7, c = ui64, d = index, e = bf16, f = complex<f32>, g = tuple<i32, tuple<>>, h = (i32) -> (f32, f64)} : () -> ()
// CHECK: "u.types"() {a = vector<2x[4]xf32>, b = tensor<2x?x0xi8>, c = tensor<*xf32>, d = tensor<2xi8, #d.enc<a>>, e = memref<4x?xf32, strided<[1, ?], offset: 2>, 3>, f = !d.t<a, ["x>"], (b) -> c>, g = !tfrt.chain, h = f8E4M3FN}
"u.types"() {a = vector<2x[4]xf32>, b = tensor<2x?x0xi8>, c = tensor<*xf32>, d = tensor<2xi8, #d.enc<a>>, e = memref<4x?xf32, strided<[1, ?], offset: 2>, 3>, f = !d.t<a, ["x>"], (b) -> c>, g = !alias, h = f8E4M3FN} : () -> ()
// CHECK: "u.numbers"() {a = 1 : i64, b = -1 : i32, c = 255 : ui8, d = true, e = 1.500000e+00 : f64, f = 0x7FC00000 : f32, g = 0.12345678901 : f64, h = 123456789012345678901234567890 : i128, i = 3.14159274 : f32}
"u.numbers"() {a = 1, b = 4294967295 : i32, c = 255 : ui8, d = 1 : i1, e = 1.5, f = 0x7FC00000 : f32, g = 0.12345678901, h = 123456789012345678901234567890 : i128, i = 3.14159274 : f32} : () -> ()
// CHECK: "u.rest"() {a = [1, 2 : i32, "s", unit], b = array<i32: 1, -2>, c = array<i1: true>, d = {x, y = 1 : i32}, e = @a::@"b c", f = #d.a<x> : i32, g = #map, h, i = #distinct}
"u.rest"() {a = [1, 2 : i32, "s", unit], b = array<i32: 1, -2>, c = array<i1: true>, d = {y = #one, x}, e = @a::@"b c", f = #d.a<x> : i32, g = #map, h, i = distinct[1]<2 : i32>} : () -> ()
// CHECK: "u.dense"() {a = dense<1> : tensor<2x2xi32>, b = dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>, c = dense<> : tensor<0xf32>, d = dense<[true, false]> : tensor<2xi1>, e = dense<[1, 2]> : tensor<2xi32>, f = dense<["a", "b"]> : tensor<2x!d.string>}
"u.dense"() {a = dense<1> : tensor<2x2xi32>, b = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>, c = dense<> : tensor<0xf32>, d = dense<[true, false]> : tensor<2xi1>, e = dense<"0x0100000002000000"> : tensor<2xi32>, f = dense<["a", "b"]> : tensor<2x!d.string>} : () -> ()
