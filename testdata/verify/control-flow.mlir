// What the verifiers of builtin, func, cf and scf find.
//
// RUN: ir-opt %s --verify-diagnostics --split-input-file

// expected-error @+1 {{a function without a body cannot be public}}
func.func @f()

// -----

func.func @g(%a: i32) { func.return }
func.func @f() {
  // expected-error @+1 {{`func.constant` has type `() -> ()`, but the function has type `(i32) -> ()`}}
  %g = func.constant @g : () -> ()
  func.return
}

// -----

func.func @f(%a: i32) {
  // expected-error @+1 {{`cf.br` hands over 1 operand to successor #0, which has 2 arguments}}
  cf.br ^bb1(%a : i32)
^bb1(%b: i32, %c: i32):
  func.return
}

// -----

func.func @f(%c: i1, %a: i32) {
  // expected-error @+1 {{operand #1 of `cf.cond_br` has type i32, but the argument of successor #1 has type i64}}
  cf.cond_br %c, ^bb1, ^bb2(%a : i32)
^bb1:
  func.return
^bb2(%b: i64):
  func.return
}

// -----

func.func @f(%c: i1, %a: i32) -> i32 {
  // expected-error @+1 {{`scf.if` has results, so it needs an `else`}}
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  }
  func.return %r : i32
}

// -----

func.func @f(%c: i1, %a: i32, %b: i64) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    // expected-error @+1 {{`scf.yield` gives `(i64)`, but `scf.if` needs `(i32)`}}
    scf.yield %b : i64
  }
  func.return %r : i32
}

// -----

func.func @f(%n: index, %a: i32) -> i32 {
  // expected-error @+1 {{region #0 of `scf.for` has arguments of types `(i32, i32)`, expected `(index, i32)`}}
  %r = "scf.for"(%n, %n, %n, %a) ({
  ^bb0(%i: i32, %x: i32):
    scf.yield %x : i32
  }) : (index, index, index, i32) -> i32
  func.return %r : i32
}

// -----

func.func @f(%c: i1, %a: i32) -> i32 {
  %r = scf.while (%x = %a) : (i32) -> i32 {
    // expected-error @+1 {{a block of `scf.while` ends with `scf.yield`, expected `scf.condition`}}
    scf.yield %x : i32
  } do {
  ^bb0(%x: i32):
    scf.yield %x : i32
  }
  func.return %r : i32
}

// -----

func.func @f(%a: i32) {
  // expected-error @+1 {{`scf.yield`}}
  scf.yield %a : i32
}

// -----

// expected-error @+1 {{`builtin.module` has the attribute `foo`, which names no dialect}}
module attributes {foo = 1 : i32, foo.bar} {
}
