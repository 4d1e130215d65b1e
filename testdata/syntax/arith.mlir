// Arithmetic as upstream prints it. Names of results are left open here.
//
// RUN: ir-opt %s | FileCheck %s
// RUN: ir-opt %s | ir-opt | FileCheck %s
// RUN: ir-opt %s --generic | ir-opt | FileCheck %s
// RUN: ir-opt %s --generic | FileCheck %s --check-prefix=GENERIC

func.func @arith(%a: i32, %x: f32, %c: i1, %v: vector<4xi32>, %vc: vector<4xi1>, %t: tensor<?xf32>, %i: index, %d: f64, %l: i64) {
  // CHECK: = arith.addi %arg0, %arg0 : i32
  // GENERIC: "arith.addi"(%arg0, %arg0) : (i32, i32) -> i32
  %0 = arith.addi %a, %a : i32
  // The words come in their own order.
  // CHECK: = arith.addi %arg0, %arg0 overflow<nsw, nuw> {foo} : i32
  // GENERIC: "arith.addi"(%arg0, %arg0) <{overflowFlags = #arith.overflow<nsw, nuw>}> {foo}
  %1 = arith.addi %a, %a overflow<nuw, nsw> {foo} : i32
  // No flags is what an op without the attribute has.
  // CHECK: = arith.subi %arg0, %arg0 : i32
  %2 = "arith.subi"(%a, %a) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
  // CHECK: = arith.muli %arg3, %arg3 overflow<nsw> : vector<4xi32>
  %3 = "arith.muli"(%v, %v) <{overflowFlags = #arith.overflow<nsw>}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
  // CHECK: = arith.addf %arg1, %arg1 fastmath<fast> : f32
  %4 = arith.addf %x, %x fastmath<reassoc,nnan,ninf,nsz,arcp,contract,afn> : f32
  // CHECK: = arith.mulf %arg5, %arg5 fastmath<nnan,contract> : tensor<?xf32>
  %5 = arith.mulf %t, %t fastmath<contract, nnan> : tensor<?xf32>
  // CHECK: = arith.negf %arg1 : f32
  %6 = arith.negf %x fastmath<none> : f32
  // CHECK: = arith.cmpi slt, %arg0, %arg0 : i32
  // GENERIC: "arith.cmpi"(%arg0, %arg0) <{predicate = 2 : i64}> : (i32, i32) -> i1
  %7 = arith.cmpi slt, %a, %a : i32
  // CHECK: = arith.cmpi ult, %arg3, %arg3 : vector<4xi32>
  // GENERIC: (vector<4xi32>, vector<4xi32>) -> vector<4xi1>
  %8 = arith.cmpi ult, %v, %v : vector<4xi32>
  // CHECK: = arith.cmpf oeq, %arg1, %arg1 fastmath<nnan> : f32
  %9 = arith.cmpf oeq, %x, %x fastmath<nnan> : f32
  // CHECK: = arith.cmpf true, %arg5, %arg5 : tensor<?xf32>
  %10 = arith.cmpf true, %t, %t : tensor<?xf32>
  // CHECK: = arith.select %arg2, %arg0, %arg0 : i32
  %11 = arith.select %c, %a, %a : i32
  // CHECK: = arith.select %arg4, %arg3, %arg3 : vector<4xi1>, vector<4xi32>
  %12 = arith.select %vc, %v, %v : vector<4xi1>, vector<4xi32>
  // CHECK: = arith.select %arg2, %arg5, %arg5 : tensor<?xf32>
  %13 = arith.select %c, %t, %t : tensor<?xf32>
  // CHECK: = arith.addui_extended %arg3, %arg3 : vector<4xi32>, vector<4xi1>
  %14:2 = arith.addui_extended %v, %v : vector<4xi32>, vector<4xi1>
  // CHECK: = arith.mulsi_extended %arg0, %arg0 : i32
  %15:2 = arith.mulsi_extended %a, %a : i32
  // CHECK: = arith.extui %arg0 {tag} : i32 to i64
  %16 = arith.extui %a {tag} : i32 to i64
  // CHECK: = arith.truncf %arg7 : f64 to f32
  %17 = arith.truncf %d : f64 to f32
  // CHECK: = arith.truncf %arg7 to_nearest_even : f64 to f32
  // GENERIC: "arith.truncf"(%arg7) <{roundingmode = 0 : i32}> : (f64) -> f32
  %18 = arith.truncf %d to_nearest_even : f64 to f32
  // CHECK: = arith.index_cast %arg6 : index to i64
  %19 = arith.index_cast %i : index to i64
  // CHECK: = arith.bitcast %arg1 : f32 to i32
  %20 = arith.bitcast %x : f32 to i32
  // CHECK: = arith.shli %arg0, %arg0 : i32
  %21 = arith.shli %a, %a : i32
  // CHECK: = arith.maxnumf %arg1, %arg1 : f32
  %22 = arith.maxnumf %x, %x : f32
  // CHECK: = arith.constant {foo} 42 : i32
  %23 = arith.constant {foo} 42 : i32
  // CHECK: = arith.constant true
  %24 = arith.constant true
  // CHECK: = arith.constant -1.500000e+00 : f32
  %25 = arith.constant -1.5 : f32
  // CHECK: = arith.constant dense<1> : vector<4xi32>
  %26 = arith.constant dense<1> : vector<4xi32>
  // CHECK: = arith.constant 7 : index
  %27 = arith.constant 7 : index
  tfrt.return
}
