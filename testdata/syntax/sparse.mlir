// Sparse tensors: read, and printed as upstream mlir-opt 19 prints it.
//
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file --generic | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s

// CHECK: "t.x"() {a = sparse<0, 1> : tensor<3xi32>} : () -> (){{$}}
"t.x"() {a = sparse<0, 1> : tensor<3xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<0, 1> : tensor<3xi32>} : () -> (){{$}}
"t.x"() {a = sparse<[[0]], [1]> : tensor<3xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<{{\[\[}}0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0],[1,2]], [1,5]> : tensor<3x4xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<{{\[\[}}0, 0], [1, 2]], 5> : tensor<3x4xi32>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0],[1,2]], 5> : tensor<3x4xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<{{\[\[}}0, 0], [1, 2]], 5> : tensor<3x4xi32>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0],[1,2]], [5,5]> : tensor<3x4xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<> : tensor<3x4xi32>} : () -> (){{$}}
"t.x"() {a = sparse<> : tensor<3x4xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<0, 1> : tensor<3x4xi32>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0]], 1> : tensor<3x4xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<0, 1.500000e+00> : tensor<3x4xf32>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0]], [1.5]> : tensor<3x4xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<0, "a"> : tensor<3x4x!d.s>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0]], ["a"]> : tensor<3x4x!d.s>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<0, (1.000000e+00,2.000000e+00)> : tensor<3x4xcomplex<f32>>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0]], [(1.0,2.0)]> : tensor<3x4xcomplex<f32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<[0, 1], [1, 2]> : tensor<3xi32>} : () -> (){{$}}
"t.x"() {a = sparse<[0,1], [1,2]> : tensor<3xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<{{\[\[}}0], [1]], [1, 2]> : vector<3xi32>} : () -> (){{$}}
"t.x"() {a = sparse<[[0],[1]], [1,2]> : vector<3xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<{{\[\[}}0, 0], [1, 2]], [1, 2]> : tensor<3x4xi32>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0],[1,2]], "0x0100000002000000"> : tensor<3x4xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<{{\[\[}}0, 0], [1, 2]], [true, false]> : tensor<3x4xi1>} : () -> (){{$}}
"t.x"() {a = sparse<[[0,0],[1,2]], [true,false]> : tensor<3x4xi1>} : () -> ()

// -----

// CHECK: "t.x"() {a = sparse<0, 1> : tensor<1x1xi32>} : () -> (){{$}}
"t.x"() {a = sparse<0, 1> : tensor<1x1xi32>} : () -> ()
