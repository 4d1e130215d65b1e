// Builtin types and opaque ones: read, and printed as upstream mlir-opt 19 prints it.
//
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file --generic | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s

// CHECK: "t.x"() {a = i0} : () -> (){{$}}
"t.x"() {a = i0} : () -> ()

// -----

// CHECK: "t.x"() {a = i1} : () -> (){{$}}
"t.x"() {a = i1} : () -> ()

// -----

// CHECK: "t.x"() {a = i16777215} : () -> (){{$}}
"t.x"() {a = i16777215} : () -> ()

// -----

// CHECK: "t.x"() {a = si0} : () -> (){{$}}
"t.x"() {a = si0} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, 0>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32, 1>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, 1>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32, 1 : i32>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, 1 : i32>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, 0 : i32>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32, "gpu">} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, "gpu">} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32, {a = 1 : i64}>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, {a = 1}>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32, strided<[3, 1]>>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, strided<[3, 1]>>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32, strided<[3, 1], offset: ?>, 2>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, strided<[3, 1], offset: ?>, 2>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<f32>} : () -> (){{$}}
"t.x"() {a = memref<f32>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<f32, strided<[]>>} : () -> (){{$}}
"t.x"() {a = memref<f32, strided<[]>>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<*xf32>} : () -> (){{$}}
"t.x"() {a = memref<*xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<*xf32, 1>} : () -> (){{$}}
"t.x"() {a = memref<*xf32, 1>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<*xf32>} : () -> (){{$}}
"t.x"() {a = memref<*xf32, 0>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2xmemref<2xf32>>} : () -> (){{$}}
"t.x"() {a = memref<2xmemref<2xf32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2xvector<2xf32>>} : () -> (){{$}}
"t.x"() {a = memref<2xvector<2xf32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2xcomplex<f32>>} : () -> (){{$}}
"t.x"() {a = memref<2xcomplex<f32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2xindex>} : () -> (){{$}}
"t.x"() {a = memref<2xindex>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<0xf32>} : () -> (){{$}}
"t.x"() {a = memref<0xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = vector<f32>} : () -> (){{$}}
"t.x"() {a = vector<f32>} : () -> ()

// -----

// CHECK: "t.x"() {a = vector<2xindex>} : () -> (){{$}}
"t.x"() {a = vector<2xindex>} : () -> ()

// -----

// CHECK: "t.x"() {a = vector<[4]x[8]xf32>} : () -> (){{$}}
"t.x"() {a = vector<[4]x[8]xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = tensor<2xf32, 1 : i64>} : () -> (){{$}}
"t.x"() {a = tensor<2xf32, 1>} : () -> ()

// -----

// CHECK: "t.x"() {a = tensor<2xf32, unit>} : () -> (){{$}}
"t.x"() {a = tensor<2xf32, unit>} : () -> ()

// -----

// CHECK: "t.x"() {a = tensor<2xvector<2xf32>>} : () -> (){{$}}
"t.x"() {a = tensor<2xvector<2xf32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = tensor<0x1xf32>} : () -> (){{$}}
"t.x"() {a = tensor<0x1xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = tensor<0x10xf32>} : () -> (){{$}}
"t.x"() {a = tensor<0x10xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = tensor<9223372036854775807xf32>} : () -> (){{$}}
"t.x"() {a = tensor<9223372036854775807xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = complex<i32>} : () -> (){{$}}
"t.x"() {a = complex<i32>} : () -> ()

// -----

// CHECK: "t.x"() {a = tuple<>} : () -> (){{$}}
"t.x"() {a = tuple<>} : () -> ()

// -----

// CHECK: "t.x"() {a = tuple<i32, (i32) -> ()>} : () -> (){{$}}
"t.x"() {a = tuple<i32, (i32) -> ()>} : () -> ()

// -----

// CHECK: {{^}}!tuple = tuple<i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1, i1>{{$}}
// CHECK: "t.x"() {a = !tuple} : () -> (){{$}}
"t.x"() {a = tuple<i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1,i1>} : () -> ()

// -----

// CHECK: "t.x"() {a = () -> (() -> ())} : () -> (){{$}}
"t.x"() {a = () -> (() -> ())} : () -> ()

// -----

// CHECK: "t.x"() {a = (() -> ()) -> ()} : () -> (){{$}}
"t.x"() {a = (() -> ()) -> ()} : () -> ()

// -----

// CHECK: "t.x"() {a = none} : () -> (){{$}}
"t.x"() {a = none} : () -> ()

// -----

// CHECK: "t.x"() {a = !d.t} : () -> (){{$}}
"t.x"() {a = !d.t} : () -> ()

// -----

// CHECK: "t.x"() {a = !d.t<>} : () -> (){{$}}
"t.x"() {a = !d.t<>} : () -> ()

// -----

// CHECK: "t.x"() {a = !d.t<a b  c, [x]>} : () -> (){{$}}
"t.x"() {a = !d.t<a b  c, [x]>} : () -> ()

// -----

// CHECK: "t.x"() {a = !d<"a b">} : () -> (){{$}}
"t.x"() {a = !d<"a b">} : () -> ()

// -----

// CHECK: "t.x"() {a = !d.a} : () -> (){{$}}
"t.x"() {a = !d<a>} : () -> ()

// -----

// CHECK: "t.x"() {a = !d<"t">} : () -> (){{$}}
"t.x"() {a = !d<"t">} : () -> ()

// -----

// CHECK: "t.x"() {a = !d<"t<x>">} : () -> (){{$}}
"t.x"() {a = !d<"t<x>">} : () -> ()

// -----

// CHECK: "t.x"() {a = !d.t<x>} : () -> (){{$}}
"t.x"() {a = !d<t<x>>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2xf32, strided<[1]>>} : () -> (){{$}}
"t.x"() {a = memref<2xf32, strided<[1], offset: 0>>} : () -> ()

// -----

// CHECK: "t.x"() {a = vector<2x3x[4]xi1>} : () -> (){{$}}
"t.x"() {a = vector<2x3x[4]xi1>} : () -> ()
