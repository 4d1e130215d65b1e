// Constants computed as upstream computes them, and casts.
//
// RUN: ir-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @casts(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 3 : i32
// CHECK: %[[V1:[^ :,#]+]] = arith.extsi %arg0 : i8 to i32
// CHECK: %[[V2:[^ :,#]+]] = arith.extui %arg0 : i8 to i32
// CHECK: %[[V3:[^ :,#]+]] = arith.extui %arg0 : i8 to i16
// CHECK: %[[V4:[^ :,#]+]] = arith.trunci %arg1 : i32 to i16
// CHECK: %[[V5:[^ :,#]+]] = arith.index_cast %arg1 : i32 to index
// CHECK: %[[V6:[^ :,#]+]] = arith.shrui %arg1, %[[V0]] : i32
// CHECK: %[[V7:[^ :,#]+]] = arith.trunci %[[V6]] : i32 to i16
// CHECK: tfrt.return %[[V1]], %[[V2]], %arg0, %[[V3]], %[[V4]], %arg1, %arg3, %[[V5]], %[[V7]] : i32, i32, i8, i16, i16, i32, i64, index, i16
func.func @casts(%x: i8, %y: i32, %i: index, %l: i64) -> (i32, i32, i8, i16, i16, i32, i64, index, i16) {
  %a0 = arith.extsi %x : i8 to i16
  %a = arith.extsi %a0 : i16 to i32
  %b0 = arith.extui %x : i8 to i16
  %b = arith.extsi %b0 : i16 to i32
  %c0 = arith.extui %x : i8 to i64
  %c = arith.trunci %c0 : i64 to i8
  %d = arith.trunci %c0 : i64 to i16
  %e0 = arith.extsi %y : i32 to i64
  %e = arith.trunci %e0 : i64 to i16
  %f0 = arith.bitcast %y : i32 to f32
  %f = arith.bitcast %f0 : f32 to i32
  %g0 = arith.index_cast %l : i64 to index
  %g = arith.index_cast %g0 : index to i64
  %h0 = arith.extsi %y : i32 to i64
  %h = arith.index_cast %h0 : i64 to index
  %c3 = arith.constant 3 : i32
  %s = arith.shrsi %y, %c3 : i32
  %j = arith.trunci %s : i32 to i16
  tfrt.return %a, %b, %c, %d, %e, %f, %g, %h, %j : i32, i32, i8, i16, i16, i32, i64, index, i16
}

// CHECK-LABEL: func.func @floats(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant 0.666666686 : f32
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[V3:[^ :,#]+]] = arith.addf %arg0, %[[V2]] : f32
// CHECK: %[[V4:[^ :,#]+]] = arith.mulf %arg0, %arg1 : f32
// CHECK: %[[V5:[^ :,#]+]] = arith.divf %arg0, %arg1 : f32
// CHECK: tfrt.return %[[V3]], %arg0, %arg0, %arg0, %arg0, %arg0, %[[V4]], %[[V5]], %[[V1]], %[[V0]] : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
func.func @floats(%x: f32, %y: f32) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) {
  %z = arith.constant 0.0 : f32
  %nz = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %a = arith.addf %x, %z : f32
  %b = arith.addf %x, %nz : f32
  %c = arith.subf %x, %z : f32
  %d = arith.mulf %one, %x : f32
  %e = arith.divf %x, %one : f32
  %n = arith.negf %x : f32
  %f = arith.negf %n : f32
  %o = arith.negf %y : f32
  %g = arith.mulf %n, %o : f32
  %h = arith.divf %n, %o : f32
  %i = arith.divf %two, %three : f32
  %j = arith.remf %three, %two : f32
  tfrt.return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
}

// CHECK-LABEL: func.func @fconst(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant -2.14748365E+9 : f32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant -3 : i32
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant 3.000000e+02 : f32
// CHECK-DAG: %[[V3:[^ :,#]+]] = arith.constant 1.000000e-01 : f64
// CHECK-DAG: %[[V4:[^ :,#]+]] = arith.constant -3.750000e+00 : f32
// CHECK-DAG: %[[V5:[^ :,#]+]] = arith.constant 0x7FC00001 : f32
// CHECK-DAG: %[[V6:[^ :,#]+]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG: %[[V7:[^ :,#]+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[V8:[^ :,#]+]] = arith.constant true
// CHECK-DAG: %[[V9:[^ :,#]+]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[V10:[^ :,#]+]] = arith.constant -0.000000e+00 : f32
// CHECK-DAG: %[[V11:[^ :,#]+]] = arith.constant -3.750000e+00 : f64
// CHECK: %[[V12:[^ :,#]+]] = arith.truncf %[[V3]] : f64 to f32
// CHECK: %[[V13:[^ :,#]+]] = arith.fptosi %[[V2]] : f32 to i8
// CHECK: tfrt.return %[[V5]], %[[V6]], %[[V7]], %[[V7]], %[[V4]], %[[V5]], %[[V8]], %[[V8]], %[[V9]], %[[V10]], %[[V11]], %[[V12]], %[[V1]], %[[V13]], %[[V0]] : f32, f32, f32, f32, f32, f32, i1, i1, f32, f32, f64, f32, i32, i8, f32
func.func @fconst() -> (f32, f32, f32, f32, f32, f32, i1, i1, f32, f32, f64, f32, i32, i8, f32) {
  %nan = arith.constant 0x7FC00001 : f32
  %inf = arith.constant 0x7F800000 : f32
  %z = arith.constant 0.0 : f32
  %nz = arith.constant -0.0 : f32
  %x = arith.constant -3.75 : f32
  %a = arith.addf %x, %nan : f32
  %b = arith.subf %inf, %inf : f32
  %c = arith.maximumf %z, %nz : f32
  %d = arith.maxnumf %nz, %z : f32
  %e = arith.maxnumf %x, %nan : f32
  %f = arith.minimumf %nan, %x : f32
  %g = arith.cmpf une, %x, %nan : f32
  %h = arith.cmpf olt, %x, %z : f32
  %i = arith.divf %x, %z : f32
  %j = arith.minnumf %nz, %z : f32
  %k = arith.extf %x : f32 to f64
  %big = arith.constant 0.1 : f64
  %l = arith.truncf %big : f64 to f32
  %m = arith.fptosi %x : f32 to i32
  %v = arith.constant 300.0 : f32
  %n = arith.fptosi %v : f32 to i8
  %mi = arith.constant -2147483647 : i32
  %o = arith.sitofp %mi : i32 to f32
  tfrt.return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l, %m, %n, %o : f32, f32, f32, f32, f32, f32, i1, i1, f32, f32, f64, f32, i32, i8, f32
}

// CHECK-LABEL: func.func @iconst(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 1 : i32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant 1073741822 : i32
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant -170141183460469231731687303715884105728 : i128
// CHECK-DAG: %[[V3:[^ :,#]+]] = arith.constant false
// CHECK-DAG: %[[V4:[^ :,#]+]] = arith.constant -2 : i8
// CHECK-DAG: %[[V5:[^ :,#]+]] = arith.constant 1 : i8
// CHECK-DAG: %[[V6:[^ :,#]+]] = arith.constant 0 : i8
// CHECK-DAG: %[[V7:[^ :,#]+]] = arith.constant -7 : i32
// CHECK-DAG: %[[V8:[^ :,#]+]] = arith.constant 0 : i32
// CHECK-DAG: %[[V9:[^ :,#]+]] = arith.constant 40 : i32
// CHECK-DAG: %[[V10:[^ :,#]+]] = arith.constant -128 : i8
// CHECK-DAG: %[[V11:[^ :,#]+]] = arith.constant -1 : i8
// CHECK-DAG: %[[V12:[^ :,#]+]] = arith.constant 127 : i8
// CHECK-DAG: %[[V13:[^ :,#]+]] = arith.constant true
// CHECK-DAG: %[[V14:[^ :,#]+]] = arith.constant -3 : i32
// CHECK-DAG: %[[V15:[^ :,#]+]] = arith.constant -4 : i32
// CHECK-DAG: %[[V16:[^ :,#]+]] = arith.constant -1 : i32
// CHECK: %[[V17:[^ :,#]+]] = arith.divsi %[[V7]], %[[V8]] : i32
// CHECK: %[[V18:[^ :,#]+]] = arith.divsi %[[V10]], %[[V11]] : i8
// CHECK: %[[V19:[^ :,#]+]] = arith.shli %[[V7]], %[[V9]] : i32
// CHECK: %[[V20:[^ :,#]+]] = arith.shrsi %[[V10]], %[[V12]] : i8
// CHECK: tfrt.return %[[V14]], %[[V15]], %[[V14]], %[[V16]], %[[V17]], %[[V18]], %[[V6]], %[[V5]], %[[V10]], %[[V12]], %[[V4]], %[[V3]], %[[V13]], %[[V2]], %[[V19]], %[[V1]], %[[V20]], %[[V0]] : i32, i32, i32, i32, i32, i8, i8, i8, i8, i8, i8, i1, i1, i128, i32, i32, i8, i32
func.func @iconst() -> (i32, i32, i32, i32, i32, i8, i8, i8, i8, i8, i8, i1, i1, i128, i32, i32, i8, i32) {
  %a0 = arith.constant -7 : i32
  %b0 = arith.constant 2 : i32
  %z = arith.constant 0 : i32
  %40 = arith.constant 40 : i32
  %min = arith.constant -128 : i8
  %m1 = arith.constant -1 : i8
  %hi = arith.constant 127 : i8
  %t = arith.constant true
  %w = arith.constant 170141183460469231731687303715884105727 : i128
  %w1 = arith.constant 1 : i128
  %a = arith.divsi %a0, %b0 : i32
  %b = arith.floordivsi %a0, %b0 : i32
  %c = arith.ceildivsi %a0, %b0 : i32
  %d = arith.remsi %a0, %b0 : i32
  %e = arith.divsi %a0, %z : i32
  %f = arith.divsi %min, %m1 : i8
  %g = arith.remsi %min, %m1 : i8
  %h = arith.divui %min, %hi : i8
  %i = arith.maxui %min, %hi : i8
  %j = arith.maxsi %min, %hi : i8
  %k = arith.addi %hi, %hi : i8
  %l = arith.addi %t, %t : i1
  %m = arith.divui %t, %t : i1
  %n = arith.addi %w, %w1 : i128
  %o = arith.shli %a0, %40 : i32
  %p = arith.shrui %a0, %b0 : i32
  %q = arith.shrsi %min, %hi : i8
  %r = arith.ceildivui %40, %a0 : i32
  tfrt.return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l, %m, %n, %o, %p, %q, %r : i32, i32, i32, i32, i32, i8, i8, i8, i8, i8, i8, i1, i1, i128, i32, i32, i8, i32
}

// CHECK-LABEL: func.func @dense(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant dense<[11, 12, 13, 14]> : vector<4xi32>
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant dense<false> : vector<4xi1>
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant dense<[1, 10, 3, 10]> : vector<4xi32>
// CHECK-DAG: %[[V3:[^ :,#]+]] = arith.constant dense<[1, 2, 3, 4]> : vector<4xi8>
// CHECK-DAG: %[[V4:[^ :,#]+]] = arith.constant dense<[2.500000e+00, 3.500000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[V5:[^ :,#]+]] = arith.constant dense<0> : vector<4xi32>
// CHECK: tfrt.return %[[V0]], %arg0, %[[V1]], %arg1, %[[V2]], %[[V3]], %[[V4]], %[[V5]] : vector<4xi32>, vector<4xi32>, vector<4xi1>, tensor<2xf32>, vector<4xi32>, vector<4xi8>, tensor<2xf32>, vector<4xi32>
func.func @dense(%v: vector<4xi32>, %t: tensor<2xf32>) -> (vector<4xi32>, vector<4xi32>, vector<4xi1>, tensor<2xf32>, vector<4xi32>, vector<4xi8>, tensor<2xf32>, vector<4xi32>) {
  %a0 = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %b0 = arith.constant dense<10> : vector<4xi32>
  %z = arith.constant dense<0> : vector<4xi32>
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %f0 = arith.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %a = arith.addi %a0, %b0 : vector<4xi32>
  %b = arith.addi %v, %z : vector<4xi32>
  %c = arith.cmpi sgt, %a0, %b0 : vector<4xi32>
  %d = arith.mulf %t, %one : tensor<2xf32>
  %m = arith.constant dense<[true, false, true, false]> : vector<4xi1>
  %e = arith.select %m, %a0, %b0 : vector<4xi1>, vector<4xi32>
  %f = arith.trunci %a0 : vector<4xi32> to vector<4xi8>
  %g = arith.addf %f0, %one : tensor<2xf32>
  %h = arith.subi %v, %v : vector<4xi32>
  tfrt.return %a, %b, %c, %d, %e, %f, %g, %h : vector<4xi32>, vector<4xi32>, vector<4xi1>, tensor<2xf32>, vector<4xi32>, vector<4xi8>, tensor<2xf32>, vector<4xi32>
}
