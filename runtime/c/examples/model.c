/* Runs a model on arrays of NumPy's files, and prints the first numbers: model MODEL [LIBRARY] [FILE]...
 *
 * A LIBRARY is a kernel library (.so) that the model needs. */
#include <befrost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static void check(bf_error *error) {
  if (error) {
    fprintf(stderr, "error %d: %s\n", (int)bf_error_code(error), bf_error_message(error));
    bf_error_release(error);
    exit(1);
  }
}

/* The array in a file of NumPy's: little-endian float32, float64 or int64, row by row. */
static bf_tensor *read_array(const char *path) {
  unsigned char start[10];
  char header[4096] = "", *at = NULL;
  int64_t dims[8], count = 1;
  int32_t rank = 0;
  bf_tensor *tensor = NULL;
  FILE *file = fopen(path, "rb");
  if (!file || fread(start, 1, 10, file) != 10) exit(3);
  const size_t length = start[8] + 256u * start[9];
  if (length >= sizeof header || fread(header, 1, length, file) != length) exit(3);
  const int32_t dtype = strstr(header, "'<f4'") ? BF_F32 : strstr(header, "'<f8'") ? BF_F64 : BF_I64;
  if ((dtype == BF_I64 && !strstr(header, "'<i8'")) || !strstr(header, "False")) exit(3);
  at = strchr(header, '(');
  while (at && *++at != ')' && rank < 8) {
    if (*at < '0' || *at > '9') continue;
    dims[rank] = strtoll(at, &at, 10);
    count *= dims[rank++];
    at--;
  }
  const size_t size = dtype == BF_F32 ? 4 : 8;
  void *data = malloc((size_t)count * size + 1);
  if (!data || fread(data, size, (size_t)count, file) != (size_t)count) exit(3);
  fclose(file);
  check(bf_tensor_borrow(dtype, rank, dims, data, free, data, &tensor));
  return tensor;
}

int main(int argc, char **argv) {
  bf_runtime_options options = {.size = sizeof options, .work_queue = "s"};
  bf_tensor *inputs[MOST], *outputs[MOST];
  bf_runtime *runtime = NULL;
  bf_model *model = NULL;
  size_t n_inputs = 0;
  int next = 2;
  if (argc < 2 || argc > MOST) return 2;
  if (argc > next && strstr(argv[next], ".so")) {
    options.libraries = (const char *const *)&argv[next++];
    options.n_libraries = 1;
  }
  check(bf_runtime_create(&options, &runtime));
  check(bf_model_load(runtime, argv[1], NULL, &model));
  while (next < argc) inputs[n_inputs++] = read_array(argv[next++]);
  const size_t n_outputs = bf_model_n_outputs(model);
  if (n_outputs > MOST || n_inputs != bf_model_n_inputs(model)) return 4;
  check(bf_model_run(model, inputs, n_inputs, outputs, n_outputs));
  const int is_float = bf_tensor_dtype(outputs[0]) == BF_F32;
  const void *first = bf_tensor_data(outputs[0]);
  const size_t n = bf_tensor_bytes(outputs[0]) / (is_float ? sizeof(float) : sizeof(int64_t));
  if (!is_float && bf_tensor_dtype(outputs[0]) != BF_I64) return 5;
  for (size_t i = 0; i < n && i < 10; i++)
    if (is_float)
      printf("%.9g\n", (double)((const float *)first)[i]);
    else
      printf("%lld\n", (long long)((const int64_t *)first)[i]);
  for (size_t i = 0; i < n_inputs; i++) bf_tensor_release(inputs[i]);
  for (size_t i = 0; i < n_outputs; i++) bf_tensor_release(outputs[i]);
  bf_model_release(model);
  bf_runtime_release(runtime);
  return 0;
}
