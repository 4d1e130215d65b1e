// Locations as attributes: read, and printed as upstream mlir-opt 19 prints it.
//
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file --generic | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s

// CHECK: {{^}}#loc = loc("x"){{$}}
// CHECK: "t.x"() {a = #loc} : () -> (){{$}}
"t.x"() {a = loc("x")} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("x":1:2){{$}}
// CHECK: "t.x"() {a = #loc} : () -> (){{$}}
"t.x"() {a = loc("x":1:2)} : () -> ()

// -----

// CHECK: {{^}}#loc = loc(unknown){{$}}
// CHECK: "t.x"() {a = #loc} : () -> (){{$}}
"t.x"() {a = loc(unknown)} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: {{^}}#loc1 = loc("b"){{$}}
// CHECK: {{^}}#loc2 = loc(fused[#loc, #loc1]){{$}}
// CHECK: "t.x"() {a = #loc2} : () -> (){{$}}
"t.x"() {a = loc(fused["a", "b"])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: {{^}}#loc1 = loc(fused<1 : i64>[#loc]){{$}}
// CHECK: "t.x"() {a = #loc1} : () -> (){{$}}
"t.x"() {a = loc(fused<1>["a", unknown])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: "t.x"() {a = #loc} : () -> (){{$}}
"t.x"() {a = loc(fused["a"])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc(unknown){{$}}
// CHECK: "t.x"() {a = #loc} : () -> (){{$}}
"t.x"() {a = loc(fused[])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: "t.x"() {a = #loc} : () -> (){{$}}
"t.x"() {a = loc(fused["a", "a"])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: {{^}}#loc1 = loc("b"){{$}}
// CHECK: {{^}}#loc2 = loc("c"){{$}}
// CHECK: {{^}}#loc3 = loc(fused[#loc, #loc1, #loc2]){{$}}
// CHECK: "t.x"() {a = #loc3} : () -> (){{$}}
"t.x"() {a = loc(fused["a", fused["b", "c"]])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: {{^}}#loc1 = loc("b"){{$}}
// CHECK: {{^}}#loc2 = loc(callsite(#loc at #loc1)){{$}}
// CHECK: "t.x"() {a = #loc2} : () -> (){{$}}
"t.x"() {a = loc(callsite("a" at "b"))} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("c"){{$}}
// CHECK: {{^}}#loc1 = loc("b"(#loc)){{$}}
// CHECK: {{^}}#loc2 = loc("a"(#loc1)){{$}}
// CHECK: "t.x"() {a = #loc2} : () -> (){{$}}
"t.x"() {a = loc("a"("b"("c")))} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: "t.x"() {a = #loc} : () -> (){{$}}
"t.x"() {a = loc("a"(unknown))} : () -> ()

// -----

// CHECK: {{^}}#loc = loc(unknown){{$}}
// CHECK: {{^}}#loc1 = loc(fused<1 : i64>[#loc]){{$}}
// CHECK: "t.x"() {a = #loc1} : () -> (){{$}}
"t.x"() {a = loc(fused<1>[])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: {{^}}#loc1 = loc(fused<1 : i64>[#loc]){{$}}
// CHECK: "t.x"() {a = #loc1} : () -> (){{$}}
"t.x"() {a = loc(fused<1>["a"])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: {{^}}#loc1 = loc("b"){{$}}
// CHECK: {{^}}#loc2 = loc("c"){{$}}
// CHECK: {{^}}#loc3 = loc("d"){{$}}
// CHECK: {{^}}#loc4 = loc("e"){{$}}
// CHECK: {{^}}#loc5 = loc(fused<2 : i64>[#loc2]){{$}}
// CHECK: {{^}}#loc6 = loc(fused[#loc3, #loc4]){{$}}
// CHECK: {{^}}#loc7 = loc(fused<1 : i64>[#loc, #loc1, #loc5, #loc6]){{$}}
// CHECK: "t.x"() {a = #loc7} : () -> (){{$}}
"t.x"() {a = loc(fused<1>["a", fused<1>["b"], fused<2>["c"], fused["d", "e"]])} : () -> ()

// -----

// CHECK: {{^}}#loc = loc(unknown){{$}}
// CHECK: {{^}}#loc1 = loc("b"){{$}}
// CHECK: {{^}}#loc2 = loc(callsite(#loc at #loc1)){{$}}
// CHECK: "t.x"() {a = #loc2} : () -> (){{$}}
"t.x"() {a = loc(callsite(unknown at "b"))} : () -> ()
