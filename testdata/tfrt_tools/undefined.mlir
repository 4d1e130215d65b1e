// Functions that are not there, in the words of TFRT's translator; once for each op.
//
// RUN: tfrt_translate -mlir-to-bef -verify-diagnostics -split-input-file %s -o=%t.bef

func.func @branches(%i: i32, %c: i1) -> i32 {
  // expected-error @+1 {{function @nobody not defined}}
  %x = tfrt.case %i [@nobody, @nobody] (%i) : (i32) -> (i32)
  // expected-error @+1 {{function @nobody not defined}}
  tfrt.cond %c @nobody @nobody () : () -> ()
  tfrt.return %x : i32
}

// -----

func.func @unknown() {
  // expected-error @+1 {{function @nobody not defined}}
  "x.y"() {fns = [@nobody, @unknown]} : () -> ()
  tfrt.return
}

// -----

// expected-error @+1 {{multi-block regions cannot be emitted to BEF files}}
func.func @blocks() {
  "tfrt.br"()[^bb1] : () -> ()
^bb1:
  tfrt.return
}
