// What the verifier of graphs with dataflow control flow finds. Nodes of imported graphs have names, which are
// in the messages; here they are in the locations.
//
// RUN: ir-opt %s --verify-diagnostics --split-input-file

func.func @one(%x: tensor<f32>) -> tensor<f32> {
  %r = tf_executor.graph -> tensor<f32> {
    // expected-error @+1 {{'m' (Merge) has no input that comes from a Switch}}
    %y, %i = tf_executor.Merge %x, %x : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>) loc("m")
    tf_executor.fetch %y : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// -----

// The two loops of a name are one frame, so it has one parent.
func.func @two(%x: tensor<f32>) {
  tf_executor.graph {
    %a = tf_executor.Enter %x frame "f" : (tensor<f32>) -> tensor<f32> loc("a")
    %b = tf_executor.Enter %a frame "g" : (tensor<f32>) -> tensor<f32> loc("b")
    // expected-error @+1 {{'c' (Enter) enters frame 'g' from no frame, but 'b' (Enter) enters it from frame 'f'}}
    %c = tf_executor.Enter %x frame "g" : (tensor<f32>) -> tensor<f32> loc("c")
    tf_executor.fetch
  }
  func.return
}

// -----

func.func @three(%x: tensor<f32>) {
  tf_executor.graph {
    %a = tf_executor.Enter %x frame "f" : (tensor<f32>) -> tensor<f32> loc("a")
    %b = tf_executor.Enter %x frame "g" : (tensor<f32>) -> tensor<f32> loc("b")
    // expected-error @+1 {{'s' (AddV2) has inputs of two frames: 'a' (Enter) is in frame 'f', 'b' (Enter) in frame 'g'}}
    %s = "tf.AddV2"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("s")
    // expected-error @+1 {{'t' (AddV2) has inputs of two frames: 'a' (Enter) is in frame 'f', an argument in no frame}}
    %t = "tf.AddV2"(%a, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("t")
    tf_executor.fetch
  }
  func.return
}

// -----

func.func @four(%x: tensor<f32>) -> tensor<f32> {
  %r = tf_executor.graph -> tensor<f32> {
    // expected-error @+1 {{'x' (Exit) is not in a loop: no Enter leads to it}}
    %y = tf_executor.Exit %x : (tensor<f32>) -> tensor<f32> loc("x")
    tf_executor.fetch %y : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// -----

func.func @five(%x: tensor<f32>) {
  tf_executor.graph {
    // expected-error @+1 {{only a Merge may use what comes from an iteration before}}
    %n, %token = tf_executor.NextIteration.Source : () -> (tensor<f32>, !tf_executor.token) loc("n")
    %y = "tf.Neg"(%n) : (tensor<f32>) -> tensor<f32>
    // expected-error @+1 {{'n' (NextIteration.Sink) is not in a loop: no Enter leads to it}}
    tf_executor.NextIteration.Sink %token, %y : (!tf_executor.token, tensor<f32>) -> () loc("n")
    tf_executor.fetch
  }
  func.return
}

// -----

func.func @six(%x: tensor<f32>) -> tensor<f32> {
  %r = tf_executor.graph -> tensor<f32> {
    %a = tf_executor.Enter %x frame "f" : (tensor<f32>) -> tensor<f32> loc("a")
    // expected-error @+1 {{'a' (Enter) is in frame 'f', so the graph cannot return it}}
    tf_executor.fetch %a : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// -----

func.func @seven(%x: tensor<f32>) {
  tf_executor.graph {
    %n, %token = tf_executor.NextIteration.Source : () -> (tensor<f32>, !tf_executor.token)
    %a = tf_executor.Enter %x frame "f" constant true : (tensor<f32>) -> tensor<f32> loc("a")
    // expected-error @+1 {{'m' (Merge), which has the next iteration as input, has an Enter that is constant}}
    %m, %i = tf_executor.Merge %a, %n : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>) loc("m")
    tf_executor.NextIteration.Sink %token, %m : (!tf_executor.token, tensor<f32>) -> ()
    tf_executor.fetch
  }
  func.return
}

// -----

func.func @eight(%x: tensor<f32>) {
  tf_executor.graph {
    // expected-error @+1 {{'n' (NextIteration.Source): its token has 0 sinks, expected one}}
    %n, %token = tf_executor.NextIteration.Source : () -> (tensor<f32>, !tf_executor.token) loc("n")
    %a = tf_executor.Enter %x frame "f" : (tensor<f32>) -> tensor<f32>
    %m, %i = tf_executor.Merge %a, %n : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)
    tf_executor.fetch
  }
  func.return
}

// -----

func.func @nine(%x: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{this graph is malformed: its results are not those that it fetches}}
  %r = tf_executor.graph -> tensor<f32> {
    // expected-error @+1 {{'s' (Switch) is malformed: its operands and results have different element types}}
    %f, %t = tf_executor.Switch %x, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<i32>) loc("s")
    // expected-error @+1 {{'u' (Switch) is malformed: its operand #1 is no tensor of i1}}
    %g, %u = tf_executor.Switch %x, %x : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) loc("u")
    tf_executor.fetch
  }
  func.return
}

// -----

func.func @ten(%x: tensor<f32>, %p: tensor<i1>) {
  // expected-error @+1 {{`tf_executor.Switch` must stand directly in `tf_executor.graph`}}
  %f, %t = tf_executor.Switch %x, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)
  func.return
}
