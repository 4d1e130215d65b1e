// A file whose parts do not fit together is refused when it is loaded, with both ends of each channel.
//
// RUN: not bef-exec %s 2>&1 | FileCheck %s
// RUN: ir-translate %s -o %t.bef && not bef-exec %t.bef --functions main 2>&1 | FileCheck %s
// RUN: ir-translate %s -o %t.bef --disable-optional-sections && not bef-exec %t.bef 2>&1 | FileCheck %s --check-prefix=STRIPPED
// CHECK: wrong-parts.mlir:[[@LINE+22]]:8: error: the parts do not fit together: channel 0 is received and never sent (in 'main.B')
// CHECK: wrong-parts.mlir:[[@LINE+13]]:3: error: the parts do not fit together: channel 1 is sent and never received (in 'main.A')
// CHECK: wrong-parts.mlir:[[@LINE+21]]:8: error: the parts do not fit together: channel 2 is sent as i32 and received as i64; the other end is in 'main.A' ({{.*}}wrong-parts.mlir:[[@LINE+13]]:3) (in 'main.B')
// CHECK: wrong-parts.mlir:[[@LINE+29]]:8: error: the parts do not fit together: channel 5 is received in another frame than it is sent in; the other end is in 'main.A' ({{.*}}wrong-parts.mlir:[[@LINE+13]]:3) (in 'body.B')
// CHECK: wrong-parts.mlir:[[@LINE+21]]:8: error: the parts do not fit together: channel 7 is sent as i32, i32 and received as i32; the other end is in 'main.A' ({{.*}}wrong-parts.mlir:[[@LINE+14]]:3) (in 'main.B')
// CHECK-NOT: channel
// STRIPPED: channel 2 is sent as i32 and received as i64; the other end is in 'main.A' (in 'main.B')
func.func @main(%x: i32) {
  %s = dev.step
  tfrt.call @main.A(%x, %s) : (i32, !dev.step) -> ()
  tfrt.call @main.B(%x, %s) : (i32, !dev.step) -> ()
  tfrt.return
}
func.func private @main.A(%x: i32, %s: !dev.step) {
  dev.send %x in %s channel 1 to "B" : i32
  dev.send %x in %s channel 2 to "B" : i32
  dev.send %x in %s channel 5 to "B" : i32
  dev.send %x in %s channel 6 to "B" : i32
  dev.send %x, %x in %s channel 7 to "B" : i32, i32
  tfrt.return
}
func.func private @main.B(%x: i32, %s: !dev.step) {
  %a = dev.recv in %s channel 0 from "A" : i32
  %b = dev.recv in %s channel 2 from "A" : i64
  %f = dev.recv in %s channel 6 from "A" : i32
  %j = dev.recv in %s channel 7 from "A" : i32
  %g = dev.enter %s {bef.frame = "loop"}
  %go = tfrt.constant.i1 true
  %h = tfrt.while %go @body.B(%g) parallel_iterations(1) : (!dev.step) -> (!dev.step)
  tfrt.return
}
func.func private @body.B(%s: !dev.step) -> (!dev.step, i1) {
  %x = dev.recv in %s channel 5 from "A" : i32
  %n = dev.next %s
  %stop = tfrt.constant.i1 false
  tfrt.return %n, %stop : !dev.step, i1
}

// A part alone is loaded: the other ends are in other files.
func.func @alone(%s: !dev.step) -> i32 {
  %x = dev.recv in %s channel 9 from "A" : i32
  tfrt.return %x : i32
}
