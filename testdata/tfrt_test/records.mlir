// Training data: records of features, and pictures in them. The strings are made here so that the paths can be said on the command line.
//
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | ir-translate --mlir-to-bef | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | ir-translate --mlir-to-bef | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: sed -e 's|DIRECTORY|%S/Inputs|' %s | ir-translate --mlir-to-bef | bef-exec - --seed 1 --leak-check | FileCheck %s

// CHECK-LABEL: --- Running 'picture'
// CHECK-NEXT: 'picture' returned
// CHECK-NEXT: array({{\[\[\[}}200,  30,  39],
// CHECK: [ 20,  60, 220]{{\]\]}}, shape=(8, 16, 3), dtype=uint8)
func.func @picture() -> !t.tensor {
  %path = tfrt_test.get_string {value = "DIRECTORY/two-colors.jpg"}
  %bytes = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %picture = tfrt_test.decode_jpeg %bytes
  tfrt.return %picture : !t.tensor
}

// CHECK-LABEL: --- Running 'no_picture'
// CHECK-NEXT: 'no_picture' returned <<error: cannot decode a JPEG: {{.*}}>>,<<error: cannot decode a JPEG: 16000 by 16000 pixels are more than 33554432>>
func.func @no_picture() -> (!t.tensor, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/record.example"}
  %bytes = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %picture = tfrt_test.decode_jpeg %bytes
  %vast_path = tfrt_test.get_string {value = "DIRECTORY/vast.jpg"}
  %vast_bytes = "tfrt_test.read_string_from_file"(%vast_path) : (!tfrt.string) -> !tfrt.string
  %vast = tfrt_test.decode_jpeg %vast_bytes
  tfrt.return %picture, %vast : !t.tensor, !t.tensor
}

// Halfway between the two colors, and behind the last pixel nothing but it.
// CHECK-LABEL: --- Running 'sizes'
// CHECK-NEXT: 'sizes' returned
// CHECK-NEXT: array({{\[\[\[}}200.,  30.,  39.],
// CHECK-NEXT: [ 20.,  60., 220.]{{\]\]}}, shape=(1, 2, 3), dtype=float32),
// CHECK-NEXT: array({{\[\[\[}}1. ],
// CHECK-NEXT: [1.5],
// CHECK-NEXT: [2. ],
// CHECK-NEXT: [2. ]],
// CHECK-EMPTY:
// CHECK-NEXT: {{\[\[}}3. ],
// CHECK-NEXT: [3.5],
// CHECK-NEXT: [4. ],
// CHECK-NEXT: [4. ]{{\]\]}}, shape=(2, 4, 1), dtype=float32),
// CHECK-SAME: <<error: -1 is no size>>,<<error: {{.*}}cannot become one of 0 by 2{{.*}}>>
func.func @sizes() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %minus_one = tfrt.constant.i64 -1
  %zero = tfrt.constant.i64 0
  %one = tfrt.constant.i64 1
  %two = tfrt.constant.i64 2
  %four = tfrt.constant.i64 4
  %path = tfrt_test.get_string {value = "DIRECTORY/two-colors.jpg"}
  %bytes = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %picture = tfrt_test.decode_jpeg %bytes
  %small = tfrt_test.resize_bilinear %picture, %one, %two
  %square = "cpu.constant"() {value = dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>} : () -> !t.tensor
  %wide = tfrt_test.resize_bilinear %square, %two, %four
  %negative = tfrt_test.resize_bilinear %square, %minus_one, %four
  %nothing = tfrt_test.resize_bilinear %square, %zero, %two
  tfrt.return %small, %wide, %negative, %nothing : !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// CHECK-LABEL: --- Running 'record'
// CHECK-NEXT: string = two colors
// CHECK-NEXT: 'record' returned -7,
// CHECK-NEXT: array({{\[\[\[}}200,  30,  39],
func.func @record() -> (i64, !t.tensor) {
  %path = tfrt_test.get_string {value = "DIRECTORY/record.example"}
  %bytes = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %example = tfrt_test.parse_example_from_bytes %bytes
  %name_key = tfrt_test.get_string {value = "name"}
  %name = tfrt_test.get_bytes_field_from_example %example, %name_key
  %printed = "tfrt_test.print_string"(%name) : (!tfrt.string) -> !tfrt.chain
  %label_key = tfrt_test.get_string {value = "label"}
  %label = tfrt_test.get_int64_field_from_example %example, %label_key
  %image_key = tfrt_test.get_string {value = "image"}
  %image = tfrt_test.get_bytes_field_from_example %example, %image_key
  %picture = tfrt_test.decode_jpeg %image
  tfrt.return %label, %picture : i64, !t.tensor
}

// CHECK-LABEL: --- Running 'what_is_not_there'
// CHECK-NEXT: 'what_is_not_there' returned
// CHECK-SAME: <<error: key image2 is not found in the proto>>,
// CHECK-SAME: <<error: feature names has 2 values, not exactly one>>,
// CHECK-SAME: <<error: feature none has 0 values, not exactly one>>,
// CHECK-SAME: <<error: feature name is not a list of int64>>,
// CHECK-SAME: <<error: feature weight is not a list of bytes>>,
// CHECK-SAME: <<error: feature empty is not a list of bytes>>,
// CHECK-SAME: <<error: cannot parse an example: {{.*}}>>
func.func @what_is_not_there() -> (i64, !tfrt.string, i64, i64, !tfrt.string, !tfrt.string, !tfrt_test.proto_example) {
  %path = tfrt_test.get_string {value = "DIRECTORY/record.example"}
  %bytes = "tfrt_test.read_string_from_file"(%path) : (!tfrt.string) -> !tfrt.string
  %example = tfrt_test.parse_example_from_bytes %bytes
  %image2 = tfrt_test.get_string {value = "image2"}
  %missing = tfrt_test.get_int64_field_from_example %example, %image2
  %names = tfrt_test.get_string {value = "names"}
  %several = tfrt_test.get_bytes_field_from_example %example, %names
  %none = tfrt_test.get_string {value = "none"}
  %nothing = tfrt_test.get_int64_field_from_example %example, %none
  %name = tfrt_test.get_string {value = "name"}
  %number = tfrt_test.get_int64_field_from_example %example, %name
  %weight = tfrt_test.get_string {value = "weight"}
  %float = tfrt_test.get_bytes_field_from_example %example, %weight
  %empty = tfrt_test.get_string {value = "empty"}
  %of_no_kind = tfrt_test.get_bytes_field_from_example %example, %empty
  %bad = tfrt_test.parse_example_from_bytes %name
  tfrt.return %missing, %several, %nothing, %number, %float, %of_no_kind, %bad : i64, !tfrt.string, i64, i64, !tfrt.string, !tfrt.string, !tfrt_test.proto_example
}
