// A function cannot use what is defined outside of it; names inside are its own.
//
// RUN: not ir-opt %s --allow-unregistered-dialect 2>&1 | FileCheck %s --implicit-check-not='{{^[^ ][^:]*:[0-9]+:[0-9]+: error}}'

%out = "u.def"() : () -> i32
func.func @f() {
  // CHECK: isolated.mlir:[[@LINE+1]]:11: error[E0302]: use of undefined value `%out`
  "u.use"(%out) : (i32) -> ()
  // No redefinition.
  %x = "u.def"() : () -> i32
  tfrt.return
}
%x = "u.def"() : () -> i32
