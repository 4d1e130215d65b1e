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

// -----

// The places are numbers however many there are.

// CHECK: "t.x"() {a = sparse<{{\[\[}}0, 1], [1, 2]
// CHECK-SAME: [50, 51]], [0, 1,
"t.x"() {a = sparse<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 8], [8, 9], [9, 10], [10, 11], [11, 12], [12, 13], [13, 14], [14, 15], [15, 16], [16, 17], [17, 18], [18, 19], [19, 20], [20, 21], [21, 22], [22, 23], [23, 24], [24, 25], [25, 26], [26, 27], [27, 28], [28, 29], [29, 30], [30, 31], [31, 32], [32, 33], [33, 34], [34, 35], [35, 36], [36, 37], [37, 38], [38, 39], [39, 40], [40, 41], [41, 42], [42, 43], [43, 44], [44, 45], [45, 46], [46, 47], [47, 48], [48, 49], [49, 50], [50, 51]], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50]> : tensor<60x60xi8>} : () -> ()
