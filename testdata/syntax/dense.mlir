// Dense tensors and resources: read, and printed as upstream mlir-opt 19 prints it.
//
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --split-input-file --generic | ir-opt --allow-unregistered-dialect --split-input-file | FileCheck %s

// CHECK: "t.x"() {a = dense<1> : tensor<0xi32>} : () -> (){{$}}
"t.x"() {a = dense<1> : tensor<0xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<> : tensor<0xi32>} : () -> (){{$}}
"t.x"() {a = dense<> : tensor<0xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<> : tensor<0xi32>} : () -> (){{$}}
"t.x"() {a = dense<[]> : tensor<0xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<> : tensor<2x0xi32>} : () -> (){{$}}
"t.x"() {a = dense<> : tensor<2x0xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<> : tensor<2x0xi32>} : () -> (){{$}}
"t.x"() {a = dense<[[],[]]> : tensor<2x0xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<i32>} : () -> (){{$}}
"t.x"() {a = dense<1> : tensor<i32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<1xi32>} : () -> (){{$}}
"t.x"() {a = dense<[1]> : tensor<1xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<2xi32>} : () -> (){{$}}
"t.x"() {a = dense<[1, 1]> : tensor<2xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<2xi32>} : () -> (){{$}}
"t.x"() {a = dense<"0x01000000"> : tensor<2xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<2xi32>} : () -> (){{$}}
"t.x"() {a = dense<"0x0100000001000000"> : tensor<2xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<> : tensor<0xi8>} : () -> (){{$}}
"t.x"() {a = dense<"0x"> : tensor<0xi8>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<"abc"> : tensor<2x!d.s>} : () -> (){{$}}
"t.x"() {a = dense<"abc"> : tensor<2x!d.s>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<["a", "b"]> : tensor<2x!d.s>} : () -> (){{$}}
"t.x"() {a = dense<["a","b"]> : tensor<2x!d.s>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<"a"> : tensor<2x!d.s>} : () -> (){{$}}
"t.x"() {a = dense<["a","a"]> : tensor<2x!d.s>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<"a"> : tensor<0x!d.s>} : () -> (){{$}}
"t.x"() {a = dense<"a"> : tensor<0x!d.s>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<> : tensor<0x!d.s>} : () -> (){{$}}
"t.x"() {a = dense<> : tensor<0x!d.s>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<true> : tensor<2xi1>} : () -> (){{$}}
"t.x"() {a = dense<true> : tensor<2xi1>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[true, false]> : tensor<2xi1>} : () -> (){{$}}
"t.x"() {a = dense<[true,false]> : tensor<2xi1>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[true, false]> : tensor<2xi1>} : () -> (){{$}}
"t.x"() {a = dense<[1,0]> : tensor<2xi1>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<true> : tensor<2xi1>} : () -> (){{$}}
"t.x"() {a = dense<-1> : tensor<2xi1>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[true, false, false, false, false, false, false, false]> : tensor<8xi1>} : () -> (){{$}}
"t.x"() {a = dense<"0x01"> : tensor<8xi1>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<true> : tensor<9xi1>} : () -> (){{$}}
"t.x"() {a = dense<"0xFF"> : tensor<9xi1>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[true, true, true, true, false, false, false, false, true]> : tensor<9xi1>} : () -> (){{$}}
"t.x"() {a = dense<"0x0F01"> : tensor<9xi1>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[true, false, true, false]> : tensor<4xui1>} : () -> (){{$}}
"t.x"() {a = dense<[1, 0, 1, 0]> : tensor<4xui1>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<2xindex>} : () -> (){{$}}
"t.x"() {a = dense<1> : tensor<2xindex>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<-1> : tensor<2xi8>} : () -> (){{$}}
"t.x"() {a = dense<255> : tensor<2xi8>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<-1> : tensor<2xi8>} : () -> (){{$}}
"t.x"() {a = dense<0xFF> : tensor<2xi8>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<0x7FC00000> : tensor<2xf32>} : () -> (){{$}}
"t.x"() {a = dense<0x7FC00000> : tensor<2xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[0x7FC00000, 1.000000e+00, -1.500000e+00]> : tensor<3xf32>} : () -> (){{$}}
"t.x"() {a = dense<[0x7FC00000, 1.0, -1.5]> : tensor<3xf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<(1,2)> : tensor<2xcomplex<i32>>} : () -> (){{$}}
"t.x"() {a = dense<(1,2)> : tensor<2xcomplex<i32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<(1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f32>>} : () -> (){{$}}
"t.x"() {a = dense<(1.0,2.0)> : tensor<2xcomplex<f32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[(1.000000e+00,2.000000e+00), (1.000000e+00,3.000000e+00)]> : tensor<2xcomplex<f32>>} : () -> (){{$}}
"t.x"() {a = dense<[(1.0,2.0),(1.0,3.0)]> : tensor<2xcomplex<f32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<(-1.000000e+00,2.000000e+00)> : tensor<2xcomplex<f32>>} : () -> (){{$}}
"t.x"() {a = dense<(-1.0,2.0)> : tensor<2xcomplex<f32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1.10000000000000008882> : tensor<2xf80>} : () -> (){{$}}
"t.x"() {a = dense<1.1> : tensor<2xf80>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1.10000000000000008881784197001252323, 2.20000000000000017763568394002504647]> : tensor<2xf128>} : () -> (){{$}}
"t.x"() {a = dense<[1.1,2.2]> : tensor<2xf128>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1.125000e+00, 2.250000e+00]> : tensor<2xf8E4M3FN>} : () -> (){{$}}
"t.x"() {a = dense<[1.1,2.2]> : tensor<2xf8E4M3FN>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1.099610e+00, 2.199220e+00]> : tensor<2xtf32>} : () -> (){{$}}
"t.x"() {a = dense<[1.1,2.2]> : tensor<2xtf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1, 2]> : tensor<2xi128>} : () -> (){{$}}
"t.x"() {a = dense<[1,2]> : tensor<2xi128>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1, -2]> : tensor<2xi129>} : () -> (){{$}}
"t.x"() {a = dense<[1,-2]> : tensor<2xi129>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1, -2]> : tensor<2xi4>} : () -> (){{$}}
"t.x"() {a = dense<[1,-2]> : tensor<2xi4>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<-1> : tensor<2xi4>} : () -> (){{$}}
"t.x"() {a = dense<"0x0F">  : tensor<2xi4>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[-1, 1]> : tensor<2xi4>} : () -> (){{$}}
"t.x"() {a = dense<"0x0F01">  : tensor<2xi4>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1, -2]> : vector<2xi4>} : () -> (){{$}}
"t.x"() {a = dense<[1,-2]> : vector<2xi4>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : vector<[2]xi4>} : () -> (){{$}}
"t.x"() {a = dense<1> : vector<[2]xi4>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1, 2]> : vector<[2]xi4>} : () -> (){{$}}
"t.x"() {a = dense<[1,2]> : vector<[2]xi4>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : vector<i4>} : () -> (){{$}}
"t.x"() {a = dense<1> : vector<i4>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : memref<2xi32>} : () -> (){{$}}
"t.x"() {a = dense<1> : memref<2xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<1000000000000xi32>} : () -> (){{$}}
"t.x"() {a = dense<1> : tensor<1000000000000xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<4294967296x4294967296x4294967296xi32>} : () -> (){{$}}
"t.x"() {a = dense<1> : tensor<4294967296x4294967296x4294967296xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1> : tensor<2xi32, #d.e>} : () -> (){{$}}
"t.x"() {a = dense<1> : tensor<2xi32, #d.e>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<0.000000e+00> : tensor<2xf8E5M2>} : () -> (){{$}}
"t.x"() {a = dense<"0x00"> : tensor<2xf8E5M2>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf80>} : () -> (){{$}}
"t.x"() {a = dense<[1.0,2.0]> : tensor<2xf80>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1.084200e-19> : tensor<1xtf32>} : () -> (){{$}}
"t.x"() {a = dense<"0x00000100"> : tensor<1xtf32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<-65536> : tensor<1xi17>} : () -> (){{$}}
"t.x"() {a = dense<"0x000001"> : tensor<1xi17>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense_resource<k> : tensor<2xi32>} : () -> (){{$}}
"t.x"() {a = dense_resource<k> : tensor<2xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense_resource<k> : vector<2xi32>} : () -> (){{$}}
"t.x"() {a = dense_resource<k> : vector<2xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense_resource<k> : tensor<?xi32>} : () -> (){{$}}
"t.x"() {a = dense_resource<k> : tensor<?xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<> : tensor<1x0xi32>} : () -> (){{$}}
"t.x"() {a = dense<[[]]> : tensor<1x0xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<"x"> : tensor<2xvector<2xi32>>} : () -> (){{$}}
"t.x"() {a = dense<"x"> : tensor<2xvector<2xi32>>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<[1, 2]> : tensor<2xindex>} : () -> (){{$}}
"t.x"() {a = dense<[0x1, 0x2]> : tensor<2xindex>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<127> : tensor<2xsi8>} : () -> (){{$}}
"t.x"() {a = dense<0x7F> : tensor<2xsi8>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<-1> : tensor<2xi128>} : () -> (){{$}}
"t.x"() {a = dense<340282366920938463463374607431768211455> : tensor<2xi128>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1065353216> : tensor<2xi32>} : () -> (){{$}}
"t.x"() {a = dense<0x3F800000> : tensor<2xi32>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense<1.000000e+00> : tensor<2xf80>} : () -> (){{$}}
"t.x"() {a = dense<0x3FFF8000000000000000> : tensor<2xf80>} : () -> ()

// -----

// CHECK: "t.x"() {a = dense_resource<k> : tensor<2x!d.t>} : () -> (){{$}}
"t.x"() {a = dense_resource<k> : tensor<2x!d.t>} : () -> ()
