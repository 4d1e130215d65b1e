// Locations: written ones are kept, the others are the places in the text.
//
// RUN: ir-opt %s --allow-unregistered-dialect --print-debuginfo | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --print-debuginfo | ir-opt --allow-unregistered-dialect --print-debuginfo | FileCheck %s
// RUN: ir-opt %s --allow-unregistered-dialect --strip-debuginfo --print-debuginfo | FileCheck %s --check-prefix=STRIP

// CHECK: "u.a"() : () -> () loc([[A:#loc[0-9]*]])
"u.a"() : () -> () loc("file.cc":1:2)
// CHECK-NEXT: "u.b"() : () -> () loc([[B:#loc[0-9]*]])
"u.b"() : () -> () loc(fused<"meta">["x"("file.cc":3:4 to :9), #call])
// CHECK-NEXT: "u.c"() : () -> () loc([[C:#loc[0-9]*]])
"u.c"() : () -> ()
#call = loc(callsite("callee" at unknown))

// CHECK-DAG: [[A]] = loc("file.cc":1:2)
// CHECK-DAG: [[B]] = loc(fused<"meta">[{{#loc[0-9]*}}, {{#loc[0-9]*}}])
// CHECK-DAG: [[C]] = loc("{{.*}}locations.mlir":12:1)

// STRIP: "u.a"() : () -> () loc(#loc)
// STRIP: #loc = loc(unknown)
// STRIP-NOT: #loc1
