// Programs in upstream's dialects run, and as BEF too.
//
// RUN: bef-exec %s --work-queue s --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:2 --leak-check | FileCheck %s
// RUN: ir-translate %s -o %t.bef
// RUN: ir-translate %t.bef --to mlir -o %t.mlir
// RUN: bef-exec %t.mlir --work-queue s | FileCheck %s

func.func private @fib(%n: i64) -> i64 {
  %two = arith.constant 2 : i64
  %small = arith.cmpi slt, %n, %two : i64
  %r = scf.if %small -> (i64) {
    scf.yield %n : i64
  } else {
    %one = arith.constant 1 : i64
    %n1 = arith.subi %n, %one : i64
    %n2 = arith.subi %n, %two : i64
    %a = func.call @fib(%n1) : (i64) -> i64
    %b = func.call @fib(%n2) : (i64) -> i64
    %sum = arith.addi %a, %b : i64
    scf.yield %sum : i64
  }
  func.return %r : i64
}

// CHECK: --- Running 'fib_recursive':
// CHECK-NEXT: 'fib_recursive' returned 610
func.func @fib_recursive() -> i64 {
  %n = arith.constant 15 : i64
  %r = func.call @fib(%n) : (i64) -> i64
  func.return %r : i64
}

// CHECK: --- Running 'fib_for':
// CHECK-NEXT: 'fib_for' returned 12586269025
func.func @fib_for() -> i64 {
  %c0 = arith.constant 0 : index
  %c50 = arith.constant 50 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant 0 : i64
  %b = arith.constant 1 : i64
  %r:2 = scf.for %i = %c0 to %c50 step %c1 iter_args(%x = %a, %y = %b) -> (i64, i64) {
    %sum = arith.addi %x, %y : i64
    scf.yield %y, %sum : i64, i64
  }
  func.return %r#0 : i64
}

// CHECK: --- Running 'fib_blocks':
// CHECK-NEXT: 'fib_blocks' returned 12586269025
func.func @fib_blocks() -> i64 {
  %n = arith.constant 50 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a = arith.constant 0 : i64
  %b = arith.constant 1 : i64
  cf.br ^head(%zero, %a, %b : i32, i64, i64)
^head(%i: i32, %x: i64, %y: i64):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^exit(%x : i64)
^body:
  %sum = arith.addi %x, %y : i64
  %next = arith.addi %i, %one : i32
  cf.br ^head(%next, %y, %sum : i32, i64, i64)
^exit(%r: i64):
  func.return %r : i64
}

// CHECK: --- Running 'gcd':
// CHECK-NEXT: 'gcd' returned 21
func.func @gcd() -> i32 {
  %a = arith.constant 1071 : i32
  %b = arith.constant 462 : i32
  %zero = arith.constant 0 : i32
  %r:2 = scf.while (%x = %a, %y = %b) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %y, %zero : i32
    scf.condition(%more) %x, %y : i32, i32
  } do {
  ^bb0(%x: i32, %y: i32):
    %rest = arith.remui %x, %y : i32
    scf.yield %y, %rest : i32, i32
  }
  func.return %r#0 : i32
}

// Trial division: nested loops with values from outside.
// CHECK: --- Running 'primes':
// CHECK-NEXT: 'primes' returned 25
func.func @primes() -> i32 {
  %c2 = arith.constant 2 : index
  %c100 = arith.constant 100 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i32
  %yes = arith.constant true
  %n = scf.for %i = %c2 to %c100 step %c1 iter_args(%count = %none) -> (i32) {
    %is_prime = scf.for %j = %c2 to %i step %c1 iter_args(%so_far = %yes) -> (i1) {
      %rest = arith.remui %i, %j : index
      %zero = arith.constant 0 : index
      %apart = arith.cmpi ne, %rest, %zero : index
      %both = arith.andi %so_far, %apart : i1
      scf.yield %both : i1
    }
    %one = arith.extui %is_prime : i1 to i32
    %sum = arith.addi %count, %one : i32
    scf.yield %sum : i32
  }
  func.return %n : i32
}

// Iterations of z*z + c until |z| > 2, at most 100.
func.func private @escape(%cr: f64, %ci: f64) -> i32 {
  %zero = arith.constant 0.0 : f64
  %four = arith.constant 4.0 : f64
  %none = arith.constant 0 : i32
  %limit = arith.constant 100 : i32
  %r:3 = scf.while (%x = %zero, %y = %zero, %n = %none) : (f64, f64, i32) -> (f64, f64, i32) {
    %xx = arith.mulf %x, %x : f64
    %yy = arith.mulf %y, %y : f64
    %norm = arith.addf %xx, %yy : f64
    %near = arith.cmpf ole, %norm, %four : f64
    %early = arith.cmpi slt, %n, %limit : i32
    %more = arith.andi %near, %early : i1
    scf.condition(%more) %x, %y, %n : f64, f64, i32
  } do {
  ^bb0(%x: f64, %y: f64, %n: i32):
    %xx = arith.mulf %x, %x : f64
    %yy = arith.mulf %y, %y : f64
    %xy = arith.mulf %x, %y : f64
    %dx = arith.subf %xx, %yy : f64
    %dy = arith.addf %xy, %xy : f64
    %nx = arith.addf %dx, %cr : f64
    %ny = arith.addf %dy, %ci : f64
    %one = arith.constant 1 : i32
    %m = arith.addi %n, %one : i32
    scf.yield %nx, %ny, %m : f64, f64, i32
  }
  func.return %r#2 : i32
}

// CHECK: --- Running 'mandelbrot':
// CHECK-NEXT: 'mandelbrot' returned 100,3,1
func.func @mandelbrot() -> (i32, i32, i32) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %three = arith.constant 3.0 : f64
  %in = func.call @escape(%zero, %zero) : (f64, f64) -> i32
  %out = func.call @escape(%one, %zero) : (f64, f64) -> i32
  %far = func.call @escape(%three, %zero) : (f64, f64) -> i32
  func.return %in, %out, %far : i32, i32, i32
}

// CHECK: --- Running 'collatz':
// CHECK-NEXT: 'collatz' returned 111
func.func @collatz() -> i32 {
  %start = arith.constant 27 : i64
  %none = arith.constant 0 : i32
  cf.br ^head(%start, %none : i64, i32)
^head(%n: i64, %steps: i32):
  %one = arith.constant 1 : i64
  %one32 = arith.constant 1 : i32
  %done = arith.cmpi eq, %n, %one : i64
  %more = arith.addi %steps, %one32 : i32
  cf.cond_br %done, ^exit, ^parity
^parity:
  %bit = arith.andi %n, %one : i64
  cf.switch %bit : i64, [
    default: ^odd,
    0: ^even
  ]
^even:
  %half = arith.shrui %n, %one : i64
  cf.br ^head(%half, %more : i64, i32)
^odd:
  %c3 = arith.constant 3 : i64
  %triple = arith.muli %n, %c3 : i64
  %next = arith.addi %triple, %one : i64
  cf.br ^head(%next, %more : i64, i32)
^exit:
  func.return %steps : i32
}

func.func private @ack(%m: i32, %n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %m_is_zero = arith.cmpi eq, %m, %zero : i32
  %r = scf.if %m_is_zero -> (i32) {
    %next = arith.addi %n, %one : i32
    scf.yield %next : i32
  } else {
    %m1 = arith.subi %m, %one : i32
    %n_is_zero = arith.cmpi eq, %n, %zero : i32
    %inner = scf.if %n_is_zero -> (i32) {
      scf.yield %one : i32
    } else {
      %n1 = arith.subi %n, %one : i32
      %a = func.call @ack(%m, %n1) : (i32, i32) -> i32
      scf.yield %a : i32
    }
    %a = func.call @ack(%m1, %inner) : (i32, i32) -> i32
    scf.yield %a : i32
  }
  func.return %r : i32
}

// CHECK: --- Running 'ackermann':
// CHECK-NEXT: 'ackermann' returned 29
func.func @ackermann() -> i32 {
  %two = arith.constant 2 : i32
  %thirteen = arith.constant 13 : i32
  %r = func.call @ack(%two, %thirteen) : (i32, i32) -> i32
  func.return %r : i32
}

// A loop with two entries.
// CHECK: --- Running 'irreducible':
// CHECK-NEXT: 'irreducible' returned 10000
func.func @irreducible() -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %limit = arith.constant 10000 : i32
  %start = arith.constant true
  cf.cond_br %start, ^a(%zero : i32), ^b(%one : i32)
^a(%x: i32):
  %x1 = arith.addi %x, %one : i32
  cf.br ^b(%x1 : i32)
^b(%y: i32):
  %more = arith.cmpi slt, %y, %limit : i32
  cf.cond_br %more, ^a(%y : i32), ^exit
^exit:
  func.return %y : i32
}

// CHECK: --- Running 'mathematics':
// CHECK-NEXT: 'mathematics' returned 5.000000,3.000000,2,-3,7
func.func @mathematics() -> (f64, f32, i32, i64, index) {
  %x = arith.constant 3.0 : f64
  %y = arith.constant 4.0 : f64
  %xx = arith.mulf %x, %x : f64
  %sum = math.fma %y, %y, %xx : f64
  %root = math.sqrt %sum : f64
  %f = arith.constant 2.5 : f32
  %rounded = math.round %f : f32
  %bits = arith.constant 40 : i32
  %ones = math.ctpop %bits : i32
  %seven = arith.constant -7 : i64
  %three = arith.constant 3 : i64
  %floor = arith.floordivsi %seven, %three : i64
  %a = index.constant 3
  %b = index.constant 4
  %c = index.add %a, %b
  func.return %root, %rounded, %ones, %floor, %c : f64, f32, i32, i64, index
}

// CHECK: --- Running 'error_function':
// CHECK-NEXT: 'error_function' returned 0.520500,0.520500
func.func @error_function() -> (f64, f32) {
  %x = arith.constant 0.5 : f64
  %y = arith.constant 0.5 : f32
  %erf = math.erf %x : f64
  %narrow = math.erf %y : f32
  func.return %erf, %narrow : f64, f32
}

// CHECK: --- Running 'casts':
// CHECK-NEXT: 'casts' returned 2,<<error: a tensor of shape [2, 3] is cast to shape [2, 4]>>
func.func @casts() -> (index, tensor<2x4xf32>) {
  %two = arith.constant 2 : index
  %t = tensor.empty(%two) : tensor<?x3xf32>
  %any = tensor.cast %t : tensor<?x3xf32> to tensor<*xf32>
  %same = tensor.cast %any : tensor<*xf32> to tensor<2x?xf32>
  %zero = arith.constant 0 : index
  %n = tensor.dim %same, %zero : tensor<2x?xf32>
  %wrong = tensor.cast %same : tensor<2x?xf32> to tensor<2x4xf32>
  func.return %n, %wrong : index, tensor<2x4xf32>
}
