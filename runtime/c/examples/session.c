/* A model from memory, its ports, counts, callables and variables: session GRAPH.pb ONNX.onnx */
#include <befrost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong(bf_error *error) {
  if (!error) return 0;
  fprintf(stderr, "%d: %s\n", (int)bf_error_code(error), bf_error_message(error));
  bf_error_release(error);
  return 1;
}

/* The bytes of a file. */
static void *contents(const char *path, size_t *n_bytes) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(1 << 24);
  if (!file || !bytes) return NULL;
  *n_bytes = fread(bytes, 1, 1 << 24, file);
  fclose(file);
  return bytes;
}

static void show(const char *what, const bf_ports *ports) {
  printf("%s:", what);
  for (size_t i = 0; i < bf_ports_count(ports); i++) {
    printf(" %s %d [", bf_ports_name(ports, i), (int)bf_ports_dtype(ports, i));
    for (int32_t axis = 0; axis < bf_ports_rank(ports, i); axis++) {
      printf(axis ? ", %d" : "%d", (int)bf_ports_dims(ports, i)[axis]);
    }
    printf("]");
  }
  printf("\n");
}

static int models(const char *path) {
  const int64_t dims[4] = {1, 1, 8, 8};
  static float pixels[64];
  size_t n_bytes = 0;
  void *bytes = contents(path, &n_bytes);
  bf_model *model = NULL, *other = NULL;
  bf_ports *inputs = NULL, *outputs = NULL;
  bf_tensor *image = NULL, *a = NULL, *b = NULL;
  bf_error *error = NULL;
  if (!bytes || wrong(bf_model_load_bytes(NULL, bytes, n_bytes, NULL, &model))) return 1;
  if (wrong(bf_model_load(NULL, path, NULL, &other))) return 2;
  if (wrong(bf_model_ports(model, BF_INPUTS, &inputs)) || wrong(bf_model_ports(model, BF_OUTPUTS, &outputs))) return 3;
  show("inputs", inputs);
  show("outputs", outputs);
  if (bf_ports_name(inputs, 9) || bf_ports_dims(inputs, 9) || bf_ports_rank(inputs, 9) != -1) return 4;
  if (wrong(bf_tensor_create(BF_F32, 4, dims, pixels, &image))) return 5;
  if (wrong(bf_model_run(model, &image, 1, &a, 1)) || wrong(bf_model_run(other, &image, 1, &b, 1))) return 6;
  if (memcmp(bf_tensor_data(a), bf_tensor_data(b), bf_tensor_bytes(a))) return 7;
  bf_model_release(other);
  error = bf_model_load_bytes(NULL, bytes, 7, NULL, &other);
  if (bf_error_code(error) != BF_INVALID_ARGUMENT) return 8;
  bf_error_release(error);
  bf_tensor_release(a);
  bf_tensor_release(b);
  bf_tensor_release(image);
  bf_ports_release(inputs);
  bf_ports_release(outputs);
  bf_model_release(model);
  free(bytes);
  return 0;
}

static int sessions(const char *path) {
  const char *feeds[] = {"x"}, *fetches[] = {"w/Read/ReadVariableOp"}, *targets[] = {"up"};
  size_t n_bytes = 0;
  void *bytes = contents(path, &n_bytes);
  bf_session_options options = {.size = sizeof options, .level = 2, .init = "init", .work_queue = "s"};
  const bf_run_options soon = {.size = sizeof soon, .timeout_seconds = 1e-9};
  const bf_run_options no_targets = {.size = sizeof no_targets, .targets = targets, .n_targets = 1};
  bf_stats stats = {.size = sizeof stats};
  bf_session *session = NULL, *shares = NULL;
  bf_snapshot *before = NULL;
  bf_tensor *names = NULL, *none = NULL, *w = NULL, *changed = NULL, *read = NULL, *into = NULL;
  bf_callable *callable = NULL;
  bf_ports *tensors = NULL;
  bf_error *error = NULL;
  const char *name = NULL;
  char variable[64] = "";
  size_t length = 0;
  float *values = NULL;
  if (!bytes || wrong(bf_session_open_bytes(NULL, bytes, n_bytes, &options, &session))) return 1;
  if (wrong(bf_session_ports(session, BF_TENSORS, &tensors)) || bf_ports_count(tensors) < 4) return 2;
  if (wrong(bf_session_signatures(session, &names)) || bf_tensor_dims(names)[0] != 0) return 3;
  bf_tensor_release(names);
  /* Its variable, before and after a change. */
  if (wrong(bf_variables_names(session, &names)) || wrong(bf_tensor_string(names, 0, &name, &length))) return 4;
  snprintf(variable, sizeof variable, "%.*s", (int)length, name);
  if (wrong(bf_variables_snapshot(session, &before)) || wrong(bf_variables_get(session, variable, &w))) return 5;
  values = calloc(1, bf_tensor_bytes(w));
  if (wrong(bf_tensor_create(BF_F32, bf_tensor_rank(w), bf_tensor_dims(w), values, &changed))) return 6;
  if (wrong(bf_variables_set(session, variable, changed))) return 7;
  /* Another session with the same variables. */
  options.init = NULL;
  options.variables_of = session;
  if (wrong(bf_session_open(NULL, path, &options, &shares))) return 8;
  if (wrong(bf_session_warm(shares, NULL, 0, fetches, 1, NULL, 0))) return 9;
  if (wrong(bf_session_callable(shares, NULL, 0, fetches, 1, &callable))) return 10;
  if (wrong(bf_callable_call_with(callable, NULL, NULL, 0, &read, 1))) return 11;
  if (memcmp(bf_tensor_data(read), values, bf_tensor_bytes(w))) return 12;
  if (wrong(bf_variables_restore(session, before))) return 13;
  if (wrong(bf_tensor_create(BF_F32, bf_tensor_rank(w), bf_tensor_dims(w), values, &into))) return 14;
  if (wrong(bf_callable_call_into(callable, NULL, 0, &into, 1))) return 15;
  if (memcmp(bf_tensor_data(into), bf_tensor_data(w), bf_tensor_bytes(w))) return 16;
  printf("variables are shared and restored\n");
  error = bf_callable_call_with(callable, &no_targets, NULL, 0, &none, 1);
  if (bf_error_code(error) != BF_INVALID_ARGUMENT || none) return 17;
  bf_error_release(error);
  error = bf_session_run(shares, &soon, NULL, NULL, 0, fetches, &none, 1);
  if (bf_error_code(error) != BF_DEADLINE_EXCEEDED) return 18;
  bf_error_release(error);
  error = bf_session_warm(shares, feeds, 1, targets, 1, (const char *[]){"nobody"}, 1);
  if (bf_error_code(error) == BF_OK) return 19;
  bf_error_release(error);
  if (wrong(bf_session_stats(shares, &stats)) || stats.size != sizeof stats) return 20;
  printf("compiled %d\n", (int)stats.compilations);
  stats.size = 8;
  error = bf_session_stats(shares, &stats);
  if (bf_error_code(error) != BF_INVALID_ARGUMENT) return 21;
  bf_error_release(error);
  bf_tensor_release(names);
  bf_tensor_release(into);
  bf_tensor_release(read);
  bf_tensor_release(changed);
  bf_tensor_release(w);
  bf_snapshot_release(before);
  bf_callable_release(callable);
  bf_ports_release(tensors);
  bf_session_release(shares);
  bf_session_release(session);
  free(values);
  free(bytes);
  return 0;
}

int main(int argc, char **argv) {
  int failed = 0;
  if (argc != 3) return 2;
  if ((failed = models(argv[2]))) return 30 + failed;
  if ((failed = sessions(argv[1]))) return 60 + failed;
  return 0;
}
