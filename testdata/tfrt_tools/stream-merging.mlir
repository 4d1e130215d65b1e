// The streams of TFRT's analysis where small streams meet. An op without child streams has no list of them.
//
// RUN: tfrt_opt -tfrt-print-stream -verify-diagnostics -split-input-file %s
// RUN: tfrt_opt -tfrt-print-stream %s 2>&1 | FileCheck %s

// Without a threshold a small stream that is left over stays apart.
// CHECK: stream-merging.mlir:[[@LINE+2]]:{{.*}}stream id: 0, stream cost: 12, parent stream: -1, child streams: [1]{{$}}
// expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1, child streams: [1]}}
func.func @left_over(%x: i32) -> i32 {
  // CHECK: stream-merging.mlir:[[@LINE+2]]:{{.*}}stream id: 0, stream cost: 12, parent stream: -1{{$}}
  // expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  %a = tfrt_test.test_cost %x {id = 0 : i64, _tfrt_cost = 10 : i64} : i32
  // CHECK: stream-merging.mlir:[[@LINE+2]]:{{.*}}stream id: 1, stream cost: 3, parent stream: 0{{$}}
  // expected-remark @+1 {{stream id: 1, stream cost: 3, parent stream: 0}}
  %b = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 3 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  tfrt.return %a : i32
}

// -----

// With one it becomes part of the op's stream.
// expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
func.func @left_over_by_cost(%x: i32) -> i32 attributes {tfrt.cost_threshold = 5} {
  // expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %a = tfrt_test.test_cost %x {id = 0 : i64, _tfrt_cost = 10 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %b = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 3 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  tfrt.return %a : i32
}

// -----

// Without a threshold two streams are merged only if both in sequence are small: c and d, not b and c.
// expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1, child streams: [3, 2]}}
func.func @both_together(%x: i32) -> i32 {
  // expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  %a = tfrt_test.test_cost %x {id = 0 : i64, _tfrt_cost = 10 : i64} : i32
  // expected-remark @+1 {{stream id: 3, stream cost: 6, parent stream: 0}}
  %b = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 6 : i64} : i32
  // expected-remark @+1 {{stream id: 2, stream cost: 9, parent stream: 0}}
  %c = tfrt_test.test_cost %x {id = 2 : i64, _tfrt_cost = 6 : i64} : i32
  // expected-remark @+1 {{stream id: 2, stream cost: 9, parent stream: 0}}
  %d = tfrt_test.test_cost %x {id = 3 : i64, _tfrt_cost = 3 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  tfrt.return %a : i32
}

// -----

// The path of an op without operands is its own cost: %r hangs from %a.
// expected-remark @+1 {{stream id: 0, stream cost: 4, parent stream: -1, child streams: [2, 1]}}
func.func @no_operands_by_cost(%x: i32) -> i32 attributes {tfrt.cost_threshold = 2} {
  // expected-remark @+1 {{stream id: 2, stream cost: 2, parent stream: 0}}
  %c = tfrt.constant.i32 1
  // expected-remark @+1 {{stream id: 1, stream cost: 9, parent stream: 0}}
  %a = tfrt_test.test_cost %x {id = 0 : i64, _tfrt_cost = 2 : i64} : i32
  // expected-remark @+1 {{stream id: 1, stream cost: 9, parent stream: 0}}
  %r = tfrt_test.test_cost %c, %a {id = 1 : i64, _tfrt_cost = 7 : i64} : i32, i32
  // expected-remark @+1 {{stream id: 0, stream cost: 4, parent stream: -1}}
  %s = tfrt_test.test_cost %x {id = 2 : i64, _tfrt_cost = 2 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 4, parent stream: -1}}
  tfrt.return %s : i32
}

// -----

// expected-remark @+1 {{stream id: 0, stream cost: 4, parent stream: -1, child streams: [2, 1]}}
func.func @no_operands() -> i32 {
  // expected-remark @+1 {{stream id: 0, stream cost: 4, parent stream: -1}}
  %c = tfrt.constant.i32 1
  // expected-remark @+1 {{stream id: 0, stream cost: 4, parent stream: -1}}
  %d = tfrt.add.i32 %c, %c
  // expected-remark @+1 {{stream id: 2, stream cost: 1, parent stream: 0}}
  %e = tfrt.constant.i32 2
  // expected-remark @+1 {{stream id: 1, stream cost: 1, parent stream: 0}}
  %f = tfrt.constant.i32 3
  // expected-remark @+1 {{stream id: 0, stream cost: 4, parent stream: -1}}
  tfrt.return %d : i32
}

// -----

// A function's own 0 hides the threshold of its module.
module attributes {tfrt.cost_threshold = 10 : i64} {
// expected-remark @+1 {{stream id: 0, stream cost: 122, parent stream: -1, child streams: [4]}}
func.func @long_and_short(%x: i32) -> i32 attributes {tfrt.cost_threshold = 0 : i64} {
  // expected-remark @+1 {{stream id: 0, stream cost: 122, parent stream: -1}}
  %a1 = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 122, parent stream: -1}}
  %a2 = tfrt_test.test_cost %a1 {id = 2 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 122, parent stream: -1}}
  %a3 = tfrt_test.test_cost %a2 {id = 3 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 122, parent stream: -1}}
  %a4 = tfrt_test.test_cost %a3 {id = 4 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 122, parent stream: -1}}
  %a5 = tfrt_test.test_cost %a4 {id = 5 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 4, stream cost: 16, parent stream: 0}}
  %b0 = tfrt_test.test_cost %x {id = 6 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 4, stream cost: 16, parent stream: 0}}
  %b1 = tfrt_test.test_cost %x {id = 7 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 4, stream cost: 16, parent stream: 0}}
  %b2 = tfrt_test.test_cost %x {id = 8 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 4, stream cost: 16, parent stream: 0}}
  %b3 = tfrt_test.test_cost %x {id = 9 : i64, _tfrt_cost = 4 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 122, parent stream: -1}}
  %z = tfrt_test.test_cost %b0, %b2, %b3, %a5 {id = 10 : i64, _tfrt_cost = 100 : i64} : i32, i32, i32, i32
  // expected-remark @+1 {{stream id: 0, stream cost: 122, parent stream: -1}}
  tfrt.return %z : i32
}
}

// -----

// A dependent stream is merged if it costs less than the longest path (16), although it would not end before that: the
// stream of %o, into the one of %s, which begins first.
// expected-remark @+1 {{stream id: 1, stream cost: 18, parent stream: -1}}
func.func @dependent(%x: i32) -> i32 attributes {tfrt.merge_inter_dependent_streams = true} {
  // expected-remark @+1 {{stream id: 1, stream cost: 18, parent stream: -1}}
  %a = tfrt_test.test_cost %x {id = 0 : i64, _tfrt_cost = 5 : i64} : i32
  // expected-remark @+1 {{stream id: 1, stream cost: 18, parent stream: -1}}
  %s = tfrt_test.test_cost %a {id = 1 : i64, _tfrt_cost = 2 : i64} : i32
  // expected-remark @+1 {{stream id: 1, stream cost: 18, parent stream: -1}}
  %o = tfrt_test.test_cost %a {id = 2 : i64, _tfrt_cost = 8 : i64} : i32
  // expected-remark @+1 {{stream id: 1, stream cost: 18, parent stream: -1}}
  %r = tfrt_test.test_cost %o, %s {id = 3 : i64, _tfrt_cost = 1 : i64} : i32, i32
  // expected-remark @+1 {{stream id: 1, stream cost: 18, parent stream: -1}}
  tfrt.return %r : i32
}
