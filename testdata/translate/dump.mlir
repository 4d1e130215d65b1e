// A BEF file as text for people: all of it if it is valid, what can be followed if it is broken.
//
// RUN: ir-translate %s --to dump | FileCheck %s
// RUN: ir-translate %s -o %t.bef && ir-translate %t.bef --to=dump | FileCheck %s
// RUN: ir-translate %t.bef --to dump --verify-checksums -o %t.txt && FileCheck %s --input-file=%t.txt
// RUN: ir-translate %s --disable-optional-sections --to dump | FileCheck %s --check-prefix=SMALL
// RUN: ir-translate --help | FileCheck %s --check-prefix=HELP

// A byte of a name is another one, and the end is missing.
// RUN: sed 's/module_name/module_nome/' %t.bef > %t.bad.bef
// RUN: not ir-translate --to dump %t.bad.bef 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: head -c 1600 %t.bef > %t.cut.bef
// RUN: not ir-translate --to dump %t.cut.bef 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: head -c 20 %t.bef > %t.head.bef
// RUN: not ir-translate --to dump %t.head.bef 2>&1 | FileCheck %s --check-prefix=HEAD

// Only those who ask for it read the tensors.
// RUN: sed 's/TENSOR/TONSER/' %t.bef > %t.tensor.bef
// RUN: ir-translate %t.tensor.bef -o %t.tensor.mlir && bef-exec %t.tensor.bef --input i32:1
// RUN: not ir-translate --verify-checksums %t.tensor.bef 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not bef-exec --verify-checksums %t.tensor.bef 2>&1 | FileCheck %s --check-prefix=TENSOR

// CHECK: BEF 1.1, {{[0-9]+}} bytes, written by "befrost {{.*}}"
// CHECK-NEXT: module @module_name
// CHECK: sections: id offset bytes entries
// CHECK-NEXT: StringIndex 1 0x{{[0-9a-f]+}} {{[0-9]+}} {{[0-9]+}}
// CHECK: Kernels 11 0x{{[0-9a-f]+}} 180 5
// CHECK: Locations 32
// CHECK: LocationEnds 40 0x{{[0-9a-f]+}} 12 1
// CHECK-NEXT: Payload 64 0x{{[0-9a-f]+}} 8 8
// CHECK: strings:
// CHECK: types:
// CHECK: kernel names:
// CHECK: attributes:
// CHECK: dense [8] ui8 : tensor<8xui8>, 8 bytes 2e54454e534f522e
// CHECK: locations:
// CHECK: a.mlir:1:2 to 3:4
// CHECK: function 0 main: async
// CHECK: argument 0 "x" : i32
// CHECK: result 0 "" : i32 = r3
// CHECK: r0 %x : i32, used by [k1]
// CHECK: r2 %two : i32, used by [k2, k2]
// CHECK: k1 tfrt.add.i32(r0, r1) -> r2; ready 2 stream 0 cost 1 at {{.*}}dump.mlir:[[#]]:
// CHECK: k2 tfrt.add.i32(r2, r2) -> r3; ready 2 stream 0 cost 1 at a.mlir:1:2
// CHECK: k3 cpu.constant() -> r4; {{.*}} value=attr

// SMALL-NOT: Locations
// SMALL: k1 tfrt.add.i32(r0, r1) -> r2; ready 2 stream 0 cost 1{{$}}

// HELP: --to <FORMAT>
// HELP: - dump: All of a BEF file as text that people read

// BAD: sections: id offset bytes
// BAD: StringBytes 2 {{.*}} wrong checksum
// BAD: error: section StringBytes at byte {{[0-9]+}}: checksum mismatch

// CUT: header: {{[0-9]+}} bytes, 2{{[0-9]}} sections
// CUT: beyond the end of the file
// CUT: truncated: expected {{[0-9]+}} bytes, found 1600

// HEAD: 20 bytes, too few for a header
// HEAD: expected 64 bytes, found 20

// TENSOR: error: section Payload at byte {{[0-9]+}}: checksum mismatch
module @module_name {
func.func @main(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %x, %one
  %four = tfrt.add.i32 %two, %two loc("a.mlir":1:2 to 3:4)
  %t = "cpu.constant"() {value = dense<[46, 84, 69, 78, 83, 79, 82, 46]> : tensor<8xui8>} : () -> !t.tensor
  tfrt.return %four : i32
}
}
