// Which stream each op is in: TFRT's rules, TFRT's words.
//
// RUN: ir-opt --print-stream --split-input-file --verify-diagnostics --allow-unregistered-dialect %s

// Streams of at least the threshold stand alone; smaller ones are merged until they are no longer small, and one that is left goes with the op.
module attributes {tfrt.cost_threshold = 10 : i64} {
// expected-remark @+1 {{stream id: 0, stream cost: 39, parent stream: -1, child streams: [1]}}
func.func @threshold(%a: i32) -> i32 {
  // expected-remark @+1 {{stream id: 0, stream cost: 39, parent stream: -1}}
  %c = tfrt_test.test_cost %a {id = 0 : i64, _tfrt_cost = 12 : i64} : i32
  // expected-remark @+1 {{stream id: 0, stream cost: 39, parent stream: -1}}
  %d = tfrt_test.test_cost %a {id = 1 : i64, _tfrt_cost = 5 : i64} : i32
  // expected-remark @+1 {{stream id: 1, stream cost: 11, parent stream: 0}}
  %e = tfrt_test.test_cost %a {id = 2 : i64, _tfrt_cost = 11 : i64} : i32
  // Of unknown cost: the threshold.
  // expected-remark @+1 {{stream id: 0, stream cost: 39, parent stream: -1}}
  %x = tfrt.add.i32 %c, %d
  // Merging costs 1, and so does returning.
  // expected-remark @+1 {{stream id: 0, stream cost: 39, parent stream: -1}}
  %y = tfrt.add.i32 %x, %e
  // expected-remark @+1 {{stream id: 0, stream cost: 39, parent stream: -1}}
  tfrt.return %y : i32
}
}

// -----

// The function's own threshold counts more than the module's.
module attributes {tfrt.cost_threshold = 100 : i64} {
// expected-remark @+1 {{stream id: 0, stream cost: 2, parent stream: -1, child streams: [2, 1]}}
func.func @function() attributes {tfrt.cost_threshold = 1 : i64} {
  // expected-remark @+1 {{stream id: 2, stream cost: 1, parent stream: 0}}
  %a = tfrt.constant.i32 1
  // expected-remark @+1 {{stream id: 1, stream cost: 2, parent stream: 0}}
  %b = tfrt.constant.i32 2
  // expected-remark @+1 {{stream id: 1, stream cost: 2, parent stream: 0}}
  %c = tfrt.add.i32 %b, %b
  // expected-remark @+1 {{stream id: 0, stream cost: 2, parent stream: -1}}
  tfrt.return
}
}

// -----

// Without a threshold: %c and %d can be done one after the other while %a and %b are; together with %e they could not.
// expected-remark @+1 {{stream id: 0, stream cost: 11, parent stream: -1, child streams: [3, 1]}}
func.func @automatic(%x: i32) -> i32 {
  // expected-remark @+1 {{stream id: 0, stream cost: 11, parent stream: -1}}
  %a = "x.a"(%x) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 11, parent stream: -1}}
  %b = "x.b"(%a) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 3, stream cost: 6, parent stream: 0}}
  %c = "x.c"(%x) {_tfrt_cost = 3 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 3, stream cost: 6, parent stream: 0}}
  %d = "x.d"(%x) {_tfrt_cost = 3 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 1, stream cost: 4, parent stream: 0}}
  %e = "x.e"(%x) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 11, parent stream: -1}}
  %r = "x.sum"(%b, %c, %d, %e) : (i32, i32, i32, i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 11, parent stream: -1}}
  tfrt.return %r : i32
}

// -----

// A stream is started from the op that it hangs from.
// expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
func.func @later(%x: i32) -> i32 attributes {tfrt.cost_threshold = 3} {
  // expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1, child streams: [1]}}
  %a = "x.a"(%x) {_tfrt_cost = 2 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  %b = "x.b"(%a) {_tfrt_cost = 5 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 1, stream cost: 4, parent stream: 0}}
  %c = "x.c"(%a) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  %r = "x.sum"(%b, %c) : (i32, i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 12, parent stream: -1}}
  tfrt.return %r : i32
}

// -----

// Small streams become one with those that need their values, if they are asked to; chains do not count.
// expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
func.func @dependent(%x: i32) -> i32 attributes {tfrt.cost_threshold = 5, tfrt.merge_inter_dependent_streams = true} {
  // expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %b = "x.b"(%x) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %c = "x.c"(%x) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  %r = "x.sum"(%b, %c) : (i32, i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 15, parent stream: -1}}
  tfrt.return %r : i32
}

// expected-remark @+1 {{stream id: 0, stream cost: 10, parent stream: -1, child streams: [1]}}
func.func @chained(%x: i32) -> i32 attributes {tfrt.cost_threshold = 4, tfrt.merge_inter_dependent_streams = true} {
  // expected-remark @+1 {{stream id: 0, stream cost: 10, parent stream: -1}}
  %b = "x.b"(%x) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 1, stream cost: 4, parent stream: 0}}
  %c = "x.c"(%x) {_tfrt_cost = 4 : i64} : (i32) -> !tfrt.chain
  // expected-remark @+1 {{stream id: 0, stream cost: 10, parent stream: -1}}
  %r = "x.sum"(%b, %c) : (i32, !tfrt.chain) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 10, parent stream: -1}}
  tfrt.return %r : i32
}

// -----

// An op joins no stream that costs too much: the root has begun one of its own, and TFRT numbers streams as they are begun.
// expected-remark @+1 {{stream id: 1, stream cost: 5, parent stream: -1, child streams: [0]}}
func.func @upper(%x: i32) -> i32 attributes {tfrt.cost_threshold = 3, tfrt.merge_inter_dependent_streams = true, tfrt.upper_cost_threshold = 8} {
  // expected-remark @+1 {{stream id: 0, stream cost: 8, parent stream: 1}}
  %b = "x.b"(%x) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 1, stream cost: 5, parent stream: -1}}
  %c = "x.c"(%x) {_tfrt_cost = 4 : i64} : (i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 8, parent stream: 1}}
  %r = "x.sum"(%b, %c) : (i32, i32) -> i32
  // expected-remark @+1 {{stream id: 0, stream cost: 8, parent stream: 1}}
  tfrt.return %r : i32
}
