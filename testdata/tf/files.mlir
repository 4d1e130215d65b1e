// Operators on files: tensors are saved in two parts, which are merged, and restored; nothing is touched outside of the folders that are allowed.
//
// RUN: rm -rf %t && mkdir %t && mkdir %t/in && sed -e 's,FOLDER,%t/in,g' %s > %t/files.mlir && ln -s %t %t/in/out
// RUN: bef-exec %t/files.mlir --functions save --allow-dir %t/in && test -f %t/in/new/model.index && not test -e %t/in/new/model_temp
// RUN: bef-exec %t/files.mlir --functions restore,name --allow-dir %t/in | FileCheck %s
// RUN: bef-exec -O2 %t/files.mlir --functions restore,name --allow-dir %t/in --work-queue mstd:2 | FileCheck %s
// RUN: bef-exec %t/files.mlir --functions wrong,absent,outside,beside,linked --allow-dir %t/in 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not test -e %t/outside.index && not test -e %t/in/new/outside.index
// RUN: bef-exec %t/files.mlir --functions restore 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not bef-exec %t/files.mlir --functions restore --allow-dir %t/none 2>&1 | FileCheck %s --check-prefix=FOLDER

func.func @save() {
  %x = "tf.Const"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %y = "tf.Const"() {value = dense<[4.0]> : tensor<1xf32>} : () -> tensor<1xf32>
  %n = "tf.Const"() {value = dense<7> : tensor<i64>} : () -> tensor<i64>
  %s = "tf.Const"() {value = dense<["ab", ""]> : tensor<2x!tf_type.string>} : () -> tensor<2x!tf_type.string>
  %one = "tf.Const"() {value = dense<"FOLDER/new/model_temp/part-0"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %names.1 = "tf.Const"() {value = dense<["w", "n"]> : tensor<2x!tf_type.string>} : () -> tensor<2x!tf_type.string>
  %slices.1 = "tf.Const"() {value = dense<["4 0,3", ""]> : tensor<2x!tf_type.string>} : () -> tensor<2x!tf_type.string>
  "tf.SaveV2"(%one, %names.1, %slices.1, %x, %n) : (tensor<!tf_type.string>, tensor<2x!tf_type.string>, tensor<2x!tf_type.string>, tensor<3xf32>, tensor<i64>) -> ()
  %two = "tf.Const"() {value = dense<"FOLDER/new/model_temp/part-1"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %names.2 = "tf.Const"() {value = dense<["w", "s"]> : tensor<2x!tf_type.string>} : () -> tensor<2x!tf_type.string>
  %slices.2 = "tf.Const"() {value = dense<["4 3,1", ""]> : tensor<2x!tf_type.string>} : () -> tensor<2x!tf_type.string>
  "tf.SaveV2"(%two, %names.2, %slices.2, %y, %s) : (tensor<!tf_type.string>, tensor<2x!tf_type.string>, tensor<2x!tf_type.string>, tensor<1xf32>, tensor<2x!tf_type.string>) -> ()
  %parts = "tf.Const"() {value = dense<["FOLDER/new/model_temp/part-0", "FOLDER/new/model_temp/part-1"]> : tensor<2x!tf_type.string>} : () -> tensor<2x!tf_type.string>
  %to = "tf.Const"() {value = dense<"FOLDER/new/model"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  "tf.MergeV2Checkpoints"(%parts, %to) : (tensor<2x!tf_type.string>, tensor<!tf_type.string>) -> ()
  tfrt.return
}

// CHECK-LABEL: --- Running 'restore':
// CHECK: array([1., 2., 3., 4.], shape=(4,), dtype=float32)
// CHECK: array(7, shape=(), dtype=int64)
// CHECK: ab
// CHECK: array([3., 4.], shape=(2,), dtype=float32)
// NONE: /new/model.index: the program may not touch this file; allowed folders: none
// FOLDER: error: --allow-dir {{.*}}/none: No such file or directory
func.func @restore() -> (tensor<*xf32>, tensor<*xi64>, tensor<*x!tf_type.string>, tensor<*xf32>) {
  %prefix = "tf.Const"() {value = dense<"FOLDER/new/model"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %names = "tf.Const"() {value = dense<["w", "n", "s", "w"]> : tensor<4x!tf_type.string>} : () -> tensor<4x!tf_type.string>
  %slices = "tf.Const"() {value = dense<["", "", "", "4 2,2"]> : tensor<4x!tf_type.string>} : () -> tensor<4x!tf_type.string>
  %0:4 = "tf.RestoreV2"(%prefix, %names, %slices) : (tensor<!tf_type.string>, tensor<4x!tf_type.string>, tensor<4x!tf_type.string>) -> (tensor<*xf32>, tensor<*xi64>, tensor<*x!tf_type.string>, tensor<*xf32>)
  tfrt.return %0#0, %0#1, %0#2, %0#3 : tensor<*xf32>, tensor<*xi64>, tensor<*x!tf_type.string>, tensor<*xf32>
}

// CHECK-LABEL: --- Running 'name':
// CHECK: a/b-00001-of-00002
// CHECK: a/b-?????-of-00002
func.func @name() -> (tensor<!tf_type.string>, tensor<!tf_type.string>) {
  %name = "tf.Const"() {value = dense<"a/b"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %i = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %n = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.ShardedFilename"(%name, %i, %n) : (tensor<!tf_type.string>, tensor<i32>, tensor<i32>) -> tensor<!tf_type.string>
  %1 = "tf.ShardedFilespec"(%name, %n) : (tensor<!tf_type.string>, tensor<i32>) -> tensor<!tf_type.string>
  tfrt.return %0, %1 : tensor<!tf_type.string>, tensor<!tf_type.string>
}

// WRONG-LABEL: --- Running 'wrong':
// WRONG: tensor 'n' is of type i64, not f32
func.func @wrong() -> tensor<*xf32> {
  %prefix = "tf.Const"() {value = dense<"FOLDER/new/model"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %names = "tf.Const"() {value = dense<["n"]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  %slices = "tf.Const"() {value = dense<[""]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  %0 = "tf.RestoreV2"(%prefix, %names, %slices) : (tensor<!tf_type.string>, tensor<1x!tf_type.string>, tensor<1x!tf_type.string>) -> tensor<*xf32>
  tfrt.return %0 : tensor<*xf32>
}

// WRONG-LABEL: --- Running 'absent':
// WRONG: tensor 'absent': there is no such tensor
func.func @absent() -> tensor<*xf32> {
  %prefix = "tf.Const"() {value = dense<"FOLDER/new/model"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %names = "tf.Const"() {value = dense<["absent"]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  %slices = "tf.Const"() {value = dense<[""]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  %0 = "tf.RestoreV2"(%prefix, %names, %slices) : (tensor<!tf_type.string>, tensor<1x!tf_type.string>, tensor<1x!tf_type.string>) -> tensor<*xf32>
  tfrt.return %0 : tensor<*xf32>
}

// WRONG-LABEL: --- Running 'outside':
// WRONG: ../outside{{.*}}: the program may not touch this file; allowed folders: {{.*}}/in
func.func @outside() -> tensor<f32> {
  %x = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %prefix = "tf.Const"() {value = dense<"FOLDER/../outside"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %names = "tf.Const"() {value = dense<["x"]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  %slices = "tf.Const"() {value = dense<[""]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  "tf.SaveV2"(%prefix, %names, %slices, %x) : (tensor<!tf_type.string>, tensor<1x!tf_type.string>, tensor<1x!tf_type.string>, tensor<f32>) -> ()
  tfrt.return %x : tensor<f32>
}

// A folder that is not there has no other one above it.
// WRONG-LABEL: --- Running 'beside':
// WRONG: none/../../outside{{.*}}: it is no path of a file
func.func @beside() -> tensor<f32> {
  %x = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %prefix = "tf.Const"() {value = dense<"FOLDER/none/../../outside"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %names = "tf.Const"() {value = dense<["x"]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  %slices = "tf.Const"() {value = dense<[""]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  "tf.SaveV2"(%prefix, %names, %slices, %x) : (tensor<!tf_type.string>, tensor<1x!tf_type.string>, tensor<1x!tf_type.string>, tensor<f32>) -> ()
  tfrt.return %x : tensor<f32>
}

// WRONG-LABEL: --- Running 'linked':
// WRONG: in/out/outside{{.*}}: the program may not touch this file
func.func @linked() -> tensor<f32> {
  %x = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %prefix = "tf.Const"() {value = dense<"FOLDER/out/outside"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %names = "tf.Const"() {value = dense<["x"]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  %slices = "tf.Const"() {value = dense<[""]> : tensor<1x!tf_type.string>} : () -> tensor<1x!tf_type.string>
  "tf.SaveV2"(%prefix, %names, %slices, %x) : (tensor<!tf_type.string>, tensor<1x!tf_type.string>, tensor<1x!tf_type.string>, tensor<f32>) -> ()
  tfrt.return %x : tensor<f32>
}
