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

// -----

func.func @function_values(%f: () -> i32, %c: i1) -> i32 {
  // expected-error@+1 {{`func.constant` cannot be executed: functions are no values of kernels, so it can only be the callee of `func.call_indirect`}}
  %g = func.constant @other : () -> i32
  %h = arith.select %c, %f, %g : () -> i32
  // expected-error@+1 {{`func.call_indirect` cannot be executed: functions are no values of kernels, so its callee must be a `func.constant`}}
  %r = func.call_indirect %h() : () -> i32
  func.return %r : i32
}
func.func @other() -> i32 {
  %x = arith.constant 1 : i32
  func.return %x : i32
}

// -----

func.func @tensors(%t: tensor<4xindex>, %i: index) -> index {
  // expected-error@+1 {{`tensor.extract` cannot be executed: there are no kernels for tensor<4xindex>}}
  %x = tensor.extract %t[%i] : tensor<4xindex>
  tfrt.return %x : index
}

// -----

func.func @elementwise(%t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{`arith.addf` cannot be executed: there are no kernels for tensor<4xf32>}}
  %x = arith.addf %t, %t : tensor<4xf32>
  tfrt.return %x : tensor<4xf32>
}

// -----

func.func @counts(%t: tensor<4x2xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{`tensor.extract` has 1 index for 2 axes}}
  %a = tensor.extract %t[%i] : tensor<4x2xf32>
  // expected-error@+1 {{`tensor.from_elements` has 1 elements for tensor<2xf32>}}
  %b = tensor.from_elements %x : tensor<2xf32>
  // expected-error@+1 {{`tensor.splat` has 0 sizes for 1 unknown one}}
  %c = tensor.splat %x : tensor<?xf32>
  func.return
}

// -----

func.func @bits(%t: tensor<8xf32>) {
  // expected-error@+1 {{unknown operation `tensor.bitcast`}}
  %d = tensor.bitcast %t : tensor<8xf32> to tensor<8xi32>
  func.return
}

// -----

func.func @switch(%i: index) {
  // expected-error@+2 {{`scf.index_switch` has 2 cases, but 1 regions for them}}
  // expected-error@+1 {{`scf.index_switch` has two cases for 3}}
  "scf.index_switch"(%i) <{cases = array<i64: 3, 3>}> ({
    scf.yield
  }, {
    scf.yield
  }) : (index) -> ()
  func.return
}

// -----

func.func @casts(%t: tensor<4x2xf32>) {
  // expected-error@+1 {{`tensor.cast`: no tensor has both types tensor<4x2xf32> and tensor<?x3xf32>}}
  %a = tensor.cast %t : tensor<4x2xf32> to tensor<?x3xf32>
  // expected-error@+1 {{`tensor.empty` has 0 sizes for 1 unknown one}}
  %b = tensor.empty() : tensor<?xf32>
  func.return
}
