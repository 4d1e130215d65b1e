// What is no module to compile, and what is not in one.
//
// RUN: tfrt_translate -mlir-to-bef -split-input-file -verify-diagnostics %s

module @kernels attributes {tfrt.compiled} {
  func.func private @main()
}
func.func @f() {
  // expected-error @+1 {{attribute `fn` refers to @kernels::@nobody, which is nothing in a module that is marked `tfrt.compiled`}}
  "x.op"() {fn = @kernels::@nobody} : () -> ()
  // expected-error @+1 {{attribute `fns` refers to @f::@main}}
  "x.op"() {fns = [@kernels::@main, @f::@main]} : () -> ()
  // expected-error @+1 {{attribute `fn` refers to @nobody::@main}}
  "x.op"() {fn = @nobody::@main} : () -> ()
  // expected-error @+1 {{function @main not defined}}
  "x.op"() {fn = @main} : () -> ()
  tfrt.return
}

// -----

// Not marked, it is no module to compile.
module @kernels {
  func.func private @main()
}
func.func @f() {
  // expected-error @+1 {{attribute `fn` refers to @kernels::@main}}
  "x.op"() {fn = @kernels::@main} : () -> ()
  tfrt.return
}

// -----

// expected-error @+1 {{`builtin.module` cannot stand in a module that becomes a BEF file}}
module @kernels {
  func.func private @main()
}
func.func @f() {
  tfrt.return
}

// -----

// expected-error @+1 {{a module that is marked `tfrt.compiled` must have a name}}
module attributes {tfrt.compiled} {
}
func.func @f() {
  tfrt.return
}
