// Calls of functions with ops of the dialect are inlined.
//
// RUN: tfrt_opt -inline %s | FileCheck %s

func.func private @constant() -> !corert.tensorhandle {
  %a = corert.const_dense_tensor dense<[0, 1]> : tensor<2xi32>
  tfrt.return %a : !corert.tensorhandle
}

// CHECK-LABEL: func.func @main
// CHECK-NEXT: corert.const_dense_tensor dense<[0, 1]> : tensor<2xi32>
// CHECK-NEXT: tfrt.return
func.func @main() -> !corert.tensorhandle {
  %a = tfrt.call @constant() : () -> !corert.tensorhandle
  tfrt.return %a : !corert.tensorhandle
}
