// Regions, switches, calls of function constants and elements of tensors.
//
// RUN: bef-exec %s --work-queue s --leak-check | FileCheck %s --implicit-check-not='Not running'
// RUN: bef-exec %s --work-queue mstd:2 --leak-check | FileCheck %s
// RUN: ir-translate %s -o %t.bef && bef-exec %t.bef --work-queue s | FileCheck %s
// RUN: ir-opt %s | ir-opt | FileCheck %s --check-prefix=TEXT

// CHECK: --- Running 'region':
// CHECK-NEXT: 'region' returned 7
func.func @region() -> i32 {
  %three = arith.constant 3 : i32
  %r = scf.execute_region -> i32 {
    %four = arith.constant 4 : i32
    %sum = arith.addi %three, %four : i32
    scf.yield %sum : i32
  }
  func.return %r : i32
}

// CHECK: --- Running 'blocks':
// CHECK-NEXT: 'blocks' returned 128,3
func.func @blocks() -> (i32, i32) {
  %one = arith.constant 1 : i32
  %limit = arith.constant 100 : i32
  %two = arith.constant 2 : i32
  %three = arith.addi %one, %two : i32
  %r:2 = scf.execute_region -> (i32, i32) {
    cf.br ^head(%one : i32)
  ^head(%x: i32):
    %small = arith.cmpi slt, %x, %limit : i32
    cf.cond_br %small, ^body, ^end
  ^body:
    %double = arith.muli %x, %two : i32
    cf.br ^head(%double : i32)
  ^end:
    scf.yield %x, %three : i32, i32
  }
  func.return %r#0, %r#1 : i32, i32
}

func.func private @switched(%i: index) -> i32 {
  // TEXT: scf.index_switch %{{.*}} -> i32
  // TEXT-NEXT: case 2 {
  // TEXT: case 5 {
  // TEXT: case -1 {
  // TEXT: case 9 {
  // TEXT: default {
  %r = scf.index_switch %i -> i32
  case 2 {
    %x = arith.constant 20 : i32
    scf.yield %x : i32
  }
  case 5 {
    vector.print %i : index
    %x = arith.constant 50 : i32
    scf.yield %x : i32
  }
  case -1 {
    %x = arith.constant -10 : i32
    scf.yield %x : i32
  }
  case 9 {
    %x = arith.constant 90 : i32
    scf.yield %x : i32
  }
  default {
    %x = arith.constant 0 : i32
    scf.yield %x : i32
  }
  func.return %r : i32
}

// CHECK: --- Running 'switches':
// CHECK-NEXT: {{^}}5
// CHECK-NEXT: 'switches' returned 0,20,50,-10,90
func.func @switches() -> (i32, i32, i32, i32, i32) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %five = arith.constant 5 : index
  %minus = arith.constant -1 : index
  %nine = arith.constant 9 : index
  %a = func.call @switched(%zero) : (index) -> i32
  %b = func.call @switched(%two) : (index) -> i32
  %f = func.constant @switched : (index) -> i32
  %c = func.call_indirect %f(%five) : (index) -> i32
  %d = func.call_indirect %f(%minus) : (index) -> i32
  %e = func.call @switched(%nine) : (index) -> i32
  func.return %a, %b, %c, %d, %e : i32, i32, i32, i32, i32
}

// CHECK: --- Running 'default_only':
// CHECK-NEXT: 'default_only' returned 1
func.func @default_only() -> i32 {
  %zero = arith.constant 0 : index
  %r = "scf.index_switch"(%zero) <{cases = array<i64>}> ({
    %x = arith.constant 1 : i32
    scf.yield %x : i32
  }) : (index) -> i32
  func.return %r : i32
}

// CHECK: --- Running 'without_results':
// CHECK-NEXT: {{^}}3
// CHECK-NEXT: 'without_results' returned
// TEXT: scf.index_switch %{{.*}} {tag}
// TEXT-NEXT: case 3 {
// TEXT: default {
// TEXT-NEXT: }
func.func @without_results() {
  %three = arith.constant 3 : index
  scf.index_switch %three {tag}
  case 3 {
    vector.print %three : index
    scf.yield
  }
  default {
  }
  func.return
}

// CHECK: --- Running 'elements':
// CHECK-NEXT: 'elements' returned 6,2,3,2
// TEXT-LABEL: func.func @elements
func.func @elements() -> (i32, index, index, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  // TEXT: arith.constant dense<{{\[\[}}1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %t = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  // TEXT: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<2x3xi32>
  %x = tensor.extract %t[%one, %two] : tensor<2x3xi32>
  // TEXT: tensor.dim %{{.*}}, %{{.*}} : tensor<2x3xi32>
  %rows = tensor.dim %t, %zero : tensor<2x3xi32>
  %columns = tensor.dim %t, %one : tensor<2x3xi32>
  // TEXT: tensor.rank %{{.*}} : tensor<2x3xi32>
  %rank = tensor.rank %t : tensor<2x3xi32>
  func.return %x, %rows, %columns, %rank : i32, index, index, index
}

// CHECK: --- Running 'made':
// CHECK-NEXT: 'made' returned array([1.5, 7. , 1.5], shape=(3,), dtype=float32),array([2.5, 2.5], shape=(2,), dtype=float64),1
// TEXT-LABEL: func.func @made
func.func @made() -> (tensor<3xf32>, tensor<?xf64>, i1) {
  %a = arith.constant 1.5 : f32
  %b = arith.constant 7.0 : f32
  %c = arith.constant 2.5 : f64
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  // TEXT: tensor.from_elements %{{.*}}, %{{.*}}, %{{.*}} : tensor<3xf32>
  %t = tensor.from_elements %a, %a, %a : tensor<3xf32>
  // TEXT: tensor.insert %{{.*}} into %{{.*}}[%{{.*}}] : tensor<3xf32>
  %u = tensor.insert %b into %t[%one] : tensor<3xf32>
  // TEXT: tensor.splat %{{.*}}[%{{.*}}] : tensor<?xf64>
  %s = tensor.splat %c[%two] : tensor<?xf64>
  %yes = arith.constant true
  %flags = tensor.from_elements %yes : tensor<1xi1>
  %zero = arith.constant 0 : index
  %flag = tensor.extract %flags[%zero] : tensor<1xi1>
  func.return %u, %s, %flag : tensor<3xf32>, tensor<?xf64>, i1
}

// CHECK: --- Running 'outside':
// CHECK-NEXT: 'outside' returned <<error: there is no index 3 in an axis of size 3>>
func.func @outside() -> i32 {
  %t = arith.constant dense<5> : tensor<3xi32>
  %three = arith.constant 3 : index
  %x = tensor.extract %t[%three] : tensor<3xi32>
  func.return %x : i32
}

// CHECK: --- Running 'loop':
// CHECK-NEXT: 'loop' returned 15
func.func @loop() -> i32 {
  %t = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = tensor.dim %t, %zero : tensor<5xi32>
  %none = arith.constant 0 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> i32 {
    %x = tensor.extract %t[%i] : tensor<5xi32>
    %next = arith.addi %s, %x : i32
    scf.yield %next : i32
  }
  func.return %sum : i32
}
