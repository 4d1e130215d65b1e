// Parts that do not fit together: each rule broken once.
// RUN: ir-opt %s --pass-pipeline='builtin.module(verify-parts)' --split-input-file --verify-diagnostics

// Parts that fit: a branch and a loop that both take part in.
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  dev.send %x in %s channel 0 to "B" : tensor<f32>
  %f = dev.enter %s {bef.frame = "w"}
  %r:2 = "tf.While"(%x, %f) {cond = @cond.A, body = @body.A} : (tensor<f32>, !dev.step) -> (tensor<f32>, !dev.step)
  tfrt.return %r#0 : tensor<f32>
}
func.func private @cond.A(%x: tensor<f32>, %s: !dev.step) -> tensor<i1> {
  %p = "tf.Less"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  dev.send %p in %s channel 1 to "B" : tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body.A(%x: tensor<f32>, %s: !dev.step) -> (tensor<f32>, !dev.step) {
  dev.send %x in %s channel 2 to "B" : tensor<f32>
  %y = dev.recv in %s channel 3 from "B" : tensor<f32>
  %n = dev.next %s
  tfrt.return %y, %n : tensor<f32>, !dev.step
}
func.func private @main.B(%s: !dev.step) {
  %x = dev.recv in %s channel 0 from "A" : tensor<f32>
  %f = dev.enter %s {bef.frame = "w"}
  %r = "tf.While"(%f) {cond = @cond.B, body = @body.B} : (!dev.step) -> !dev.step
  tfrt.return
}
func.func private @cond.B(%s: !dev.step) -> tensor<i1> {
  %p = dev.recv in %s channel 1 from "A" : tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body.B(%s: !dev.step) -> !dev.step {
  %x = dev.recv in %s channel 2 from "A" : tensor<f32>
  %y = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  dev.send %y in %s channel 3 to "A" : tensor<f32>
  %n = dev.next %s
  tfrt.return %n : !dev.step
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  // expected-error @+1 {{the parts do not fit together: channel 4 is sent and never received}}
  dev.send %x in %s channel 4 to "B" : tensor<f32>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-error @+1 {{the parts do not fit together: channel 4 is received and never sent}}
  %y = dev.recv in %s channel 4 from "A" : tensor<f32>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  // expected-note @+1 {{sent here, too}}
  dev.send %x in %s channel 4 to "B" : tensor<f32>
  // expected-error @+1 {{the parts do not fit together: channel 4 is sent twice}}
  dev.send %x in %s channel 4 to "B" : tensor<f32>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  %y = dev.recv in %s channel 4 from "A" : tensor<f32>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  dev.send %x in %s channel 4 to "B" : tensor<f32>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-note @+1 {{received here, too}}
  %y = dev.recv in %s channel 4 from "A" : tensor<f32>
  // expected-error @+1 {{the parts do not fit together: channel 4 is received twice}}
  %z = dev.recv in %s channel 4 from "A" : tensor<f32>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  // expected-note @+1 {{sent here}}
  dev.send %x in %s channel 4 to "B" : tensor<f32>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-error @+1 {{the parts do not fit together: channel 4 is sent as tensor<f32> and received as tensor<i32>}}
  %y = dev.recv in %s channel 4 from "A" : tensor<i32>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  // expected-note @+1 {{sent here}}
  dev.send %x in %s channel 4 to "B" : tensor<f32>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  %f = dev.enter %s {bef.frame = "w"}
  // expected-error @+1 {{the parts do not fit together: channel 4 is received in another frame than it is sent in}}
  %y = dev.recv in %f channel 4 from "A" : tensor<f32>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  %p = "tf.Less"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "tf.If"(%p, %x, %s) {then_branch = @then.A, else_branch = @else.A, bef.branch = "if#1"} : (tensor<i1>, tensor<f32>, !dev.step) -> ()
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-error @+1 {{the parts do not fit together: channel 4 is received where it may not be sent}}
  %y = dev.recv in %s channel 4 from "A" : tensor<f32>
  tfrt.return
}
func.func private @then.A(%x: tensor<f32>, %s: !dev.step) {
  // expected-note @+1 {{sent in a branch}}
  dev.send %x in %s channel 4 to "B" : tensor<f32>
  tfrt.return
}
func.func private @else.A(%x: tensor<f32>, %s: !dev.step) {
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  // expected-error @+1 {{the parts do not fit together: the parts wait for each other in a circle, by channels 4, 5}}
  %y = dev.recv in %s channel 4 from "B" : tensor<f32>
  dev.send %y in %s channel 5 to "B" : tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-note @+1 {{which waits for this}}
  %y = dev.recv in %s channel 5 from "A" : tensor<f32>
  dev.send %y in %s channel 4 to "A" : tensor<f32>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = dev.parts(%x) {parts = [@main.A, @main.B], takes = [[0], []], gives = [[0], []]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %s: !dev.step) -> tensor<f32> {
  // expected-error @+1 {{the parts do not fit together: the parts wait for each other in a circle, by channels 4, 5}}
  %y = dev.recv in %s channel 4 from "B" : tensor<f32>
  %z, %ch = "tf.Neg"(%y) : (tensor<f32>) -> (tensor<f32>, !tfrt.chain)
  %w, %dh = "tf.Abs"(%x, %ch) : (tensor<f32>, !tfrt.chain) -> (tensor<f32>, !tfrt.chain)
  dev.send %w in %s channel 5 to "B" : tensor<f32>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-note @+1 {{which waits for this}}
  %y = dev.recv in %s channel 5 from "A" : tensor<f32>
  dev.send %y in %s channel 4 to "A" : tensor<f32>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %r = dev.parts(%x, %p) {parts = [@main.A, @main.B], takes = [[0, 1], []], gives = [[0], []]} : (tensor<f32>, tensor<i1>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %p: tensor<i1>, %s: !dev.step) -> tensor<f32> {
  // expected-note @+1 {{sent here}}
  dev.send %x, %p in %s channel 4 to "B" : tensor<f32>, tensor<i1>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-error @+1 {{the parts do not fit together: channel 4 is sent as tensor<f32>, tensor<i1> and received as tensor<f32>}}
  %y = dev.recv in %s channel 4 from "A" : tensor<f32>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %r = dev.parts(%x, %p) {parts = [@main.A, @main.B], takes = [[0, 1], []], gives = [[0], []]} : (tensor<f32>, tensor<i1>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %p: tensor<i1>, %s: !dev.step) -> tensor<f32> {
  // expected-note @+1 {{sent here}}
  dev.send %x in %s channel 4 to "B" : tensor<f32>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-error @+1 {{the parts do not fit together: channel 4 is sent as tensor<f32> and received as tensor<f32>, tensor<i1>}}
  %y, %q = dev.recv in %s channel 4 from "A" : tensor<f32>, tensor<i1>
  tfrt.return
}

// -----

func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %r = dev.parts(%x, %p) {parts = [@main.A, @main.B], takes = [[0, 1], []], gives = [[0], []]} : (tensor<f32>, tensor<i1>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @main.A(%x: tensor<f32>, %p: tensor<i1>, %s: !dev.step) -> tensor<f32> {
  // expected-note @+1 {{sent here}}
  dev.send %x, %p in %s channel 4 to "B" : tensor<f32>, tensor<i1>
  tfrt.return %x : tensor<f32>
}
func.func private @main.B(%s: !dev.step) {
  // expected-error @+1 {{the parts do not fit together: channel 4 is sent as tensor<f32>, tensor<i1> and received as tensor<f32>, tensor<i32>}}
  %y, %q = dev.recv in %s channel 4 from "A" : tensor<f32>, tensor<i32>
  tfrt.return
}
