// The forms of the dialect read back as they are printed.
//
// RUN: ir-opt %s | ir-opt | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | ir-translate --bef-to-mlir | FileCheck %s
// RUN: ir-opt --generic %s | FileCheck %s --check-prefix=GENERIC
// RUN: ir-opt --generic %s | ir-opt | FileCheck %s

// CHECK-LABEL: func.func @basic
func.func @basic() -> !tfrt.chain {
  %ch = tfrt.new.chain
  // CHECK: %[[CPU:.*]] = corert.get_op_handler %{{.*}} "cpu"
  %cpu = corert.get_op_handler %ch "cpu"
  // CHECK: %[[A:.*]] = corert.executeop(%[[CPU]]) "some.op"() {shape = [2, 2], value = 1 : i32} : 1
  %a = corert.executeop(%cpu) "some.op"() {shape = [2, 2], value = 1 : i32} : 1
  // CHECK: corert.executeop(%[[CPU]]) "some.op"(%[[A]], %[[A]])
  // CHECK-NOT: {{[:{]}}
  // GENERIC: "corert.executeop"(%{{.*}}, %{{.*}}, %{{.*}}) <{op_attrs = [], op_func_attrs = [], op_name = "some.op"}> : (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle) -> ()
  corert.executeop(%cpu) "some.op"(%a, %a)
  // CHECK: %[[B:.*]]:2 = corert.executeop(%[[CPU]]) "some.op"(%[[A]]) {} {then = @branch} : 2
  // GENERIC: op_attrs = [], op_func_attrs = {{\[\[}}"then", @branch]]
  %b:2 = corert.executeop(%cpu) "some.op"(%a) {} {then = @branch} : 2
  // CHECK: %[[CH:.*]] = corert.executeop.seq(%[[CPU]], %{{.*}}) "print"(%[[B]]#1) {"a b" = "c", flag}{{$}}
  %ch1 = corert.executeop.seq(%cpu, %ch) "print"(%b#1) {"a b" = "c", flag}
  // CHECK: %[[CH2:.*]]:2 = corert.executeop.seq(%[[CPU]], %[[CH]]) "both"() : 1
  // GENERIC: "corert.executeop.seq"(%{{.*}}, %{{.*}}) <{op_attrs = [], op_func_attrs = [], op_name = "both"}> : (!corert.ophandler, !tfrt.chain) -> (!tfrt.chain, !corert.tensorhandle)
  %ch2, %c = corert.executeop.seq(%cpu, %ch1) "both"() : 1
  // CHECK: corert.register_op_handler %[[CPU]] "other"
  corert.register_op_handler %cpu "other"
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: func.func @constants.all
func.func @constants.all() -> !corert.tensorhandle {
  // CHECK: corert.const_dense_tensor dense<[0, 1, 2]> : tensor<3xi32>
  %a = corert.const_dense_tensor dense<[0, 1, 2]> : tensor<3xi32>
  // CHECK: corert.const_string_tensor {shape = [1, 2], value = ["a", "b"]}
  %b = corert.const_string_tensor {shape = [1, 2], value = ["a", "b"]}
  // CHECK: corert.create_dense_tensor.ui64 {shape = [1], value = [2 : ui64]}
  %c = corert.create_dense_tensor.ui64 {shape = [1], value = [2 : ui64]}
  // CHECK: corert.create_dense_tensor.bf16 {shape = [1], value = [2.0{{.*}} : bf16]}
  %d = corert.create_dense_tensor.bf16 {shape = [1], value = [2.0 : bf16]}
  tfrt.return %a : !corert.tensorhandle
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%cpu: !corert.ophandler, %string: !corert.string, %variant: !corert.variant, %r: !corert.resource, %q: !corert.quint8) {
  // CHECK: "shapes"() {a = #corert.shape<1x?x3>, b = #corert.shape<*>, t = !corert.string, u = f32}
  corert.executeop(%cpu) "shapes"() {a = #corert.shape<1x?x3>, b = #corert.shape<*>, t = !corert.string, u = f32}
  tfrt.return
}

// CHECK-LABEL: func.func @flow
func.func @flow(%ch: !tfrt.chain, %a: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  // CHECK: corert.cond %{{.*}} @branch @branch(%{{.*}}, %{{.*}}) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %ch1, %b = corert.cond %a @branch @branch (%ch, %a) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  // CHECK: corert.while @branch @branch(%{{.*}}, %{{.*}}) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  %ch2, %c = corert.while @branch @branch (%ch1, %b) : (!corert.tensorhandle) -> (!corert.tensorhandle)
  // CHECK: corert.cond %{{.*}} @nothing @nothing(%{{.*}}) : () -> ()
  %ch3 = corert.cond %a @nothing @nothing (%ch2) : () -> ()
  tfrt.return %ch3, %c : !tfrt.chain, !corert.tensorhandle
}

func.func @branch(%ch: !tfrt.chain, %a: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
  tfrt.return %ch, %a : !tfrt.chain, !corert.tensorhandle
}

func.func @nothing(%ch: !tfrt.chain) -> !tfrt.chain {
  tfrt.return %ch : !tfrt.chain
}

// CHECK-LABEL: func.func @transfers
func.func @transfers(%a: !corert.tensorhandle, %ch: !tfrt.chain) -> i32 {
  %device = tfrt.get_device %ch {device_name = "CPU:0"}
  // CHECK: %[[TYPE:.*]] = corert.get_dst_tensor_type %{{.*}}, %{{.*}}
  %type = corert.get_dst_tensor_type %a, %device
  // CHECK: corert.transfer %{{.*}}, %{{.*}}, %[[TYPE]]
  %b = corert.transfer %a, %device, %type
  // CHECK: corert.transfer_inferred_tensortype
  %c = corert.transfer_inferred_tensortype %b, %device
  // CHECK: corert.tensorhandle_to_int32
  %d = corert.tensorhandle_to_int32 %c
  tfrt.return %d : i32
}

// CHECK-LABEL: func.func @sync
func.func @sync() attributes {tfrt.sync} {
  // CHECK: %[[CPU:.*]] = corert_sync.get_op_handler "cpu"
  %cpu = corert_sync.get_op_handler "cpu"
  // CHECK: corert_sync.const_dense_tensor dense<1>
  %a = corert_sync.const_dense_tensor dense<1> : tensor<2xi32>
  // CHECK: corert_sync.executeop(%[[CPU]]) "some.op"(%{{.*}}) {axis = 0 : i32} : 1
  %b = corert_sync.executeop(%cpu) "some.op"(%a) {axis = 0 : i32} : 1
  // CHECK: corert_sync.create_dense_tensor.i1 {shape = [2], value = [true, false]}
  %c = corert_sync.create_dense_tensor.i1 {shape = [2], value = [true, false]}
  tfrt.return
}

// An op with more attributes, or with attributes that are no pairs of different names, has no form.
// CHECK-LABEL: func.func @without_form
func.func @without_form(%cpu: !corert.ophandler) {
  // CHECK: "corert.executeop"(%{{.*}}) {{.*}}more = 1
  "corert.executeop"(%cpu) {op_attrs = [], op_func_attrs = [], op_name = "x", more = 1 : i32} : (!corert.ophandler) -> ()
  // CHECK: "corert.executeop"(%{{.*}}) {{.*}}op_attrs = {{\[\[}}"a", 1{{.*}}], ["a", 2
  "corert.executeop"(%cpu) {op_attrs = [["a", 1 : i32], ["a", 2 : i32]], op_func_attrs = [], op_name = "x"} : (!corert.ophandler) -> ()
  tfrt.return
}
