// A kernel that leaks on purpose is found on every queue, in TFRT's words and with its report by its tools' names.
//
// RUN: not bef-exec %s --work-queue s --leak-check 2>&1 | FileCheck %s
// RUN: not bef-exec %s --work-queue mstd:1 --leak-check 2>&1 | FileCheck %s
// RUN: not bef-exec %s --work-queue mstd:4 --leak-check 2>&1 | FileCheck %s
// RUN: not bef-exec %s --seed 1 --leak-check 2>&1 | FileCheck %s
// RUN: not bef-exec %s --seed 2 --leak-check 2>&1 | FileCheck %s
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: not bef_executor %t.bef | FileCheck %s --check-prefixes=CHECK,REPORT
// RUN: bef_executor %t.bef --host_allocator_type=profiled_allocator -functions=none | FileCheck %s --check-prefix=PROFILE

// CHECK: --- Running 'leak':
func.func @leak() {
  "tfrt_test.memory_leak_one_int32"() : () -> ()
  tfrt.return
}

// CHECK: --- Running 'none':
// REPORT: HostAllocator profile:
// REPORT-NEXT: Current number of allocations = 1
// REPORT-NEXT: Max number of allocations = 1
// REPORT-NEXT: Total number of allocations = 1
// REPORT-NEXT: Current number of bytes allocated = 4
// REPORT-NEXT: Max number of bytes allocated = 4
// CHECK: Memory leak detected: 1 alive allocations, 4 alive bytes

// PROFILE: Choosing profiled allocator based on malloc.
// PROFILE-NEXT: Choosing single-threaded work queue.
// PROFILE: --- Running 'none':
// PROFILE: HostAllocator profile:
// PROFILE-NEXT: Current number of allocations = 0
// PROFILE-NEXT: Max number of allocations = 0
func.func @none() {
  tfrt.return
}
