// What kernels take, as a table, and one by one for viewers of traces.
//
// RUN: bef-exec %s --work-queue s --profile 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: bef-exec %s --work-queue mstd:2 --trace %t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=TRACE --input-file=%t.json
// RUN: not bef-exec %s --trace /nowhere/at/all.json 2>&1 | FileCheck %s --check-prefix=NOT

// TABLE: {{^}}kernel {{ *}}count {{ *}}total us {{ *}}mean us {{ *}}max us  source, operands{{$}}
// TABLE-DAG: {{^}}tfrt.constant.i32 {{ *}}1 {{.*[0-9]\.[0-9]+}}  {{.*}}clocks.mlir:[[@LINE+18]]:10{{$}}
// TABLE-DAG: {{^}}tfrt_test.async_add.i32 {{ *}}1 {{.*[0-9]\.[0-9]+}}  {{.*}}clocks.mlir:[[@LINE+18]]:10{{$}}
// TABLE-DAG: {{^}}tfrt_test.async_add.i32 {{ *}}1 {{.*[0-9]\.[0-9]+}}  {{.*}}clocks.mlir:[[@LINE+18]]:11{{$}}

// CHECK: 'sum' returned 4
// TRACE: {"displayTimeUnit": "ns", "traceEvents": [
// TRACE-DAG: {"name": "tfrt.constant.i32", "cat": "kernel", "ph": "X", "ts": {{[0-9.]+}}, "dur": {{[0-9.]+}}, "pid": 1, "tid": {{[0-9]+}}, "args": {"source": "{{.*}}clocks.mlir:{{[0-9]+}}:{{[0-9]+}}", "operands": ""}}
// TRACE-DAG: {"name": "tfrt_test.async_add.i32", "cat": "kernel",
// TRACE-DAG: {"name": "tfrt_test.async_add.i32", "cat": "task",
// TRACE: ], "otherData": {"lost": 0}}
// NOT: error: cannot write '/nowhere/at/all.json'

// The nodes of a model, and the shapes of their operands.
// RUN: bef-exec %S/../graphdefs/net_lenet/graph.pb -O0 --input x=%S/../graphdefs/net_lenet/run0_feed_x.npy --profile --trace %t.lenet.json --work-queue s 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: FileCheck %s --check-prefix=EVENTS --input-file=%t.lenet.json
// MODEL-DAG: {{^}}tf.Conv2D {{.*}}  {{[A-Za-z_0-9/]+}}, f32[2x28x28x1] f32[5x5x1x{{[0-9]+}}]{{$}}
// EVENTS: {"name": "tf.Conv2D", {{.*}} "args": {"source": "{{[A-Za-z_0-9/]+}}", "operands": "f32[2x28x28x1] f32[5x5x1x{{[0-9]+}}]"}}
func.func @sum() -> i32 {
  %one = tfrt.constant.i32 1
  %two = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
  %four = "tfrt_test.async_add.i32"(%two, %two) : (i32, i32) -> i32
  tfrt.return %four : i32
}

// A loop of dataflow control flow, natively: its primitives are kernels, and its iterations are counted.
// RUN: bef-exec %S/../tf/scalars.mlir --functions native --no-functionalize --trace %t.native.json --work-queue s | FileCheck %s --check-prefix=LOOP
// RUN: FileCheck %s --check-prefix=FLIGHT --input-file %t.native.json
// LOOP: 'native' returned array(10
// FLIGHT-DAG: "name": "tf._Switch", "cat": "kernel"
// FLIGHT-DAG: "name": "tf._IsLive", "cat": "kernel"
// FLIGHT: "name": "iterations of {{.*}}", "ph": "C", "ts": {{[0-9.]+}}, "pid": 1, "args": {"in flight": 1}}
// FLIGHT: "name": "iterations of {{.*}}", "ph": "C", "ts": {{[0-9.]+}}, "pid": 1, "args": {"in flight": 0}}

// Parts on devices: tracks for each device, and an arrow for what crosses.
// RUN: bef-exec %S/../tf/partition.mlir --functions chain --devices CPU:2 --partition device -O0 --input f32[2]:1,4 --trace %t.parts.json --work-queue s | FileCheck %s --check-prefix=CHAIN
// RUN: FileCheck %s --check-prefix=ARROW --input-file %t.parts.json
// CHAIN: 'chain' returned array([0., 0.]
// ARROW: "name": "crossing", "cat": "dev", "ph": "s", "id": [[ID:[0-9]+]], "ts": {{[0-9.]+}}, "pid": 1, "tid": 1}
// ARROW: "name": "crossing", "cat": "dev", "ph": "f", "id": [[ID]], "ts": {{[0-9.]+}}, "pid": 2, "tid": 1, "bp": "e"}
// ARROW: {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "/job:localhost/replica:0/task:0/device:CPU:0"}}
// ARROW: {"name": "process_name", "ph": "M", "pid": 2, "args": {"name": "/job:localhost/replica:0/task:0/device:CPU:1"}}

// The same run as a picture, and a run on an accelerator: a row for each device and each link.
// RUN: bef-exec %S/../tf/partition.mlir --functions chain --devices CPU:2 --partition device -O0 --input f32[2]:1,4 --view-schedule %t.svg --work-queue s | FileCheck %s --check-prefix=CHAIN
// RUN: FileCheck %s --check-prefix=PICTURE --input-file %t.svg
// PICTURE: <svg xmlns="http://www.w3.org/2000/svg"
// PICTURE: >/job:localhost/replica:0/task:0/device:CPU:0</text>
// PICTURE: >/job:localhost/replica:0/task:0/device:CPU:1</text>
// PICTURE: >CPU:0 to CPU:1</text>
// PICTURE-DAG: <rect {{.*}} y="8.0" {{.*}} fill="hsl(0,55%,65%)" {{.*}}<title>tf.Sqrt {{.*}} us to {{.*}} us</title></rect>
// PICTURE-DAG: <rect {{.*}} y="48.0" {{.*}} fill="hsl(137,55%,65%)" {{.*}}<title>tf.Neg {{.*}} us to {{.*}} us</title></rect>
// PICTURE-DAG: <rect {{.*}} y="88.0" {{.*}} fill="#555" {{.*}}<title>dev.recv {{.*}} us to {{.*}} us</title></rect>
// PICTURE: >the run took {{[0-9.]+}} us</text>
// RUN: bef-exec %S/../tf/transfers-invariant.mlir --devices CPU:1,SIM:2 --functions once --input i32:3 --input f32[2]:1,2 --view-schedule %t.sim.svg --work-queue s
// RUN: FileCheck %s --check-prefix=SIM --input-file %t.sim.svg
// SIM: >CPU:0 to SIM:0</text>
// SIM: >CPU:0 to SIM:1</text>
// SIM: >SIM:0 to CPU:0</text>
// SIM: >SIM:1 to CPU:0</text>
// SIM: <title>dev.transfer
