// Results compared with files.
//
// RUN: bef-exec %s --output y=%t.y.npy --output n=%t.n.npy --input f32[3]:1,2,1000 | FileCheck %s --check-prefix=QUIET
// RUN: bef-exec %s --expect y=%t.y.npy --expect n=%t.n.npy --input f32[3]:1,2,1000 | FileCheck %s --check-prefix=QUIET
// RUN: bef-exec %s --expect %t.y.npy --input f32[3]:1,2,1000 | FileCheck %s --check-prefix=REST
// RUN: bef-exec %s --expect %t.y.npy --input f32[3]:1,2,1000.09 | FileCheck %s --check-prefix=REST
// RUN: bef-exec %s --expect %t.y.npy --input f32[3]:1,2.5,1000 --atol 0.5 --rtol 0 | FileCheck %s --check-prefix=REST
// The worst pair is told of a match, too.
// RUN: bef-exec %s --expect y=%t.y.npy --expect n=%t.n.npy --input f32[3]:1,2,1000.09 2>&1 | FileCheck %s --check-prefix=MATCH
// MATCH: {{^}}result 'y' is as expected in '{{.*}}y.npy': all 3 elements agree; worst at [2]: got 1000.09, want 1000.0, error 9.0{{.*}}e-2
// MATCH-NEXT: {{^}}result 'n' is as expected in '{{.*}}n.npy': all 1 elements are equal

// QUIET: --- Running 'main':
// QUIET-NOT: {{.}}
// REST: --- Running 'main':
// REST-NEXT: 'main' returned 7
// REST-NOT: {{.}}

// RUN: not bef-exec %s --expect y=%t.y.npy --input f32[3]:1.5,2,1001 2>&1 | FileCheck %s --check-prefix=DIFFERS
// DIFFERS: {{^}}error: result 'y' is not as expected in '{{.*}}y.npy': 2 of 3 elements differ; worst at [2]: got 1001{{.*}}, want 1000{{.*}}first at [0]: got 1.5, want 1
// RUN: not bef-exec %s --expect y=%t.y.npy --input f32[3]:1,2,1000.09 --rtol 1e-5 2>&1 | FileCheck %s --check-prefix=CLOSE
// CLOSE: error: result 'y' is not as expected in '{{.*}}': 1 of 3 elements differ
// RUN: not bef-exec %s --expect y=%t.n.npy --input f32[3]:1,2,1000 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: error: result 'y' is not as expected in '{{.*}}n.npy': `result` has dtype f32, expected i32
// RUN: not bef-exec %s --expect y=%t.y.npy --input f32[1x3]:1,2,1000 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: result 'y' is not as expected in '{{.*}}y.npy': `result` has shape [1, 3], expected [3]
// RUN: not bef-exec %s --expect z=%t.y.npy --input f32[3]:1,2,1000 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: there is no result 'z'; the function is main(x: !t.tensor) -> (y: !t.tensor, n: i32)
// RUN: not bef-exec %s --functions fails --expect %t.n.npy 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: expect.mlir:[[@LINE+8]]:8: error: something bad happened
// FAILS-NEXT: 'fails' returned <<error: something bad happened>>

func.func @main(%x: !t.tensor) -> (!t.tensor {bef.name = "y"}, i32 {bef.name = "n"}) {
  %n = tfrt.constant.i32 7
  tfrt.return %x, %n : !t.tensor, i32
}
func.func @fails() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
