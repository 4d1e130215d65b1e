// TFRT's test allocator says what it gives, what it refuses and what it gets back; a value that nobody reads goes back at once.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor --host_allocator_type=test_fixed_size_1k %t.bef 2>&1 | FileCheck %s
// RUN: bef-exec --host-allocator fixed-1k --work-queue s %t.bef 2>&1 | FileCheck %s --check-prefix=OURS

// CHECK: Choosing fixed size malloc.
// CHECK: --- Running 'one':
// CHECK-NEXT: {{^}}I {{[0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+:[0-9]+\.[0-9]+ .*:[0-9]+}}] Allocating 192 bytes. 832 remaining.
// CHECK-NEXT: {{^}}I {{.*}}] Freeing 192 bytes. 1024 available.
// OURS: --- Running 'one':
// OURS-NEXT: {{^}}I {{.*}}] Allocating 192 bytes. 832 remaining.
func.func @one() {
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [32 : i64]
  tfrt.return
}

// CHECK: --- Running 'large':
// CHECK-NEXT: {{^}}E {{.*}}] Attempted to allocate 4160 bytes. However current capacity is only 1024.
// CHECK-NEXT: 'large' returned <<error: Cannot allocate tensor>>
func.func @large() -> !t.tensor {
  // expected-error @+1 {{Cannot allocate tensor}}
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [1024 : i64]
  tfrt.return %a : !t.tensor
}

// The first kernel without operands runs first, then the last one.
// CHECK: --- Running 'three':
// CHECK-NEXT: Allocating 192 bytes. 832 remaining.
// CHECK-NEXT: Freeing 192 bytes. 1024 available.
// CHECK-NEXT: Attempted to allocate 4160 bytes. However current capacity is only 1024.
// CHECK-NEXT: Allocating 192 bytes. 832 remaining.
// CHECK-NEXT: Freeing 192 bytes. 1024 available.
func.func @three() attributes {tfrt.cost_threshold = 100 : i64} {
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [32 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [32 : i64]
  // expected-error @+1 {{Cannot allocate tensor}}
  %c = tfrt_dht.create_uninitialized_tensor.f32.1 [1024 : i64]
  tfrt.return
}
