//! Examples of ops with regions or successors, and of those with rules of their own for operands and
//! attributes.

/// Ops that hold programs, with their examples.
pub(super) const WHOLE: &[(&str, &str)] = &[
    ("builtin.module", "module @name { func.func @f() { tfrt.return } }"),
    ("func.func", "func.func @f(%x: i32) -> i32 { tfrt.return %x : i32 }"),
];

/// Ops with their examples: the arguments of a function around them, and its body.
pub(super) const SPECIAL: &[(&str, &str, &str)] = &[
    ("arith.extf", "%x: f32", "%y = arith.extf %x : f32 to f64"),
    ("arith.extsi", "%x: i32", "%y = arith.extsi %x : i32 to i64"),
    ("arith.extui", "%x: i32", "%y = arith.extui %x : i32 to i64"),
    ("arith.index_cast", "%x: i32", "%y = arith.index_cast %x : i32 to index"),
    ("arith.index_castui", "%x: i32", "%y = arith.index_castui %x : i32 to index"),
    ("arith.truncf", "%x: f64", "%y = arith.truncf %x : f64 to f32"),
    ("arith.trunci", "%x: i64", "%y = arith.trunci %x : i64 to i32"),
    ("cf.br", "%x: i32", "cf.br ^next(%x : i32)\n^next(%y: i32):"),
    (
        "cf.cond_br",
        "%c: i1, %x: i32",
        "cf.cond_br %c, ^then(%x : i32), ^next\n^then(%y: i32):\ncf.br ^next\n^next:",
    ),
    (
        "cf.switch",
        "%x: i32",
        "cf.switch %x : i32, [default: ^next, 42: ^other]\n^other:\ncf.br ^next\n^next:",
    ),
    ("func.call", "%x: i32", "%r = func.call @function(%x) : (i32) -> i32"),
    ("func.call_indirect", "%f: (i32) -> i32, %x: i32", "%r = func.call_indirect %f(%x) : (i32) -> i32"),
    ("func.constant", "", "%f = func.constant @function : (i32) -> i32"),
    ("func.return", "", "func.return"),
    ("scf.condition", "%x: i32, %c: i1", WHILE),
    ("scf.execute_region", "%x: i32", "%r = scf.execute_region -> i32 {\nscf.yield %x : i32\n}"),
    ("scf.for", "%a: index, %b: index, %s: index", "scf.for %i = %a to %b step %s {\n}"),
    ("scf.if", "%c: i1, %x: i32", IF),
    ("scf.index_switch", "%i: index", "scf.index_switch %i\ncase 2 {\nscf.yield\n}\ndefault {\n}"),
    ("scf.while", "%x: i32, %c: i1", WHILE),
    ("scf.yield", "%c: i1, %x: i32", IF),
    ("tensor.empty", "%size: index", "%t = tensor.empty(%size) : tensor<?x3xf32>"),
    ("tensor.splat", "%x: f32, %size: index", "%t = tensor.splat %x[%size] : tensor<?xf32>"),
    ("tf.CaseRegion", "%i: tensor<i32>, %x: tensor<f32>", CASE_REGION),
    ("tf.IfRegion", "%c: tensor<i1>, %x: tensor<f32>", IF_REGION),
    (
        "tf.WhileRegion",
        "%x: tensor<f32>, %c: tensor<i1>",
        "%r = \"tf.WhileRegion\"(%x) ({\n^bb0(%y: tensor<f32>):\n\"tf.Yield\"(%c) : (tensor<i1>) -> ()\n}, {\n\
         ^bb0(%y: tensor<f32>):\n\"tf.Yield\"(%y) : (tensor<f32>) -> ()\n}) : (tensor<f32>) -> tensor<f32>",
    ),
    ("tf.Yield", "%c: tensor<i1>, %x: tensor<f32>", IF_REGION),
    (
        "tf._Gradients",
        "%x: tensor<4xf32>",
        "%y = \"tf.Square\"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n%dx = \"tf._Gradients\"(%y, %x) \
         <{operandSegmentSizes = array<i32: 1, 0, 1, 0>, unconnected = \"zero\"}> : (tensor<4xf32>, \
         tensor<4xf32>) -> tensor<4xf32>",
    ),
    (
        "tf._FusedElementwise",
        "%x: tensor<4xf32>, %y: tensor<4xf32>",
        "%z = \"tf._FusedElementwise\"(%x, %y) {numbers = [], ops = [\"AddV2\", \"Tanh\"], \
         results = [1], values = [0, 1, 2]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
    ),
    (
        "tf.RaggedTensorToTensor",
        "%shape: tensor<2xi64>, %x: tensor<?xf32>, %default: tensor<f32>, %splits: tensor<?xi64>",
        "%y = \"tf.RaggedTensorToTensor\"(%shape, %x, %default, %splits) {row_partition_types = \
         [\"ROW_SPLITS\"]} : (tensor<2xi64>, tensor<?xf32>, tensor<f32>, tensor<?xi64>) -> tensor<?x?xf32>",
    ),
    (
        "tf._TreeEnsemble",
        "%x: tensor<4x2xf32>",
        "%y = \"tf._TreeEnsemble\"(%x) {nodes_falsenodeids = [2, 0, 0], nodes_featureids = [1, 0, 0], nodes_modes = \
         [\"BRANCH_LEQ\", \"LEAF\", \"LEAF\"], nodes_nodeids = [0, 1, 2], nodes_treeids = [0, 0, 0], nodes_truenodeids = \
         [1, 0, 0], nodes_values = [0.5, 0.0, 0.0], target_ids = [0, 0], target_nodeids = [1, 2], target_treeids = \
         [0, 0], target_weights = [1.0, 2.0]} : (tensor<4x2xf32>) -> tensor<4x1xf32>",
    ),
    ("tfrt.call", "%x: i32", "%r = tfrt.call @function(%x) : (i32) -> i32"),
    ("tfrt.case", "%i: i32, %x: i32", "%r = tfrt.case %i [@function, @function] (%x) : (i32) -> (i32)"),
    (
        "corert.cond",
        "%ch: !tfrt.chain, %x: !corert.tensorhandle",
        "%done, %r = corert.cond %x @pass @pass (%ch, %x) : (!corert.tensorhandle) -> (!corert.tensorhandle)",
    ),
    (
        "corert.while",
        "%ch: !tfrt.chain, %x: !corert.tensorhandle",
        "%done, %r = corert.while @pass @pass (%ch, %x) : (!corert.tensorhandle) -> (!corert.tensorhandle)",
    ),
    ("tfrt.cond", "%c: i1, %x: i32", "%r = tfrt.cond %c @function @function (%x) : (i32) -> (i32)"),
    (
        "tfrt.if",
        "%c: i1, %x: i32",
        "%r = tfrt.if %c, %x : (i32) -> (i32) {\ntfrt.return %x : i32\n} else {\ntfrt.return %x : i32\n}",
    ),
    ("tfrt.once", "%x: i32", "%r = tfrt.once @function(%x) : (i32) -> (i32)"),
    (
        "tfrt.parallel_call.i32",
        "%first: i32, %end: i32, %size: i32, %x: i32",
        "%ch = tfrt.parallel_call.i32 %first to %end fixed %size @block(%x) : i32",
    ),
    (
        "tfrt.parallel_for.i32",
        "%first: i32, %end: i32, %size: i32, %x: i32",
        "%ch = tfrt.parallel_for.i32 %first to %end fixed %size, %x : i32 {\n%done = tfrt.new.chain\n\
         tfrt.return %done : !tfrt.chain\n}",
    ),
    ("tfrt.repeat.i32", "%n: i32, %x: i32", "%r = tfrt.repeat.i32 %n, %x : i32 {\ntfrt.return %x : i32\n}"),
    ("tfrt.return", "", "tfrt.return"),
    ("tfrt.while", "%c: i1, %x: i32", "%r = tfrt.while %c @step(%x) parallel_iterations(1) : (i32) -> (i32)"),
    (
        "tfrt_test.benchmark",
        "%x: i32",
        "%ch = tfrt_test.benchmark \"name\"(%x : i32) duration_secs = 1, max_count = 10 {\n\
         tfrt.return %x : i32\n}",
    ),
    (
        "tfrt_test.do.async",
        "%x: i32",
        "%y = tfrt_test.do.async %x : (i32) -> (i32) {\ntfrt.return %x : i32\n}",
    ),
    (
        "tfrt_test.sync_benchmark",
        "%x: i32",
        "tfrt_test.sync_benchmark @sync(%x : i32) duration_secs = 1, max_count = 10",
    ),
    (
        "tf_executor.ControlTrigger",
        "",
        "tf_executor.graph {\n%done = tf_executor.ControlTrigger : () -> !tfrt.chain\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.Enter",
        "%x: tensor<f32>",
        "tf_executor.graph {\n%e = tf_executor.Enter %x frame \"w\" : (tensor<f32>) -> tensor<f32>\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.Exit",
        "%x: tensor<f32>",
        "tf_executor.graph {\n%e = tf_executor.Enter %x frame \"w\" : (tensor<f32>) -> tensor<f32>\n%y = tf_executor.Exit %e : (tensor<f32>) -> tensor<f32>\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.LoopCond",
        "%p: tensor<i1>",
        "tf_executor.graph {\n%e = tf_executor.Enter %p frame \"w\" : (tensor<i1>) -> tensor<i1>\n%n, %k = tf_executor.NextIteration.Source : () -> (tensor<i1>, !tf_executor.token)\n%m, %i = tf_executor.Merge %e, %n : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i32>)\n%c = tf_executor.LoopCond %m : (tensor<i1>) -> tensor<i1>\ntf_executor.NextIteration.Sink %k, %c : (!tf_executor.token, tensor<i1>) -> ()\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.Merge",
        "%x: tensor<f32>, %p: tensor<i1>",
        "tf_executor.graph {\n%f, %t = tf_executor.Switch %x, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)\n%m, %i = tf_executor.Merge %f, %t : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<i32>)\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.NextIteration.Sink",
        "%p: tensor<i1>",
        "tf_executor.graph {\n%e = tf_executor.Enter %p frame \"w\" : (tensor<i1>) -> tensor<i1>\n%n, %k = tf_executor.NextIteration.Source : () -> (tensor<i1>, !tf_executor.token)\n%m, %i = tf_executor.Merge %e, %n : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i32>)\n%c = tf_executor.LoopCond %m : (tensor<i1>) -> tensor<i1>\ntf_executor.NextIteration.Sink %k, %c : (!tf_executor.token, tensor<i1>) -> ()\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.NextIteration.Source",
        "%p: tensor<i1>",
        "tf_executor.graph {\n%e = tf_executor.Enter %p frame \"w\" : (tensor<i1>) -> tensor<i1>\n%n, %k = tf_executor.NextIteration.Source : () -> (tensor<i1>, !tf_executor.token)\n%m, %i = tf_executor.Merge %e, %n : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i32>)\n%c = tf_executor.LoopCond %m : (tensor<i1>) -> tensor<i1>\ntf_executor.NextIteration.Sink %k, %c : (!tf_executor.token, tensor<i1>) -> ()\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.Switch",
        "%x: tensor<f32>, %p: tensor<i1>",
        "tf_executor.graph {\n%f, %t = tf_executor.Switch %x, %p : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<f32>)\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor._SwitchN",
        "%x: tensor<f32>, %i: tensor<i32>",
        "tf_executor.graph {\n%a, %b = tf_executor._SwitchN %x, %i : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.fetch",
        "%x: tensor<f32>",
        "%r = tf_executor.graph -> tensor<f32> {\ntf_executor.fetch %x : tensor<f32>\n}",
    ),
    (
        "tf_executor.graph",
        "%x: tensor<f32>",
        "%r = tf_executor.graph -> tensor<f32> {\ntf_executor.fetch %x : tensor<f32>\n}",
    ),
    (
        "tf_executor.island",
        "%x: tensor<f32>",
        "tf_executor.graph {\n%y = tf_executor.island -> tensor<f32> {\ntf_executor.yield %x : tensor<f32>\n}\ntf_executor.fetch\n}",
    ),
    (
        "tf_executor.yield",
        "%x: tensor<f32>",
        "tf_executor.graph {\n%y = tf_executor.island -> tensor<f32> {\ntf_executor.yield %x : tensor<f32>\n}\ntf_executor.fetch\n}",
    ),
];

const IF: &str = "%r = scf.if %c -> (i32) {\nscf.yield %x : i32\n} else {\nscf.yield %x : i32\n}";

const WHILE: &str = "%r = scf.while (%y = %x) : (i32) -> i32 {\nscf.condition(%c) %y : i32\n} do {\n\
                     ^bb0(%z: i32):\nscf.yield %z : i32\n}";

const IF_REGION: &str = "%r = \"tf.IfRegion\"(%c) ({\n\"tf.Yield\"(%x) : (tensor<f32>) -> ()\n}, {\n\
                         \"tf.Yield\"(%x) : (tensor<f32>) -> ()\n}) : (tensor<i1>) -> tensor<f32>";

const CASE_REGION: &str = "%r = \"tf.CaseRegion\"(%i) ({\n\"tf.Yield\"(%x) : (tensor<f32>) -> ()\n}, {\n\
                           \"tf.Yield\"(%x) : (tensor<f32>) -> ()\n}) : (tensor<i32>) -> tensor<f32>";
