// Operations that cannot be executed are refused, each with its place; all others are checked all the same. The
// default passes would lower these.
//
// RUN: not ir-translate --mlir-to-bef --pass-pipeline 'builtin.module()' %s 2>&1 >/dev/null | FileCheck %s --implicit-check-not='{{error}}'

func.func @f(%c: i1, %a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  // CHECK: no-kernel.mlir:[[@LINE+1]]:8: error[E0602]: `scf.if` names no kernel, so it cannot stand in a function's body
  %d = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  // CHECK: no-kernel.mlir:[[@LINE+1]]:8: error[E0602]: `func.call` names no kernel
  %e = func.call @f(%c, %d) : (i1, i32) -> i32
  tfrt.return %e : i32
}
