// Things that change, and things that say when they are made and dropped.
//
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 2 --leak-check | FileCheck %s

// CHECK-LABEL: --- Running 'counters'
func.func @counters() -> i32 {
  %c = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %five = tfrt.constant.i32 5
  %ch0 = "tfrt_test.atomic.inc.i32"(%c) : (!test.atomic.i32) -> !tfrt.chain
  %ch1 = "tfrt_test.atomic.add.i32"(%c, %five, %ch0) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  %n, %ch2 = "tfrt_test.atomic.get.i32"(%c, %ch1) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %n : i32
}
// CHECK: 'counters' returned 6

// CHECK-LABEL: --- Running 'resources'
func.func @resources() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  // CHECK-NEXT: Allocated TestResource
  %r, %ch1 = "tfrt_test.allocate_resource"(%ch0) : (!tfrt.chain) -> (!tfrt.test.resource, !tfrt.chain)
  // CHECK-NEXT: Destroyed TestResource
  // CHECK-NEXT: tfrt_test.deallocate_resource done
  %ch2 = "tfrt_test.deallocate_resource"(%r, %ch1) : (!tfrt.test.resource, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'values'
func.func @values() {
  // CHECK-NEXT: {{^}}constructed vt.value(1)
  // CHECK-NEXT: move constructed vt.value(1)
  %a = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  // Both are the one value.
  %b, %c = "tfrt_test.share_to_two"(%a) : (!vt.value) -> (!vt.value, !vt.value)
  // CHECK-NEXT: {{^}}constructed vt.value(2)
  // CHECK-NEXT: move constructed vt.value(2)
  // CHECK-NEXT: destroyed vt.value(1)
  %d = "vt.add"(%b, %c) : (!vt.value, !vt.value) -> !vt.value
  // CHECK-NEXT: print vt_value(2)
  // CHECK-NEXT: destroyed vt.value(2)
  %ch = "vt.print"(%d) : (!vt.value) -> !tfrt.chain
  tfrt.return
}

// CHECK-LABEL: --- Running 'coordinates'
func.func @coordinates() {
  %x = tfrt.constant.i32 2
  %y = tfrt.constant.i32 4
  %at = "tfrt_tutorial.create_coordinate"(%x, %y) : (i32, i32) -> !my.coordinate
  // CHECK-NEXT: (2, 4)
  %ch = "tfrt_tutorial.print_coordinate"(%at) : (!my.coordinate) -> !tfrt.chain
  tfrt.return
}

// CHECK-LABEL: --- Running 'passed_on'
func.func @passed_on() -> (i32, f32, i32) {
  %a = tfrt.constant.i32 2
  %b = tfrt.constant.f32 4.0
  %ch = tfrt.new.chain
  %c, %d = "tfrt_test.multi_arg_result"(%a, %b) : (i32, f32) -> (i32, f32)
  %e = "tfrt_test.identity"(%ch, %c) : (!tfrt.chain, i32) -> i32
  %f = "tfrt_test.make_indirect"(%e) : (i32) -> i32
  tfrt.return %c, %d, %f : i32, f32, i32
}
// CHECK: 'passed_on' returned 2,4.000000,2

// CHECK-LABEL: --- Running 'costs'
func.func @costs() -> i32 {
  %a = tfrt.constant.i32 2
  // CHECK-NEXT: id: 7
  %b = tfrt_test.test_cost %a {id = 7 : i64, _tfrt_cost = 100 : i64} : i32
  tfrt.return %b : i32
}

// CHECK-LABEL: --- Running 'locations'
func.func @locations() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
  %a = "tfrt_test.unique_loc"() {name = "a"} : () -> !tfrt.chain loc("x":1:1)
  %b = "tfrt_test.unique_loc"(%a) {name = "b"} : (!tfrt.chain) -> !tfrt.chain loc("x":2:1)
  %c = "tfrt_test.unique_loc"(%b) {name = "c"} : (!tfrt.chain) -> !tfrt.chain loc("x":1:1)
  tfrt.return %a, %b, %c : !tfrt.chain, !tfrt.chain, !tfrt.chain
}
// CHECK: 'locations' returned !tfrt.chain value,!tfrt.chain value,<<error: 'a' and 'c' have one location>>
