// Prints and assertions happen in the order of the program; a failed one ends what follows.
//
// RUN: bef-exec %s --work-queue s --leak-check > %t.s 2> %t.err
// RUN: FileCheck %s --input-file=%t.s
// RUN: bef-exec %s --work-queue mstd:2 --leak-check > %t.m 2> %t.err
// RUN: FileCheck %s --input-file=%t.m

// CHECK: --- Running 'count':
// CHECK-NEXT: {{^}}1
// CHECK-NEXT: {{^}}0
// CHECK-NEXT: {{^}}2
// CHECK-NEXT: {{^}}3
// CHECK-NEXT: 'count' returned 3
func.func @count() -> i32 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%n = %zero) -> (i32) {
    %m = arith.addi %n, %one : i32
    func.call @show(%m) : (i32) -> ()
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      vector.print %i : index
    }
    scf.yield %m : i32
  }
  func.return %r : i32
}

// CHECK: --- Not running 'show' because it has arguments.
func.func @show(%x: i32) {
  vector.print %x : i32
  func.return
}

// CHECK: --- Running 'punctuated':
// CHECK-NEXT: {{^}}7, 78 )8
// CHECK-NEXT: 'punctuated' returned
func.func @punctuated() {
  %seven = arith.constant 7 : i32
  %eight = arith.constant 8 : i32
  vector.print %seven : i32 punctuation <comma>
  vector.print %seven : i32 punctuation <no_punctuation>
  "vector.print"(%eight) <{punctuation = #vector.punctuation<close>}> : (i32) -> ()
  vector.print %eight : i32 punctuation <newline>
  func.return
}

// An endless loop but for its assertion.
// CHECK: --- Running 'asserted':
// CHECK-NEXT: 'asserted' returned <<error: at most five>>
func.func @asserted() -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %yes = arith.constant true
  %r = scf.while (%i = %zero) : (i32) -> i32 {
    %ok = arith.cmpi sle, %i, %five : i32
    cf.assert %ok, "at most five"
    scf.condition(%yes) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  func.return %r : i32
}

// CHECK: --- Running 'divided':
// CHECK-NEXT: 'divided' returned <<error: Divide by zero>>,<<error: the quotient of -128 and -1 does not fit 8 bits>>,<<error: a shift of 32 bits by 32>>
func.func @divided() -> (i32, i8, i32) {
  %zero = arith.constant 0 : i32
  %n = arith.constant 32 : i32
  %least = arith.constant -128 : i8
  %minus = arith.constant -1 : i8
  %a = arith.divsi %n, %zero : i32
  %b = arith.divsi %least, %minus : i8
  %c = arith.shli %n, %n : i32
  func.return %a, %b, %c : i32, i8, i32
}
