// Constants through calls of private functions.
//
// RUN: ir-opt %s --sccp | FileCheck %s

// Called with one constant only.
// CHECK-LABEL: func.func private @callee(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 2 : i32
// CHECK-DAG: %[[V1:[^ :,#]+]] = arith.constant 1 : i32
// CHECK-DAG: %[[V2:[^ :,#]+]] = arith.constant 3 : i32
// CHECK: tfrt.return %[[V2]], %arg1 : i32, i32
func.func private @callee(%x: i32, %y: i32) -> (i32, i32) {
  %one = arith.constant 1 : i32
  %0 = arith.addi %x, %one : i32
  tfrt.return %0, %y : i32, i32
}

// CHECK-LABEL: func.func @caller(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 2 : i32
// CHECK: %[[V1:[^ :,#]+]]:2 = tfrt.call @callee(%[[V0]], %arg0) : (i32, i32) -> (i32, i32)
// CHECK: %[[V2:[^ :,#]+]]:2 = tfrt.call @callee(%[[V0]], %[[V0]]) : (i32, i32) -> (i32, i32)
// CHECK: tfrt.return %[[V1]]#0, %[[V2]]#1 : i32, i32
func.func @caller(%v: i32) -> (i32, i32) {
  %two = arith.constant 2 : i32
  %0:2 = tfrt.call @callee(%two, %v) : (i32, i32) -> (i32, i32)
  %1:2 = tfrt.call @callee(%two, %two) : (i32, i32) -> (i32, i32)
  tfrt.return %0#0, %1#1 : i32, i32
}

// An error in one operand is the error of all results.
// CHECK-LABEL: func.func private @kernel(
// CHECK-DAG: %[[V0:[^ :,#]+]] = tfrt.constant.i32 2
// CHECK-DAG: %[[V1:[^ :,#]+]] = tfrt.constant.i32 1
// CHECK-DAG: %[[V2:[^ :,#]+]] = tfrt.constant.i32 3
// CHECK: tfrt.return %[[V2]], %arg1 : i32, i32
func.func private @kernel(%x: i32, %y: i32) -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %0 = tfrt.add.i32 %x, %one
  tfrt.return %0, %y : i32, i32
}

// CHECK-LABEL: func.func @kernels(
// CHECK-DAG: %[[V0:[^ :,#]+]] = tfrt.constant.i32 2
// CHECK: %[[V1:[^ :,#]+]]:2 = tfrt.call @kernel(%[[V0]], %arg0) : (i32, i32) -> (i32, i32)
// CHECK-DAG: %[[V2:[^ :,#]+]] = tfrt.constant.i32 3
// CHECK: %[[V3:[^ :,#]+]]:2 = tfrt.call @kernel(%[[V0]], %[[V0]]) : (i32, i32) -> (i32, i32)
// CHECK: tfrt.return %[[V1]]#0, %[[V2]] : i32, i32
func.func @kernels(%v: i32) -> (i32, i32) {
  %two = tfrt.constant.i32 2
  %0:2 = tfrt.call @kernel(%two, %v) : (i32, i32) -> (i32, i32)
  %1:2 = tfrt.call @kernel(%two, %two) : (i32, i32) -> (i32, i32)
  tfrt.return %0#0, %1#0 : i32, i32
}

// Anybody may call it.
// CHECK-LABEL: func.func @public(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 1 : i32
// CHECK: %[[V1:[^ :,#]+]] = arith.addi %arg0, %[[V0]] : i32
// CHECK: tfrt.return %[[V1]] : i32
func.func @public(%x: i32) -> i32 {
  %one = arith.constant 1 : i32
  %0 = arith.addi %x, %one : i32
  tfrt.return %0 : i32
}

// CHECK-LABEL: func.func @public_caller(
// CHECK-DAG: %[[V0:[^ :,#]+]] = arith.constant 2 : i32
// CHECK: %[[V1:[^ :,#]+]] = tfrt.call @public(%[[V0]]) : (i32) -> i32
// CHECK: tfrt.return %[[V1]] : i32
func.func @public_caller() -> i32 {
  %two = arith.constant 2 : i32
  %0 = tfrt.call @public(%two) : (i32) -> i32
  tfrt.return %0 : i32
}
