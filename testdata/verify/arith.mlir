// What arithmetic refuses.
//
// RUN: ir-opt %s --verify-diagnostics --split-input-file

func.func @predicate(%a: i32) {
  // expected-error @+1 {{expected a predicate of `arith.cmpi`}}
  %0 = arith.cmpi lt, %a, %a : i32
  tfrt.return
}

// -----

func.func @predicate_number(%a: i32) {
  // expected-error @+1 {{expected a predicate of `arith.cmpi`, an integer of type i64 below 10}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 10 : i64}> : (i32, i32) -> i1
  tfrt.return
}

// -----

func.func @flags(%a: i32) {
  // expected-error @+1 {{expected one of nsw, nuw}}
  %0 = arith.addi %a, %a overflow<nws> : i32
  tfrt.return
}

// -----

func.func @flags_generic(%a: i32) {
  // expected-error @+1 {{attribute `overflowFlags` of `arith.addi` is `#arith.overflow<nws>`}}
  %0 = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<nws>}> : (i32, i32) -> i32
  tfrt.return
}

// -----

func.func @types(%a: f32) {
  // expected-error @+2 {{operand #0 (`lhs`) of `arith.addi` has type f32, expected a signless integer or index}}
  // expected-error @+1 {{operand #1 (`rhs`) of `arith.addi` has type f32, expected a signless integer or index}}
  %0 = "arith.addi"(%a, %a) : (f32, f32) -> i32
  tfrt.return
}

// -----

func.func @shape(%v: vector<4xi32>) {
  // expected-error @+1 {{`result` of `arith.cmpi` has type vector<2xi1>, expected i1 in the shape of `lhs`: vector<4xi32>}}
  %0 = "arith.cmpi"(%v, %v) <{predicate = 0 : i64}> : (vector<4xi32>, vector<4xi32>) -> vector<2xi1>
  tfrt.return
}

// -----

func.func @extend(%a: i32) {
  // expected-error @+1 {{`arith.extsi`: i32 cannot become i32}}
  %0 = arith.extsi %a : i32 to i32
  // expected-error @+1 {{`arith.trunci`: i32 cannot become i64}}
  %1 = arith.trunci %a : i32 to i64
  // expected-error @+1 {{`arith.bitcast`: i32 cannot become f64}}
  %2 = arith.bitcast %a : i32 to f64
  // expected-error @+1 {{`arith.index_cast`: i32 cannot become i64}}
  %3 = arith.index_cast %a : i32 to i64
  tfrt.return
}

// -----

func.func @condition(%c: vector<2xi1>, %v: vector<4xi32>) {
  // expected-error @+1 {{the condition has type vector<2xi1>, expected i1 or i1 in the shape of vector<4xi32>}}
  %0 = arith.select %c, %v, %v : vector<2xi1>, vector<4xi32>
  tfrt.return
}

// -----

func.func @signed() {
  // expected-error @+1 {{an integer constant must be signless}}
  %0 = arith.constant 1 : ui8
  tfrt.return
}

// -----

func.func @untyped() {
  // expected-error @+1 {{expected a constant with a type}}
  %1 = arith.constant @f
  tfrt.return
}
