// Affine maps, integer sets and strided layouts: read, and printed as upstream mlir-opt 19 prints it.
//
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file --generic | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s

// CHECK: {{^}}#map = affine_map<() -> ()>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<() -> ()>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<() -> (0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<() -> (0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0, d1)[s0] -> (d0 + d1 * s0, d1 - d0, -d0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(i, j)[s] -> (i + j * s, j - i, -i)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0, d1) -> (d0 + d1 + 1, d0 + 1, d0 - 1, d0 * 2 + 3, (d0 + 1) * 2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0, d1) -> (d0 + d1 + 1, 1 + d0, d0 - 1, d0 * 2 + 3, (d0 + 1) * 2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0, d1) -> (d0 mod 3, d0 floordiv 4, d0 ceildiv 5, (d0 + d1) mod 3)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0, d1) -> (d0 mod 3, d0 floordiv 4, d0 ceildiv 5, (d0 + d1) mod 3)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 * 2, 0, 0, d0 * 2, (d0 * 6) mod 4)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> ((d0 * 4) floordiv 2, (d0 * 4) mod 4, (d0 * 4) mod 2, (d0*4) ceildiv 2, (d0*6) mod 4)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (0, d0 * 2, 0, d0, d0, 0, d0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 - d0, d0 + d0, d0 * 0, d0 * 1, d0 floordiv 1, d0 mod 1, d0 ceildiv 1)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0)[s0] -> (d0 + s0, d0 * s0, d0 * s0, d0 floordiv s0, d0 mod s0, d0 ceildiv s0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0)[s0] -> (s0 + d0, s0 * d0, d0 * s0, d0 floordiv s0, d0 mod s0, d0 ceildiv s0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 mod 0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 mod 0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 floordiv 0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 floordiv 0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 mod -1)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 mod -1)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 floordiv -2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 floordiv -2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<() -> (1, 2, 3, -4, 4, -3)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<() -> (7 mod 3, -7 mod 3, 7 floordiv 2, -7 floordiv 2, 7 ceildiv 2, -7 ceildiv 2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<() -> (7 floordiv 0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<() -> (7 floordiv 0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 - (d0 + 1), -(d0 + 1), -d0, -d0, d0 * -2, d0 - 3)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 - (d0 + 1), -(d0 + 1), d0 - 2 * d0, d0 * -1, d0 * -2, d0 + -3)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0, d1) -> (d0 - d1 * 2, d0 - d1, d0 - (d1 - 1), d0 + (d1 mod 2) * 4 - 5)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0, d1) -> (d0 - d1 * 2, d0 + d1 * -1, d0 - (d1 - 1), d0 + (d1 mod 2) * 4 - 5)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0)[s0] -> (d0 + s0 + 1, d0 + s0 + 1, s0 * 6, (s0 + 1) * (s0 + 2))>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0)[s0] -> (d0 + s0 + 1, s0 + 1 + d0, s0 * 2 * 3, (s0 + 1) * (s0 + 2))>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0)[s0, s1] -> (d0 * (s0 * s1), (d0 * s0) * s1, s1 * s0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0)[s0, s1] -> ((s0 * s1) * d0, d0 * s0 * s1, s1 * s0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 mod 3, d0 mod 3, d0 mod 4, d0 mod 4)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 mod 3 mod 3, d0 mod 6 mod 3, d0 - (d0 floordiv 4) * 4, d0 + (d0 floordiv 4) * -4)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0, d1) -> ((d0 floordiv 2) floordiv 3, d0 + d1 floordiv 4, d1 mod 4, 1, d0 + 2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0, d1) -> (d0 floordiv 2 floordiv 3, (d0 * 4 + d1) floordiv 4, (d0 * 4 + d1) mod 4, (d0 * 4 + 1) mod 4, (d0*4+8) floordiv 4)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0, d1) -> ((d0 + d1) * 2 - (d0 - d1) floordiv 3, ((d0 + 1) mod 5) * 2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0, d1) -> ((d0 + d1) * 2 - (d0 - d1) floordiv 3, (d0 + 1) mod 5 * 2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> ((d0 mod 2) * 3 + 1, (d0 mod 2) * 2, -(d0 mod 2), (-d0) mod 2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 mod 2 * 3 + 1, 2 * (d0 mod 2), -(d0 mod 2), - d0 mod 2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (9223372036854775807)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (9223372036854775807)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (9223372036854775807 + 1)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (9223372036854775807 + 1)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (9223372036854775807 * 2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (9223372036854775807 * 2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 * -2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (d0 * 9223372036854775807 * 2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0)[s0] -> (d0 * (s0 + 1), (d0 + 1) * s0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0)[s0] -> (d0 * (s0 + 1), (d0 + 1) * s0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0)[] -> (d0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (16)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (0x10)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> (--d0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(mod) -> (mod)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(i32) -> (i32)>} : () -> ()

// -----

// CHECK: {{^}}#set = affine_set<(d0) : (d0 >= 0)>{{$}}
// CHECK: "t.x"() {a = #set} : () -> (){{$}}
"t.x"() {a = affine_set<(d0) : (d0 >= 0)>} : () -> ()

// -----

// CHECK: {{^}}#set = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d0 - 3 == 0)>{{$}}
// CHECK: "t.x"() {a = #set} : () -> (){{$}}
"t.x"() {a = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d0 == 3)>} : () -> ()

// -----

// CHECK: {{^}}#set = affine_set<(d0) : (-d0 + 5 >= 0, d0 - 2 >= 0, d0 - 3 == 0)>{{$}}
// CHECK: "t.x"() {a = #set} : () -> (){{$}}
"t.x"() {a = affine_set<(d0) : (d0 <= 5, d0 >= 2, d0 - 1 == 2)>} : () -> ()

// -----

// CHECK: {{^}}#set = affine_set<(d0) : (1 == 0)>{{$}}
// CHECK: "t.x"() {a = #set} : () -> (){{$}}
"t.x"() {a = affine_set<(d0) : (1 == 0)>} : () -> ()

// -----

// CHECK: {{^}}#set = affine_set<(d0) : (0 == 0)>{{$}}
// CHECK: "t.x"() {a = #set} : () -> (){{$}}
"t.x"() {a = affine_set<(d0) : ()>} : () -> ()

// -----

// CHECK: {{^}}#set = affine_set<() : (0 == 0)>{{$}}
// CHECK: "t.x"() {a = #set} : () -> (){{$}}
"t.x"() {a = affine_set<() : ()>} : () -> ()

// -----

// CHECK: {{^}}#set = affine_set<(d0)[s0] : (-d0 + s0 >= 0, d0 - s0 == 0)>{{$}}
// CHECK: "t.x"() {a = #set} : () -> (){{$}}
"t.x"() {a = affine_set<(d0)[s0] : (s0 >= d0, d0 == s0)>} : () -> ()

// -----

// CHECK: {{^}}#set = affine_set<(d0, d1) : (d0 mod 2 == 0)>{{$}}
// CHECK: "t.x"() {a = #set} : () -> (){{$}}
"t.x"() {a = affine_set<(d0, d1) : (d0 mod 2 == 0)>} : () -> ()

// -----

// CHECK: "t.x"() {a = strided<[1]>} : () -> (){{$}}
"t.x"() {a = strided<[1]>} : () -> ()

// -----

// CHECK: "t.x"() {a = strided<[]>} : () -> (){{$}}
"t.x"() {a = strided<[]>} : () -> ()

// -----

// CHECK: "t.x"() {a = strided<[1, ?]>} : () -> (){{$}}
"t.x"() {a = strided<[1, ?]>} : () -> ()

// -----

// CHECK: "t.x"() {a = strided<[1, ?], offset: ?>} : () -> (){{$}}
"t.x"() {a = strided<[1, ?], offset: ?>} : () -> ()

// -----

// CHECK: "t.x"() {a = strided<[1]>} : () -> (){{$}}
"t.x"() {a = strided<[1], offset: 0>} : () -> ()

// -----

// CHECK: "t.x"() {a = strided<[-1], offset: -2>} : () -> (){{$}}
"t.x"() {a = strided<[-1], offset: -2>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, affine_map<(d0, d1) -> (d0, d1)>>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0, d1) -> (d1, d0)>{{$}}
// CHECK: "t.x"() {a = memref<2x3xf32, #map>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, affine_map<(d0, d1) -> (d1, d0)>>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2x3xf32, 1>} : () -> (){{$}}
"t.x"() {a = memref<2x3xf32, affine_map<(d0, d1) -> (d0, d1)>, 1>} : () -> ()

// -----

// CHECK: "t.x"() {a = memref<2xf32>} : () -> (){{$}}
"t.x"() {a = memref<2xf32, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0)>{{$}}
// CHECK: {{^}}#map1 = affine_map<(d0) -> (d0 + 1)>{{$}}
// CHECK: "t.x"() {a = [#map, [#map1, #map]]} : () -> (){{$}}
"t.x"() {a = [affine_map<(d0) -> (d0)>, [affine_map<(d0) -> (d0 + 1)>, affine_map<(d0) -> (d0)>]]} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<() -> (-4, -3, 3, 7 mod -2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<() -> (7 floordiv -2, 7 ceildiv -2, -7 floordiv -2, 7 mod -2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0 * -2, -d0, d0 floordiv -1, 0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> ((d0 * 4) floordiv -2, (d0 * 4) ceildiv -4, d0 floordiv -1, (d0 * -4) mod 2)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (-d0 - 2)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0) -> ((d0 * 4 + 8) floordiv -4)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0)[s0] -> (d0 mod s0, d0 mod s0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0)[s0] -> (d0 - s0 * (d0 floordiv s0), d0 - (d0 floordiv s0) * s0)>} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0, d1)[s0] -> (d0 - (d1 + s0) * 3, d0 * 4, d0 * s0 + d0, d0, d0)>{{$}}
// CHECK: "t.x"() {a = #map} : () -> (){{$}}
"t.x"() {a = affine_map<(d0, d1)[s0] -> (d0 - (d1 + s0) * 3, d0 * 3 + d0, d0 * s0 + d0, d0 + 0, 0 + d0)>} : () -> ()

// -----

// CHECK: {{^}}#loc = loc("a"){{$}}
// CHECK: {{^}}#map = affine_map<(d0) -> (d0)>{{$}}
// CHECK: {{^}}#loc1 = loc(fused<#map>[#loc]){{$}}
// CHECK: "t.x"() {a = #loc1} : () -> (){{$}}
"t.x"() {a = loc(fused<affine_map<(d0) -> (d0)>>["a"])} : () -> ()

// -----

// CHECK: {{^}}#map = affine_map<(d0) -> (d0)>{{$}}
// CHECK: {{^}}#distinct = distinct[0]<#map>{{$}}
// CHECK: "t.x"() {a = #distinct} : () -> (){{$}}
"t.x"() {a = distinct[1]<affine_map<(d0) -> (d0)>>} : () -> ()
