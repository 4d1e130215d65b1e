// Strings, symbols, dictionaries and opaque attributes: read, and printed as upstream mlir-opt 19 prints it.
//
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file --generic | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s

// CHECK: "t.x"() {a = "a\0Ab\09\\\22\22\FFx"} : () -> (){{$}}
"t.x"() {a = "a\nb\t\\\"\22\FFx"} : () -> ()

// -----

// CHECK: "t.x"() {a = "\FF\00" : i32} : () -> (){{$}}
"t.x"() {a = "\FF\00" : i32} : () -> ()

// -----

// CHECK: "t.x"() {a = "x" : i32} : () -> (){{$}}
"t.x"() {a = "x" : i32} : () -> ()

// -----

// CHECK: "t.x"() {a = "x" : !d.t} : () -> (){{$}}
"t.x"() {a = "x" : !d.t} : () -> ()

// -----

// CHECK: "t.x"() {a = "\C3\A9\E6\BC\A2"} : () -> (){{$}}
"t.x"() {a = "é漢"} : () -> ()

// -----

// CHECK: "t.x"() {a = "A"} : () -> (){{$}}
"t.x"() {a = "\41"} : () -> ()

// -----

// CHECK: "t.x"() {a} : () -> (){{$}}
"t.x"() {a = unit} : () -> ()

// -----

// CHECK: "t.x"() {a = [unit, {a, b}]} : () -> (){{$}}
"t.x"() {a = [unit, {a, b = unit}]} : () -> ()

// -----

// CHECK: "t.x"() {a = {a = 2 : i64, b = 1 : i64}} : () -> (){{$}}
"t.x"() {a = {b = 1, a = 2}} : () -> ()

// -----

// CHECK: "t.x"() {a = #d.a} : () -> (){{$}}
"t.x"() {a = #d.a} : () -> ()

// -----

// CHECK: "t.x"() {a = #d.a<>} : () -> (){{$}}
"t.x"() {a = #d.a<>} : () -> ()

// -----

// CHECK: "t.x"() {a = #d<"a b">} : () -> (){{$}}
"t.x"() {a = #d<"a b">} : () -> ()

// -----

// CHECK: "t.x"() {a = #d<"a">} : () -> (){{$}}
"t.x"() {a = #d<"a">} : () -> ()

// -----

// CHECK: "t.x"() {a = #d<"a<x>">} : () -> (){{$}}
"t.x"() {a = #d<"a<x>">} : () -> ()

// -----

// CHECK: "t.x"() {a = #d.a : i32} : () -> (){{$}}
"t.x"() {a = #d<a> : i32} : () -> ()

// -----

// CHECK: "t.x"() {a = #d.a<x  y>} : () -> (){{$}}
"t.x"() {a = #d.a<x  y>} : () -> ()

// -----

// CHECK: "t.x"() {a = #d.a : i32} : () -> (){{$}}
"t.x"() {a = #d.a : i32} : () -> ()

// -----

// CHECK: "t.x"() {a = #d<"a"> : i32} : () -> (){{$}}
"t.x"() {a = #d<"a"> : i32} : () -> ()

// -----

// CHECK: "t.x"() {a = @a::@b::@"c d"} : () -> (){{$}}
"t.x"() {a = @a::@b::@"c d"} : () -> ()

// -----

// CHECK: "t.x"() {a = @a} : () -> (){{$}}
"t.x"() {a = @"a"} : () -> ()

// -----

// CHECK: "t.x"() {a = {"1" = 3 : i64, "a b" = 1 : i64, c = 2 : i64}} : () -> (){{$}}
"t.x"() {a = {"a b" = 1, "c" = 2, "1" = 3}} : () -> ()
