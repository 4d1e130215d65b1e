// Arithmetic on tensors of rank 0 happens in registers.
//
// RUN: ir-opt %s --tf-functionalize-control-flow --tf-outline-regions --tf-to-kernels --tf-scalars-to-arith | FileCheck %s
// RUN: ir-translate %s --no-functionalize --to mlir | FileCheck %s --check-prefix=NATIVE
// RUN: bef-exec %s --no-functionalize -O2 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O0 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 --work-queue s 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=EXEC

// A loop's counter, its limit and its condition are scalars; what is no scalar stays.
// CHECK-LABEL: func.func private @count_cond(%arg0: i32, %arg1: tensor<2xf32>, %arg2: i32, {{.*}}) -> i1
// CHECK: arith.cmpi slt, %arg0, %arg2 : i32
// CHECK-LABEL: func.func private @count_body(%arg0: i32, %arg1: tensor<2xf32>
// CHECK: arith.addi %arg0, %{{.*}} : i32
// CHECK: "tf.AddV2"{{.*}} tensor<2xf32>
// CHECK-LABEL: func.func @count()
// CHECK-NOT: "tf.Less"
// CHECK: tfrt.while {{.*}}(i32, tensor<2xf32>, i32, i32, tensor<2xf32>) -> (i32,
// CHECK: tensor.from_elements
// EXEC-LABEL: 'count' returned
// EXEC-SAME: array(5,
// EXEC-SAME: array([ 5., 10.]
func.func @count() -> (tensor<i32>, tensor<2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %five = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %start = "tf.Const"() {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %n, %sum = "tf.WhileRegion"(%zero, %start) ({
  ^bb0(%i: tensor<i32>, %s: tensor<2xf32>):
    %go = "tf.Less"(%i, %five) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<2xf32>):
    %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "tf.AddV2"(%s, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "tf.Yield"(%next, %t) : (tensor<i32>, tensor<2xf32>) -> ()
  }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
  tfrt.return %n, %sum : tensor<i32>, tensor<2xf32>
}

// Comparisons with NaN, integers that wrap around, and a branch on scalars.
// CHECK-LABEL: func.func @values
// CHECK: arith.cmpf une
// CHECK: arith.cmpf olt
// CHECK: arith.addi
// CHECK: arith.xori
// CHECK: arith.andi
// EXEC-LABEL: 'values' returned
// EXEC-SAME: array(True,
// EXEC-SAME: array(False,
// EXEC-SAME: array(-2147483648,
// EXEC-SAME: array(False,
// EXEC-SAME: array(0.75,
func.func @values() -> (tensor<i1>, tensor<i1>, tensor<i32>, tensor<i1>, tensor<f64>) {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %nan = "tf.Div"(%zero, %zero) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %unequal = "tf.NotEqual"(%nan, %nan) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %less = "tf.Less"(%nan, %zero) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %max = "tf.Const"() {value = dense<2147483647> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %min = "tf.AddV2"(%max, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %not = "tf.LogicalNot"(%less) : (tensor<i1>) -> tensor<i1>
  %and = "tf.LogicalAnd"(%not, %less) : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f64>} : () -> tensor<f64>
  %quarter = "tf.Mul"(%half, %half) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %y = "tf.IfRegion"(%unequal) ({
    %sum = "tf.AddV2"(%half, %quarter) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "tf.Yield"(%sum) : (tensor<f64>) -> ()
  }, {
    "tf.Yield"(%half) : (tensor<f64>) -> ()
  }) : (tensor<i1>) -> tensor<f64>
  tfrt.return %unequal, %less, %min, %and, %y : tensor<i1>, tensor<i1>, tensor<i32>, tensor<i1>, tensor<f64>
}

// Unknown ranks, and numbers as predicates, stay with the operators.
// CHECK-LABEL: func.func @stays
// CHECK: "tf.AddV2"
// CHECK: "tf._Predicate"
// EXEC-LABEL: 'stays' returned
// EXEC-SAME: array([2.]
// EXEC-SAME: array(3,
func.func @stays() -> (tensor<*xf32>, tensor<i32>) {
  %x = "tf.Const"() {value = dense<[1.0]> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = "tf.Identity"(%x) : (tensor<1xf32>) -> tensor<*xf32>
  %sum = "tf.AddV2"(%y, %y) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %z = "tf.IfRegion"(%three) ({
    "tf.Yield"(%three) : (tensor<i32>) -> ()
  }, {
    %n = "tf.Neg"(%three) : (tensor<i32>) -> tensor<i32>
    "tf.Yield"(%n) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  tfrt.return %sum, %z : tensor<*xf32>, tensor<i32>
}

// Division by a constant rounds down, remainders have the sign of the divisor; a divisor that may be zero stays a tensor.
// By a power of two they are a shift and the low bits.
// CHECK-LABEL: func.func @division
// CHECK: arith.shrsi
// CHECK: arith.andi
// CHECK: arith.floordivsi
// CHECK: arith.remsi
// CHECK: arith.select
// CHECK: arith.shrsi
// CHECK: math.absi
// CHECK: arith.sitofp
// CHECK: arith.divf
// CHECK: "tf.FloorDiv"
// EXEC-LABEL: 'division' returned
// EXEC-SAME: array(-4,
// EXEC-SAME: array(1,
// EXEC-SAME: array(-3,
// EXEC-SAME: array(2,
// EXEC-SAME: array(-2,
// EXEC-SAME: array(7,
// EXEC-SAME: array(-inf,
// EXEC-SAME: array(-3,
func.func @division() -> (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<f64>, tensor<i64>) {
  %x = "tf.Const"() {value = dense<-7> : tensor<i64>} : () -> tensor<i64>
  %two = "tf.Const"() {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f64>} : () -> tensor<f64>
  %v = "tf.Identity"(%x) : (tensor<i64>) -> tensor<i64>
  %quotient = "tf.FloorDiv"(%v, %two) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %rest = "tf.FloorMod"(%v, %two) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %three = "tf.Const"() {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %third = "tf.FloorDiv"(%v, %three) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %third_rest = "tf.FloorMod"(%v, %three) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %shifted = "tf.RightShift"(%v, %two) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %size = "tf.Abs"(%v) : (tensor<i64>) -> tensor<i64>
  %float = "tf.Cast"(%v) : (tensor<i64>) -> tensor<f64>
  %infinite = "tf.RealDiv"(%float, %zero) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %divisor = "tf.AddV2"(%rest, %rest) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %six = "tf.AddV2"(%v, %rest) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %variable = "tf.FloorDiv"(%six, %divisor) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  tfrt.return %quotient, %rest, %third, %third_rest, %shifted, %size, %infinite, %variable : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<f64>, tensor<i64>
}

// Dataflow control flow, natively: a loop on scalars, with a conditional in it.
// NATIVE-LABEL: func.func private @native_loop(%arg0: i32
// NATIVE-NOT: tensor.extract
// NATIVE: arith.cmpi slt
// NATIVE: "tf._Switch"(%{{.*}}, %{{.*}}) <{is_loop_cond = true}> : (i32, i1) -> (i32, i32)
// NATIVE: arith.addi
// NATIVE: "tf._IsLive"
// EXEC-LABEL: 'native' returned
// EXEC-SAME: array(10,
func.func @native() -> tensor<*xi32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %n = "tf.Const"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
  %sum = tf_executor.graph -> tensor<*xi32> {
    %limit = tf_executor.Enter %n frame "loop" constant true : (tensor<i32>) -> tensor<*xi32>
    %i0 = tf_executor.Enter %zero frame "loop" : (tensor<i32>) -> tensor<*xi32>
    %ni, %ti = tf_executor.NextIteration.Source : () -> (tensor<*xi32>, !tf_executor.token)
    %i, %from = tf_executor.Merge %i0, %ni : (tensor<*xi32>, tensor<*xi32>) -> (tensor<*xi32>, tensor<i32>)
    %less = "tf.Less"(%i, %limit) : (tensor<*xi32>, tensor<*xi32>) -> tensor<*xi1>
    %go = tf_executor.LoopCond %less : (tensor<*xi1>) -> tensor<*xi1>
    %last, %i1 = tf_executor.Switch %i, %go : (tensor<*xi32>, tensor<*xi1>) -> (tensor<*xi32>, tensor<*xi32>)
    %id, %ch = "tf.Identity"(%i1) : (tensor<*xi32>) -> (tensor<*xi32>, !tfrt.chain)
    %one = "tf.Const"(%ch) {value = dense<1> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
    %i2 = "tf.AddV2"(%id, %one) : (tensor<*xi32>, tensor<i32>) -> tensor<*xi32>
    tf_executor.NextIteration.Sink %ti, %i2 : (!tf_executor.token, tensor<*xi32>) -> ()
    %x = tf_executor.Exit %last : (tensor<*xi32>) -> tensor<*xi32>
    tf_executor.fetch %x : tensor<*xi32>
  }
  func.return %sum : tensor<*xi32>
}
