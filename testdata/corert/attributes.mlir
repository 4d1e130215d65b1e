// Attributes that are set one by one. What is there stays; a frozen copy does not change.
//
// RUN: tfrt_translate -mlir-to-bef %s | bef_executor | FileCheck %s

// CHECK-LABEL: --- Running 'empty'
// CHECK-NEXT: OpAttrs is empty
// CHECK-NEXT: 'empty' returned
func.func @empty() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %attrs = "corert.create_op_attrs"() : () -> !corert.opattrs
  %ch1 = "tfrt_test.corert.op_attrs_print"(%attrs, %ch) : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'all'
// CHECK-NEXT: OpAttrs contains 11 entries:
// CHECK-NEXT:   'aggregate' type=AGGREGATE value=elt_count=2 [{1}, {{{\[x\]}}}]
// CHECK-NEXT:   'bool' type=BOOL value=0
// CHECK-NEXT:   'dense' type=DENSE value=dtype=I32, rank=2, elt_count=4
// CHECK-NEXT:   'dtype' type=DTYPE value=F32
// CHECK-NEXT:   'f32' type=F32 value=1.000000e+00
// CHECK-NEXT:   'floats' type=F32 value=[5.000000e-01, 1.000000e+00]
// CHECK-NEXT:   'i32' type=I32 value=-1
// CHECK-NEXT:   'long' type=I32 value=[1, 2, 3, 4, 5...]
// CHECK-NEXT:   'partial' type=SHAPE value=<-1x2>
// CHECK-NEXT:   'shape' type=SHAPE value=<1x2>
// CHECK-NEXT:   'str' type=CHAR value=[t, e, x, t]
// CHECK-EMPTY:
// CHECK-NEXT: OpAttrs contains 1 entries:
// CHECK-NEXT:   'i32' type=I32 value=-1
// CHECK-EMPTY:
// CHECK-NEXT: 'all' returned
func.func @all() -> !tfrt.chain attributes {tfrt.cost_threshold = 1 : i64} {
  %ch = tfrt.new.chain
  %a = "corert.create_op_attrs"() : () -> !corert.opattrs
  %c0 = "corert.op_attrs_set.i32"(%a) {key = "i32", value = -1 : i32} : (!corert.opattrs) -> !tfrt.chain
  %frozen, %c1 = "tfrt_test.corert.op_attrs_freeze"(%a, %c0) : (!corert.opattrs, !tfrt.chain) -> (!corert.opattrs_ref, !tfrt.chain)
  %c2 = "corert.op_attrs_set.i32"(%a, %c1) {key = "i32", value = 7 : i32} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c3 = "corert.op_attrs_set.f32"(%a, %c2) {key = "f32", value = 1.0 : f32} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c4 = "corert.op_attrs_set.bool"(%a, %c3) {key = "bool", value = false} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c5 = "corert.op_attrs_set.dtype"(%a, %c4) {key = "dtype", value = f32} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c6 = "corert.op_attrs_set.dense"(%a, %c5) {key = "dense", value = dense<1> : tensor<2x2xi32>} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c7 = "corert.op_attrs_set.shape"(%a, %c6) {key = "shape", value = #corert.shape<1x2>} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c8 = "corert.op_attrs_set.shape"(%a, %c7) {key = "partial", value = #corert.shape<?x2>} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c9 = "corert.op_attrs_set.str"(%a, %c8) {key = "str", value = "text"} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c10 = "corert.op_attrs_set.aggregate"(%a, %c9) {key = "aggregate", value = [1 : i32, "x"]} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c11 = "corert.op_attrs_set_array.i32"(%a, %c10) {key = "long", value = [1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32, 6 : i32]} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c12 = "corert.op_attrs_set_array.f32"(%a, %c11) {key = "floats", value = [0.5 : f32, 1.0 : f32]} : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c13 = "tfrt_test.corert.op_attrs_print"(%a, %c12) : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %c14 = "tfrt_test.corert.op_attrs_ref_print"(%frozen, %c13) : (!corert.opattrs_ref, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c14 : !tfrt.chain
}
