// Arithmetic of every type that has it.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'arithmetic.i32':
// CHECK-NEXT: 'arithmetic.i32' returned 10,4,21,3,-2,-1,1,0,1,1
func.func @arithmetic.i32() -> (i32, i32, i32, i32, i32, i32, i1, i1, i1, i1) {
  %a = tfrt.constant.i32 7
  %b = tfrt.constant.i32 3
  %n = tfrt.constant.i32 -7
  %sum = tfrt.add.i32 %a, %b
  %difference = "tfrt.minus.i32"(%a, %b) : (i32, i32) -> i32
  %product = tfrt.mul.i32 %a, %b
  %least = "tfrt.minimum.i32"(%a, %b) : (i32, i32) -> i32
  // Toward zero.
  %quotient, %rest = tfrt.div.i32 %n, %b
  %same = tfrt.equal.i32 %a, %a
  %other = tfrt.equal.i32 %a, %b
  %less = "tfrt.lessequal.i32"(%n, %b) : (i32, i32) -> i1
  %both = tfrt.and.i1 %same, %less
  tfrt.return %sum, %difference, %product, %least, %quotient, %rest, %same, %other, %less, %both : i32, i32, i32, i32, i32, i32, i1, i1, i1, i1
}

// CHECK: --- Running 'arithmetic.i64':
// CHECK-NEXT: 'arithmetic.i64' returned 10,4,21,3,-2,-1,1,0,1,1
func.func @arithmetic.i64() -> (i64, i64, i64, i64, i64, i64, i1, i1, i1, i1) {
  %a = tfrt.constant.i64 7
  %b = tfrt.constant.i64 3
  %n = tfrt.constant.i64 -7
  %sum = tfrt.add.i64 %a, %b
  %difference = "tfrt.minus.i64"(%a, %b) : (i64, i64) -> i64
  %product = tfrt.mul.i64 %a, %b
  %least = "tfrt.minimum.i64"(%a, %b) : (i64, i64) -> i64
  // Toward zero.
  %quotient, %rest = tfrt.div.i64 %n, %b
  %same = tfrt.equal.i64 %a, %a
  %other = tfrt.equal.i64 %a, %b
  %less = "tfrt.lessequal.i64"(%n, %b) : (i64, i64) -> i1
  %both = tfrt.and.i1 %same, %less
  tfrt.return %sum, %difference, %product, %least, %quotient, %rest, %same, %other, %less, %both : i64, i64, i64, i64, i64, i64, i1, i1, i1, i1
}

// CHECK: --- Running 'arithmetic.f32':
// CHECK-NEXT: 'arithmetic.f32' returned 3.500000,3.000000,1.500000,1.333333,<<error: Divide by zero>>
func.func @arithmetic.f32() -> (f32, f32, f32, f32, f32) {
  %a = tfrt.constant.f32 2.0
  %b = tfrt.constant.f32 1.5
  %zero = tfrt.constant.f32 0.0
  %sum = tfrt.add.f32 %a, %b
  %product = "tfrt.multiply.f32"(%a, %b) : (f32, f32) -> f32
  %least = "tfrt.minimum.f32"(%a, %b) : (f32, f32) -> f32
  %quotient = "tfrt.div.f32"(%a, %b) : (f32, f32) -> f32
  %none = "tfrt.div.f32"(%a, %zero) : (f32, f32) -> f32
  tfrt.return %sum, %product, %least, %quotient, %none : f32, f32, f32, f32, f32
}

// CHECK: --- Running 'arithmetic.f64':
// CHECK-NEXT: 'arithmetic.f64' returned 3.500000,3.000000,1.500000,1.333333,<<error: Divide by zero>>
func.func @arithmetic.f64() -> (f64, f64, f64, f64, f64) {
  %a = tfrt.constant.f64 2.0
  %b = tfrt.constant.f64 1.5
  %zero = tfrt.constant.f64 0.0
  %sum = tfrt.add.f64 %a, %b
  %product = "tfrt.multiply.f64"(%a, %b) : (f64, f64) -> f64
  %least = "tfrt.minimum.f64"(%a, %b) : (f64, f64) -> f64
  %quotient = "tfrt.div.f64"(%a, %b) : (f64, f64) -> f64
  %none = "tfrt.div.f64"(%a, %zero) : (f64, f64) -> f64
  tfrt.return %sum, %product, %least, %quotient, %none : f64, f64, f64, f64, f64
}

// CHECK: --- Running 'division':
// CHECK-NEXT: 'division' returned <<error: Divide by zero>>,<<error: Divide by zero>>,-2147483648,0
func.func @division() -> (i64, i64, i32, i32) {
  %one = tfrt.constant.i64 1
  %zero = tfrt.constant.i64 0
  %q, %r = tfrt.div.i64 %one, %zero
  // Around the end of the range, as all arithmetic of integers.
  %least = tfrt.constant.i32 -2147483648
  %minus = tfrt.constant.i32 -1
  %around, %rest = tfrt.div.i32 %least, %minus
  tfrt.return %q, %r, %around, %rest : i64, i64, i32, i32
}

// CHECK: --- Running 'synchronous':
// CHECK-NEXT: 'synchronous' returned 12,35,12,35,0.500000,0.250000,1.500000,1.500000
func.func @synchronous() -> (i32, i32, i64, i64, f32, f64, f16, bf16) attributes {tfrt.sync} {
  %a = "tfrt.constant_s.i32"() {value = 5 : i32} : () -> i32
  %b = "tfrt.constant_s.i32"() {value = 7 : i32} : () -> i32
  %c = tfrt.constant_s.i64 5
  %d = tfrt.constant_s.i64 7
  %sum = "tfrt.add_s.i32"(%a, %b) : (i32, i32) -> i32
  %product = tfrt.mul_s.i32 %a, %b
  %sum64 = "tfrt.add_s.i64"(%c, %d) : (i64, i64) -> i64
  %product64 = tfrt.mul_s.i64 %c, %d
  %e = tfrt.constant_s.f32 0.5
  %f = tfrt.constant_s.f64 0.25
  %g = tfrt.constant_s.f16 1.5
  %h = "tfrt.constant_s.bf16"() {value = 1.5 : bf16} : () -> bf16
  tfrt.return %sum, %product, %sum64, %product64, %e, %f, %g, %h : i32, i32, i64, i64, f32, f64, f16, bf16
}
