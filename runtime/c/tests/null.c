/* Every function with null, and with a handle of another kind: errors, and never a crash: null */
#include <befrost.h>
#include <stdio.h>

static unsigned n_refused;

/* A function that can fail must refuse. */
#define REFUSED(call)                                                       \
  do {                                                                      \
    bf_error *error = call;                                                 \
    if (!error || bf_error_code(error) != BF_INVALID_ARGUMENT) {            \
      fprintf(stderr, "%s: %s\n", #call, bf_error_message(error));          \
      return 1;                                                             \
    }                                                                       \
    bf_error_release(error);                                                \
    n_refused++;                                                            \
  } while (0)

/* With `h` in the place of each handle. */
static int all(void *h) {
  const char *name = "x";
  int64_t dim = 1;
  void *out = NULL;
  size_t length = 0;
  const char *text = NULL;
  bf_tensor *tensors[1] = {h}, *made = NULL;
  bf_future *futures[1] = {NULL};
  bf_stats stats = {.size = sizeof stats};
  REFUSED(bf_tensor_string(h, 0, &text, &length));
  REFUSED(bf_tensor_to_dlpack(h, (struct DLManagedTensorVersioned **)&out));
  REFUSED(bf_model_run(h, tensors, 1, &made, 1));
  REFUSED(bf_model_ports(h, BF_INPUTS, (bf_ports **)&out));
  REFUSED(bf_program_run(h, "main", tensors, 1, &made, 1));
  REFUSED(bf_session_run(h, NULL, &name, tensors, 1, &name, &made, 1));
  REFUSED(bf_session_start(h, NULL, &name, tensors, 1, &name, 1, (bf_run **)&out));
  REFUSED(bf_session_save(h, name, &name, 1, &name, 1));
  REFUSED(bf_session_callable(h, &name, 1, &name, 1, (bf_callable **)&out));
  REFUSED(bf_session_ports(h, BF_TENSORS, (bf_ports **)&out));
  REFUSED(bf_session_signatures(h, &made));
  REFUSED(bf_session_warm(h, &name, 1, &name, 1, NULL, 0));
  REFUSED(bf_session_stats(h, &stats));
  REFUSED(bf_callable_call(h, tensors, 1, &made, 1));
  REFUSED(bf_callable_call_with(h, NULL, tensors, 1, &made, 1));
  REFUSED(bf_callable_call_into(h, tensors, 1, tensors, 1));
  REFUSED(bf_run_wait(h, &made, 1));
  REFUSED(bf_variables_names(h, &made));
  REFUSED(bf_variables_get(h, name, &made));
  REFUSED(bf_variables_set(h, name, h));
  REFUSED(bf_variables_snapshot(h, (bf_snapshot **)&out));
  REFUSED(bf_variables_restore(h, h));
  REFUSED(bf_op_set_int(h, name, 1));
  REFUSED(bf_op_set_float(h, name, 1));
  REFUSED(bf_op_set_bool(h, name, 1));
  REFUSED(bf_op_set_dtype(h, name, BF_F32));
  REFUSED(bf_op_set_string(h, name, name));
  REFUSED(bf_op_set_shape(h, name, 1, &dim));
  REFUSED(bf_op_set_tensor(h, name, h));
  REFUSED(bf_op_set_function(h, name, name));
  REFUSED(bf_op_set_ints(h, name, &dim, 1));
  REFUSED(bf_op_set_floats(h, name, (const float[]){1}, 1));
  REFUSED(bf_op_set_bools(h, name, (const int32_t[]){1}, 1));
  REFUSED(bf_op_set_dtypes(h, name, (const int32_t[]){BF_F32}, 1));
  REFUSED(bf_op_set_strings(h, name, &name, 1));
  REFUSED(bf_op_set_shapes(h, name, (const int32_t[]){1}, 1, &dim));
  REFUSED(bf_op_set_functions(h, name, &name, 1));
  REFUSED(bf_op_execute(h, tensors, 1, &made, 1));
  REFUSED(bf_op_start(h, tensors, 1, futures, 1));
  REFUSED(bf_future_wait(h, &made));
  if (out || made || futures[0]) return 2;

  /* What cannot fail answers with nothing. */
  if (bf_tensor_dtype(h) || bf_tensor_rank(h) != -1 || bf_tensor_dims(h) || bf_tensor_data(h)) return 3;
  if (bf_tensor_bytes(h) || bf_model_n_inputs(h) || bf_model_n_outputs(h) || bf_run_is_done(h)) return 4;
  if (bf_future_is_done(h) || bf_ports_count(h) || bf_ports_name(h, 0) || bf_ports_dtype(h, 0)) return 5;
  if (bf_ports_rank(h, 0) != -1 || bf_ports_dims(h, 0) || bf_library_name(h)[0] || bf_library_kernel(h, 0)) return 6;
  if (bf_error_code(h) || bf_error_message(h)[0] || bf_error_location(h)[0] || bf_error_call(h, 0)) return 7;
  bf_run_cancel(h);
  void (*const counted[])(void) = {
      (void (*)(void))bf_tensor_retain,   (void (*)(void))bf_tensor_release,   (void (*)(void))bf_model_retain,
      (void (*)(void))bf_model_release,   (void (*)(void))bf_program_retain,   (void (*)(void))bf_program_release,
      (void (*)(void))bf_session_retain,  (void (*)(void))bf_session_release,  (void (*)(void))bf_callable_retain,
      (void (*)(void))bf_callable_release, (void (*)(void))bf_run_retain,      (void (*)(void))bf_run_release,
      (void (*)(void))bf_op_retain,       (void (*)(void))bf_op_release,       (void (*)(void))bf_future_retain,
      (void (*)(void))bf_future_release,  (void (*)(void))bf_ports_retain,     (void (*)(void))bf_ports_release,
      (void (*)(void))bf_snapshot_retain, (void (*)(void))bf_snapshot_release, (void (*)(void))bf_library_retain,
      (void (*)(void))bf_library_release, (void (*)(void))bf_error_release,
  };
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) ((void (*)(void *))counted[i])(h);
  return 0;
}

/* What makes a handle, with a name or a place that is null. */
static int makers(void) {
  const int64_t dims[2] = {1, 1};
  const float one = 1;
  void *out = NULL;
  bf_op *op = NULL;
  bf_tensor *made = NULL;
  REFUSED(bf_tensor_create(BF_F32, 1, dims, &one, NULL));
  REFUSED(bf_tensor_create(BF_F32, 1, NULL, &one, &made));
  REFUSED(bf_tensor_create(BF_F32, 1, dims, NULL, &made));
  REFUSED(bf_tensor_create(BF_RESOURCE, 1, dims, &one, &made));
  REFUSED(bf_tensor_create(BF_F32, -1, dims, &one, &made));
  REFUSED(bf_tensor_create(BF_F32, 2, (const int64_t[]){INT64_MAX, INT64_MAX}, &one, &made));
  REFUSED(bf_tensor_borrow(BF_F32, 1, dims, &one, NULL, NULL, NULL));
  REFUSED(bf_tensor_create_strings(1, dims, NULL, NULL, &made));
  REFUSED(bf_tensor_from_dlpack(NULL, &made));
  REFUSED(bf_runtime_create(NULL, NULL));
  REFUSED(bf_runtime_create(&(const bf_runtime_options){.size = 3}, (bf_runtime **)&out));
  REFUSED(bf_model_load(NULL, NULL, NULL, (bf_model **)&out));
  REFUSED(bf_model_load_bytes(NULL, NULL, 3, NULL, (bf_model **)&out));
  REFUSED(bf_model_load_bytes(NULL, "", 0, NULL, (bf_model **)&out));
  REFUSED(bf_program_load(NULL, NULL, 3, (bf_program **)&out));
  REFUSED(bf_session_open(NULL, NULL, NULL, (bf_session **)&out));
  REFUSED(bf_session_open(NULL, "x", NULL, NULL));
  REFUSED(bf_session_open_bytes(NULL, "none", 4, NULL, (bf_session **)&out));
  REFUSED(bf_library_load(NULL, (bf_loaded_library **)&out));
  REFUSED(bf_op_create(NULL, NULL, (bf_op **)&out));
  REFUSED(bf_op_create(NULL, "AddV2", NULL));
  if (out || made || bf_op_create(NULL, "Const", &op)) return 2;
  REFUSED(bf_op_set_int(op, NULL, 1));
  REFUSED(bf_op_set_dtype(op, "a", 999));
  REFUSED(bf_op_set_dtypes(op, "b", (const int32_t[]){-1}, 1));
  REFUSED(bf_op_set_string(op, "c", NULL));
  REFUSED(bf_op_set_strings(op, "d", NULL, 2));
  REFUSED(bf_op_set_strings(op, "e", (const char *const[]){NULL}, 1));
  REFUSED(bf_op_set_shape(op, "f", -2, dims));
  REFUSED(bf_op_set_shape(op, "g", 1, (const int64_t[]){-7}));
  REFUSED(bf_op_set_shapes(op, "h", (const int32_t[]){1, -3}, 2, dims));
  REFUSED(bf_op_set_shapes(op, "i", (const int32_t[]){1}, 1, NULL));
  REFUSED(bf_op_set_tensor(op, "j", NULL));
  REFUSED(bf_op_set_function(op, "k", NULL));
  REFUSED(bf_op_set_floats(op, "l", NULL, 1));
  REFUSED(bf_op_set_ints(op, "m", NULL, (size_t)-1));
  REFUSED(bf_op_execute(op, NULL, 2, &made, 1));
  REFUSED(bf_op_execute(op, NULL, 0, NULL, 1));
  bf_op_release(op);
  return 0;
}

int main(void) {
  bf_runtime *runtime = NULL;
  int failed = 0;
  if ((failed = all(NULL))) return 10 + failed;
  /* No function above takes a runtime where its handle goes. */
  if (bf_runtime_create(NULL, &runtime)) return 1;
  if ((failed = all(runtime))) return 20 + failed;
  bf_runtime_retain(runtime);
  bf_runtime_release(runtime);
  bf_runtime_release(runtime);
  bf_runtime_retain(NULL);
  bf_runtime_release(NULL);
  if ((failed = makers())) return 30 + failed;
  printf("%u refused\n", n_refused);
  return 0;
}
