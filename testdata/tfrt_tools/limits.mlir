// tfrt_translate refuses what TFRT's files cannot hold, in its words; ir-translate does so if it is asked to.
//
// RUN: tfrt_translate -mlir-to-bef -split-input-file -verify-diagnostics %s
// RUN: ir-translate --mlir-to-bef --tfrt-limits --allow-unregistered-dialect --split-input-file --verify-diagnostics %s
// RUN: not ir-translate --mlir-to-bef --allow-unregistered-dialect --split-input-file --verify-diagnostics %s

func.func @no_return() -> i32 {
  // expected-error @+1 {{all functions need to have a tfrt.return}}
  %x = "x.op"() : () -> i32
}

// -----

// expected-error @+1 {{external functions are not allowed}}
func.func private @external() -> i32

// -----

func.func @refers() {
  // expected-error @+1 {{function @nobody not defined}}
  "x.calls"() {fn = @nobody} : () -> ()
  tfrt.return
}

// -----

func.func @attributes() {
  "x.op"() {type = i32, types = [f32, complex<f64>], number = 1 : ui8, list = ["a", [1.0 : f16]], flag, tensor = dense<1> : tensor<2xi32>} : () -> ()
  // expected-error @+1 {{BEF files cannot encode the 'what' attribute}}
  "x.op"() {what = tensor<2xi32>} : () -> ()
  // expected-error @+1 {{TFRT's files cannot hold the attribute `map`}}
  "x.op"() {map = affine_map<(d0) -> (d0)>} : () -> ()
  // expected-error @+1 {{BEF files cannot encode the 'deep' attribute}}
  "x.op"() {deep = [1 : i32, [{a = 1 : i32}]]} : () -> ()
  tfrt.return
}

// -----

func.func @argument(%a: i32) -> i32 attributes {tfrt.sync} {
  // expected-error @+1 {{return value 0 is an argument in a sync function}}
  tfrt.return %a : i32
}

// -----

func.func @twice() -> (i32, i32) attributes {tfrt.sync} {
  %a = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  // expected-error @+1 {{return value 1 is duplicated in a sync function}}
  tfrt.return %a, %a : i32, i32
}

// -----

func.func @captures(%c: i1) {
  %a = tfrt.constant.i32 1
  tfrt.if %c : () -> () {
    // expected-error @+1 {{BEF executor only supports references to kernels within the current region}}
    %b = tfrt.add.i32 %a, %a
    tfrt.return
  }
  tfrt.return
}
