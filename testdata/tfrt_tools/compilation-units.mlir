// Modules that kernels compile: the translator keeps them as text, and each use of a symbol in them as a compilation unit. They come back once,
// where they stood, whoever refers to them.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef && tfrt_translate -bef-to-mlir %t.bef | FileCheck %s
// RUN: tfrt_translate -bef-to-mlir %t.bef -o %t.mlir && tfrt_translate -mlir-to-bef %t.mlir | tfrt_translate -bef-to-mlir | cmp %t.mlir -
// RUN: tfrt_translate -mlir-to-bef --disable-optional-sections %s | tfrt_translate -bef-to-mlir | FileCheck %s --check-prefix=STRIPPED
// RUN: ir-translate %s --allow-unregistered-dialect --disable-optional-sections -o %t.small.bef
// RUN: ir-translate %t.small.bef --print-debuginfo | FileCheck %s --check-prefix=SMALL
// RUN: ir-translate %t.bef --print-debuginfo | FileCheck %s --check-prefix=PLACES
// RUN: ir-translate %t.bef --to dump | FileCheck %s --check-prefix=DUMP
// RUN: tfrt_opt -cse -canonicalize %s | FileCheck %s

// Ops of the tf dialect in them do not make the program an op graph.
// CHECK: module @kernels attributes {tfrt.compiled, x.size = 4 : i64} {
// CHECK-NEXT: func.func @main(%arg0: tensor<?x?xf32>) -> tensor<?x?xf32> {
// CHECK-NEXT: %0 = "tf.Rsqrt"(%arg0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT: return %0 : tensor<?x?xf32>
// CHECK: module @inner {
// CHECK-NEXT: func.func private @deep()
// CHECK: func.func @uses() {
// CHECK-NEXT: "simple.kernel"() {func = @kernels::@main} : () -> ()
// CHECK-NEXT: "simple.kernel"() {func = @kernels::@main} : () -> ()
// CHECK-NEXT: "simple.kernel"() {all = @others, deep = @kernels::@inner::@deep, list = [@uses, @others::@main]} : () -> ()
// CHECK-NEXT: tfrt.return
// CHECK: module @others attributes {tfrt.compiled} {
// CHECK-NEXT: func.func private @main()
// CHECK: func.func @last()
// CHECK: module @unused attributes {tfrt.compiled} {
// CHECK-NOT: module

// STRIPPED: module @kernels
// STRIPPED: "simple.kernel"() {attr0 = @kernels::@main}

// SMALL: module @kernels attributes
// SMALL-NEXT: func.func @main(%arg0: tensor<?x?xf32> loc(#loc))
// SMALL-NEXT: "tf.Rsqrt"(%arg0) : (tensor<?x?xf32>) -> tensor<?x?xf32> loc(#loc)
// SMALL: #loc = loc(unknown)

// PLACES: %0 = "tf.Rsqrt"{{.*}} loc([[LOC:#loc[0-9]+]])
// PLACES: [[LOC]] = loc({{.*}}compilation-units.mlir":[[#RSQRT:]]:

// DUMP: attr0 compiled module @kernels before function 0 "\"builtin.module\"() <{{.*}}\"tf.Rsqrt\"(
// DUMP: attr1 compiled module @others before function 1
// DUMP: attr2 compiled module @unused before function 2
// DUMP: compilation unit attr0::@main
// DUMP: compilation unit attr0::@inner::@deep
// DUMP: array [
module @kernels attributes {tfrt.compiled, x.size = 4 : i64} {
  func.func @main(%input: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = "tf.Rsqrt"(%input) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
  module @inner {
    func.func private @deep()
  }
}

func.func @uses() {
  "simple.kernel"() {func = @kernels::@main} : () -> ()
  "simple.kernel"() {func = @kernels::@main} : () -> ()
  "simple.kernel"() {all = @others, deep = @kernels::@inner::@deep, list = [@uses, @others::@main]} : () -> ()
  tfrt.return
}

module @others attributes {tfrt.compiled} {
  func.func private @main()
}

func.func @last() {
  tfrt.return
}

module @unused attributes {tfrt.compiled} {
}
