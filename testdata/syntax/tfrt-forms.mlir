// The ops of `tfrt` that TFRT's own tables do not define have custom forms like the others. Generic form is read as well.
//
// RUN: ir-opt %s | FileCheck %s
// RUN: ir-opt %s | ir-opt | FileCheck %s
// RUN: ir-opt %s --generic | ir-opt | FileCheck %s
// RUN: bef-exec %s --work-queue s | FileCheck %s --check-prefix=EXEC

// EXEC: --- Running 'forms':
// EXEC-NEXT: f16 = 15872
// EXEC-NEXT: complex64 = 1.000000+2.000000i
// EXEC-NEXT: complex128 = 3.000000+4.000000i
// EXEC-NEXT: 'forms' returned 3,3,1,8,6,2.500000,1.500000,3.750000,0.600000,3,4.000000
// CHECK-LABEL: func.func @forms
func.func @forms() -> (i32, i32, i1, i32, i64, f32, f32, f32, f64, i64, f32) {
  %a = tfrt.constant.i32 5
  %b = tfrt.constant.i32 2
  %three = tfrt.constant.i32 3
  %l = tfrt.constant.i64 4
  %m = tfrt.constant.i64 2
  %x = tfrt.constant.f32 2.5
  %y = tfrt.constant.f32 1.5
  %u = tfrt.constant.f64 3.0
  %v = tfrt.constant.f64 5.0
  %h = tfrt.constant.f16 1.5
  %c = tfrt.constant.complex64 1.0 : f32, 2.0 : f32
  %d = tfrt.constant.complex128 3.0 : f64, 4.0 : f64
  %ch0 = tfrt.new.chain
  // CHECK: tfrt.print.f16 %{{.*}}, %{{.*}}
  %ch1 = tfrt.print.f16 %h, %ch0
  // CHECK: tfrt.print.complex64 %{{.*}}, %{{.*}}
  %ch2 = tfrt.print.complex64 %c, %ch1
  // CHECK: tfrt.print.complex128 %{{.*}}, %{{.*}}
  %ch3 = tfrt.print.complex128 %d, %ch2
  // CHECK: tfrt.minus.i32 %{{.*}}, %{{.*}} {note}
  %0 = tfrt.minus.i32 %a, %b {note}
  // CHECK: tfrt.minimum.i32 %{{.*}}, %{{.*}}
  %1 = tfrt.minimum.i32 %a, %three
  // CHECK: tfrt.lessequal.i32 %{{.*}}, %{{.*}}
  %2 = tfrt.lessequal.i32 %b, %three
  // CHECK: tfrt.add_s.i32 %{{.*}}, %{{.*}}
  %3 = tfrt.add_s.i32 %a, %three
  // CHECK: tfrt.minus.i64 %{{.*}}, %{{.*}}
  %4 = tfrt.minus.i64 %l, %m
  // CHECK: tfrt.minimum.i64 %{{.*}}, %{{.*}}
  %5 = tfrt.minimum.i64 %l, %4
  // CHECK: tfrt.lessequal.i64 %{{.*}}, %{{.*}}
  %6 = tfrt.lessequal.i64 %l, %m
  // CHECK: tfrt.add_s.i64 %{{.*}}, %{{.*}}
  %7 = tfrt.add_s.i64 %5, %l
  // CHECK: tfrt.minimum.f32 %{{.*}}, %{{.*}}
  %8 = tfrt.minimum.f32 %x, %y
  // CHECK: tfrt.multiply.f32 %{{.*}}, %{{.*}}
  %9 = tfrt.multiply.f32 %x, %y
  // CHECK: tfrt.div.f32 %{{.*}}, %{{.*}}
  %10 = tfrt.div.f32 %9, %y
  // CHECK: tfrt.minimum.f64 %{{.*}}, %{{.*}}
  %11 = tfrt.minimum.f64 %u, %v
  // CHECK: tfrt.multiply.f64 %{{.*}}, %{{.*}}
  %12 = tfrt.multiply.f64 %u, %v
  // CHECK: tfrt.div.f64 %{{.*}}, %{{.*}}
  %13 = tfrt.div.f64 %11, %v
  // CHECK: tfrt.cast.f64_to_i64 %{{.*}}
  %14 = tfrt.cast.f64_to_i64 %11
  // CHECK: tfrt.cast.f32_to_i64 %{{.*}}
  %15 = tfrt.cast.f32_to_i64 %x
  // CHECK: tfrt.cast.i64_to_f32 %{{.*}}
  %16 = tfrt.cast.i64_to_f32 %l
  // CHECK: tfrt.cast.i64_to_f64 %{{.*}}
  %17 = tfrt.cast.i64_to_f64 %15
  // CHECK: tfrt.alias.value %{{.*}}, %{{.*}}, %{{.*}} : (!tfrt.chain, f32, f32) -> (f32, f32)
  %18:2 = tfrt.alias.value %ch3, %10, %8 : (!tfrt.chain, f32, f32) -> (f32, f32)
  // Generic form.
  // CHECK: tfrt.minus.i32 %{{.*}}, %{{.*}}
  %19 = "tfrt.minus.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %0, %1, %2, %3, %7, %18#0, %18#1, %9, %13, %14, %16 : i32, i32, i1, i32, i64, f32, f32, f32, f64, i64, f32
}
