// Ops without a kernel are refused with their reason.
//
// RUN: ir-translate %s --split-input-file --verify-diagnostics -o %t.bef

func.func @wide(%a: i128) -> i128 {
  // expected-error@+1 {{`arith.addi` cannot be executed: there are no kernels for i128}}
  %b = arith.addi %a, %a : i128
  tfrt.return %b : i128
}

// -----

func.func @vectors(%a: vector<4xf32>) -> vector<4xf32> {
  // expected-error@+1 {{`math.sqrt` cannot be executed: there are no kernels for vector<4xf32>}}
  %b = math.sqrt %a : vector<4xf32>
  tfrt.return %b : vector<4xf32>
}
