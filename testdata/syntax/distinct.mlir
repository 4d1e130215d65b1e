// Distinct attributes: read, and printed as upstream mlir-opt 19 prints it.
//
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file --generic | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s

// CHECK: {{^}}#distinct = distinct[0]<1 : i32>{{$}}
// CHECK: "t.x"() {a = #distinct} : () -> (){{$}}
"t.x"() {a = distinct[5]<1 : i32>} : () -> ()

// -----

// CHECK: "t.x"() {a = distinct[0]<>} : () -> (){{$}}
"t.x"() {a = distinct[0]<>} : () -> ()

// -----

// CHECK: "t.x"() {a = distinct[0]<>} : () -> (){{$}}
"t.x"() {a = distinct[0]<unit>} : () -> ()

// -----

// CHECK: {{^}}#distinct = distinct[0]<1 : i32>{{$}}
// CHECK: {{^}}#distinct1 = distinct[1]<2 : i32>{{$}}
// CHECK: "t.x"() {a = [#distinct, #distinct1, #distinct]} : () -> (){{$}}
"t.x"() {a = [distinct[3]<1 : i32>, distinct[1]<2 : i32>, distinct[3]<1 : i32>]} : () -> ()

// -----

// CHECK: "t.x"() {a = [distinct[0]<>, distinct[1]<>, distinct[0]<>]} : () -> (){{$}}
"t.x"() {a = [distinct[0]<>, distinct[1]<>, distinct[0]<>]} : () -> ()
