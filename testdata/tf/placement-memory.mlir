// Memory in the placement: two weights of 4,000 bytes each.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1{memory=100kB},CPU:1{memory=6kB} policy=list print})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: not ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2{memory=6kB} policy=list})' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2{memory=3kB} policy=first})' 2>&1 | FileCheck %s --check-prefix=FIRST

// ROOM: device:CPU:0: {{[0-9]+}} operators, busy {{.*}}, peak {{[1-9][0-9]+}} bytes
// NONE: error[E1005]: the program does not fit into memory: /job:localhost/replica:0/task:0/device:CPU:{{[01]}} needs {{[0-9]+}} bytes and has 6000
// FIRST: error[E1005]: the program does not fit into memory: /job:localhost/replica:0/task:0/device:CPU:0 needs {{[0-9]+}} bytes and has 3000
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %a = "tf.Const"() {value = dense<0.5> : tensor<1000xf32>} : () -> tensor<1000xf32>
  %b = "tf.Const"() {value = dense<1.5> : tensor<1000xf32>} : () -> tensor<1000xf32>
  %y = "tf.Mul"(%x, %a) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %z = "tf.Add"(%y, %b) : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  tfrt.return %z : tensor<1000xf32>
}

// The schedule of a placed program, as numbers and as a picture.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-simulate{devices=CPU:2})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: ir-translate %s --devices CPU:2 --view-schedule %t.svg -o %t.bef
// RUN: FileCheck %s --check-prefix=SVG --input-file=%t.svg
// NUMBERS: device:CPU:0: busy {{[1-9][0-9.]*}} us, peak {{[1-9][0-9]*}} bytes
// NUMBERS: device:CPU:1: busy 0.0 us, peak 0 bytes
// NUMBERS: makespan {{[1-9][0-9.]*}} us, lower bound {{[1-9][0-9.]*}} us, critical path {{[1-9][0-9.]*}} us, 0 bytes cross
// SVG: <svg xmlns="http://www.w3.org/2000/svg" width="1540"
// SVG: device:CPU:1</text>
// SVG: <rect {{.*}}<title>`tf.Mul` 0.0 us to
// SVG: </svg>
// RUN: ir-translate %S/partition.mlir --devices CPU:2 --partition device --view-schedule %t.links.svg -o %t/
// RUN: FileCheck %s --check-prefix=LINKS --input-file=%t.links.svg
// LINKS: >CPU:0 to CPU:1</text>
// LINKS: fill="#555"{{.*}}<title>`tf.Sqrt`

// The placed program as a picture, whole and in parts.
// RUN: ir-translate %s --devices CPU:2 -O0 --view %t.view.svg -o %t.bef
// RUN: FileCheck %s --check-prefix=VIEW --input-file=%t.view.svg
// RUN: ir-translate %S/partition.mlir --devices CPU:2 -O0 --partition device --view %t.parts.svg -o %t/
// RUN: FileCheck %s --check-prefix=PARTS --input-file=%t.parts.svg
// VIEW: <svg xmlns="http://www.w3.org/2000/svg"
// VIEW: <title>`tf.Mul` on /job:localhost/replica:0/task:0/device:CPU:0</title></rect>{{.*}}>Mul</text>
// VIEW: </svg>
// PARTS: >chain.CPU_1</text>
// PARTS: stroke="#000" stroke-width="2.5"
// PARTS: <title>`dev.recv` on /job:localhost/replica:0/task:0/device:CPU:1</title>

// `first` moves to another device if there is no room, also for variables.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1{memory=3kB},CPU:1{memory=100kB} policy=first})' | FileCheck %s --check-prefix=MOVES
// RUN: ir-opt %S/placement-variables.mlir --pass-pipeline='builtin.module(tf-place{devices=CPU:1{memory=3kB},CPU:1{memory=100kB} policy=first})' | FileCheck %s --check-prefix=MOVES
// MOVES: func.func @main
// MOVES-NOT: device:CPU:0
// MOVES: device:CPU:1
