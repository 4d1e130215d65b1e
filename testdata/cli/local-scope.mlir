// `--print-local-scope`: everything where it is used, without aliases.
//
// RUN: ir-opt %s --print-local-scope --allow-unregistered-dialect | FileCheck %s
// RUN: ir-opt %s --print-local-scope --print-debuginfo --allow-unregistered-dialect | FileCheck %s --check-prefix=PLACES
// RUN: tfrt_opt -mlir-print-local-scope -mlir-print-op-generic %s | FileCheck %s --check-prefix=GENERIC
// RUN: ir-opt %s --print-local-scope --print-debuginfo --allow-unregistered-dialect -o %t.mlir
// RUN: ir-opt %t.mlir --print-local-scope --print-debuginfo --allow-unregistered-dialect | cmp %t.mlir -
// RUN: ir-translate %s --to mlir --print-local-scope --allow-unregistered-dialect | FileCheck %s
// RUN: not ir-translate %s --to bef --print-local-scope 2>&1 | FileCheck %s --check-prefix=USELESS

// CHECK-NOT: #map
// CHECK: "test.op"() {map = affine_map<(d0) -> (d0)>, set = affine_set<(d0) : (d0 >= 0)>, what = dense_resource<blob> : tensor<1xi8>}
// CHECK-NOT: dialect_resources

// PLACES-NOT: #loc
// PLACES: func.func @f(%arg0: i32 loc("x.mlir":1:2)) -> i32 {
// PLACES: loc(callsite("f"("x.mlir":3:4) at unknown))
// PLACES: loc(fused["a", "x.mlir":3:4])
// PLACES-NOT: #loc

// GENERIC: "test.op"() {map = affine_map<(d0) -> (d0)>,

// USELESS: '--print-local-scope' needs MLIR as output
func.func @f(%a: i32 loc("x.mlir":1:2)) -> i32 {
  "test.op"() {map = affine_map<(d0) -> (d0)>, set = affine_set<(d0) : (d0 >= 0)>, what = dense_resource<blob> : tensor<1xi8>} : () -> () loc(callsite("f"("x.mlir":3:4) at unknown))
  tfrt.return %a : i32 loc(fused["a", "x.mlir":3:4])
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x0100000001"
    }
  }
#-}
