func.func @f() -> i32 {
  // expected-warning@+1 {{undefined value}}
  tfrt.return %x : i32
}
// expected-error-re {{a{{[}}}}
