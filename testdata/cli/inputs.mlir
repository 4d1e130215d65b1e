// Arguments by name, by number and by position; written out and from files; missing, surplus and of wrong types.
//
// RUN: bef-exec %s --functions sum --input i32:1 --input i64:20 | FileCheck %s --check-prefix=SUM
// RUN: bef-exec %s --functions sum --input b=i64:20 --input a=i32:1 | FileCheck %s --check-prefix=SUM
// RUN: bef-exec %s --functions sum --input b=i64:20 --input i32:1 | FileCheck %s --check-prefix=SUM
// RUN: bef-exec %s --functions sum --input=1=i64:20 --input=0=i32:1 | FileCheck %s --check-prefix=SUM
// SUM: --- Running 'sum':
// SUM-NEXT: 'sum' returned 2,20

// RUN: not bef-exec %s --functions sum --input i32:1 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: {{^}}error: argument 'b' is missing; the function is sum(a: i32, b: i64) -> (twice: i32, i64)
// RUN: not bef-exec %s --functions sum --input i32:1 --input i64:2 --input i32:3 2>&1 | FileCheck %s --check-prefix=SURPLUS
// SURPLUS: {{^}}error: there is no argument left for 'i32:3'; the function is sum(
// RUN: not bef-exec %s --functions sum --input c=i32:1 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: {{^}}error: there is no argument 'c'; the function is sum(
// RUN: not bef-exec %s --functions sum --input a=i32:1 --input a=i32:1 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: {{^}}error: argument 'a' is given twice; the function is sum(
// RUN: not bef-exec %s --functions sum --input f32:1 --input i64:2 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: {{^}}error: argument 'a' has type i32: expected one such number, got dtype f32, shape []
// RUN: not bef-exec %s --functions sum --input i32[2]:1,2 --input i64:2 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: {{^}}error: argument 'a' has type i32: expected one such number, got dtype i32, shape [2]
func.func @sum(%a: i32, %b: i64) -> (i32 {bef.name = "twice"}, i64) {
  %c = tfrt.add.i32 %a, %a
  tfrt.return %c, %b : i32, i64
}

// Chains need no input. Results go to files and come back as arguments; what is written is not printed.
// RUN: bef-exec %s --functions tensors --input f32[2x2]:1,2,3,4 --input i64[2]:2,3 --output %t.t.npy --output %t.s.npy | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: --- Running 'tensors':
// WRITTEN-NEXT: 'tensors' returned !tfrt.chain value
// RUN: bef-exec %s --functions tensors --input %t.t.npy --input %t.s.npy | FileCheck %s --check-prefix=READ
// READ: 'tensors' returned
// READ-NEXT: array({{\[\[}}1., 2.],
// READ-NEXT:        [3., 4.]], shape=(2, 2), dtype=float32),shape = [2, 3],!tfrt.chain value
// RUN: not bef-exec %s --functions tensors --input i32:1 --input i32[2]:1,2 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: {{^}}error: argument 's' has type !ts.shape: expected the sizes as a vector of i64, got dtype i32, shape [2]
// RUN: not bef-exec %s --functions tensors --input i32:1 --input i64[2]:1,-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: {{^}}error: argument 's' has type !ts.shape: {{.*}}-2

// `-` is standard input and output; arrays on standard output stand alone there.
// RUN: bef-exec %s --functions tensors --input f32[2x2]:1,2,3,4 --input i64[0]: --output=- > %t.o.npy && cmp %t.o.npy %t.t.npy
// RUN: bef-exec %s --functions tensors --input t=- --input i64[0]: --expect 0=%t.t.npy < %t.t.npy | FileCheck %s --check-prefix=STDIN
// RUN: bef-exec %s --functions tensors --input %t.t.npy --input i64[0]: --expect 0=- < %t.t.npy | FileCheck %s --check-prefix=STDIN
// STDIN: --- Running 'tensors':
// RUN: not bef-exec %s --functions tensors --input - --input i64[0]: --expect - < %t.t.npy 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: not bef-exec - --input - < %s 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: {{^}}error: standard input can be read only once
// RUN: not bef-exec %s --functions tensors --input i32:1 --input i64[0]: --output 0=%t.x.npy --output 1=%t.x.npy 2>&1 | FileCheck %s --check-prefix=ONEFILE
// ONEFILE: {{^}}error: two results cannot both be written to {{.*}}.x.npy
// RUN: printf 'no array' | not bef-exec %s --functions tensors --input - --input i64[0]: 2>&1 | FileCheck %s --check-prefix=NOSTDIN
// NOSTDIN: {{^}}error: cannot read '<stdin>': not a .npy file
// RUN: not bef-exec %s --functions tensors --input ch=i32:1 2>&1 | FileCheck %s --check-prefix=CHAIN
// CHAIN: {{^}}error: argument 'ch' has type !tfrt.chain: no file and no text can stand for one
// RUN: not bef-exec %s --functions tensors --input i32:1 --input i64[0]: --output 2=%t.npy 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// UNWRITABLE: error: result #2: expected a tensor, got a value of type !tfrt.chain
// RUN: printf 'no array' > %t.bad.npy && not bef-exec %s --functions tensors --input %t.bad.npy 2>&1 | FileCheck %s --check-prefix=NPY
// NPY: {{^}}error: cannot read '{{.*}}bad.npy': not a .npy file
// RUN: head -c 140 %t.t.npy > %t.cut.npy && not bef-exec %s --functions tensors --input %t.cut.npy 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: {{^}}error: cannot read '{{.*}}cut.npy': the .npy file is truncated: 16 bytes of elements expected, 12 found
func.func @tensors(%t: !t.tensor, %ch: !tfrt.chain, %s: !ts.shape) -> (!t.tensor, !ts.shape, !tfrt.chain) {
  tfrt.return %t, %s, %ch : !t.tensor, !ts.shape, !tfrt.chain
}

// A tensor of a wrong type or shape is the kernel's to refuse, with its place; then the exit code is 1.
// RUN: not bef-exec %s --functions relu --input i32[2]:1,2 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: inputs.mlir:[[@LINE+5]]:11: error: {{.*}}dtype i32, expected f32
// KERNEL-NEXT: 'relu' returned <<error: {{.*}}dtype i32, expected f32>>
// RUN: bef-exec %s --functions relu --input f32[2]:-1,2 --repeat 3 2>/dev/null | FileCheck %s --check-prefix=RELU
// RELU: 'relu' returned array([0., 2.], shape=(2,), dtype=float32)
func.func @relu(%x: !t.tensor, %ch: !tfrt.chain) -> !t.tensor { 
  %done = "cpu.relu.f32"(%x, %x, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %y = "cpu.after"(%x, %done) : (!t.tensor, !tfrt.chain) -> !t.tensor
  tfrt.return %y : !t.tensor
}

// Which function? RUN lines above name it; without a name it is @main, or the only one with arguments.
// RUN: not bef-exec %s --input i32:1 2>&1 | FileCheck %s --check-prefix=WHICH
// WHICH: {{^}}error: name the function with --functions; there are: sum, tensors, relu
// RUN: not bef-exec %s --functions su 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: {{^}}error: no function 'su'; there are: sum, tensors, relu
