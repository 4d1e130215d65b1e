/* A program of the first release with ABI 1: it names every function of that release, and runs some. abi_1.txt has the
 * names that its object takes from the library. */
#include "abi_1.h"
#include <stdio.h>

typedef void (*function)(void);

static const function all[] = {
  (function)bf_abi_version,
  (function)bf_callable_call,
  (function)bf_callable_release,
  (function)bf_callable_retain,
  (function)bf_error_call,
  (function)bf_error_code,
  (function)bf_error_location,
  (function)bf_error_message,
  (function)bf_error_release,
  (function)bf_model_load,
  (function)bf_model_n_inputs,
  (function)bf_model_n_outputs,
  (function)bf_model_release,
  (function)bf_model_retain,
  (function)bf_model_run,
  (function)bf_op_create,
  (function)bf_op_execute,
  (function)bf_op_release,
  (function)bf_op_retain,
  (function)bf_op_set_bool,
  (function)bf_op_set_dtype,
  (function)bf_op_set_float,
  (function)bf_op_set_int,
  (function)bf_op_set_ints,
  (function)bf_op_set_string,
  (function)bf_program_load,
  (function)bf_program_release,
  (function)bf_program_retain,
  (function)bf_program_run,
  (function)bf_run_cancel,
  (function)bf_run_is_done,
  (function)bf_run_release,
  (function)bf_run_retain,
  (function)bf_run_wait,
  (function)bf_runtime_create,
  (function)bf_runtime_release,
  (function)bf_runtime_retain,
  (function)bf_session_callable,
  (function)bf_session_open,
  (function)bf_session_release,
  (function)bf_session_retain,
  (function)bf_session_run,
  (function)bf_session_save,
  (function)bf_session_start,
  (function)bf_tensor_borrow,
  (function)bf_tensor_bytes,
  (function)bf_tensor_create,
  (function)bf_tensor_create_strings,
  (function)bf_tensor_data,
  (function)bf_tensor_dims,
  (function)bf_tensor_dtype,
  (function)bf_tensor_from_dlpack,
  (function)bf_tensor_rank,
  (function)bf_tensor_release,
  (function)bf_tensor_retain,
  (function)bf_tensor_string,
  (function)bf_tensor_to_dlpack,
  (function)bf_variables_get,
  (function)bf_variables_names,
  (function)bf_variables_set,
};

int main(int argc, char **argv) {
  const bf_runtime_options runtime_options = {sizeof runtime_options, "s", 0, NULL, 0};
  const bf_session_options options = {sizeof options, 2, NULL, NULL, NULL, NULL, BF_SHAPES_DECLARED, 0};
  const bf_run_options run_options = {sizeof run_options, NULL, 0, 100, NULL};
  const char *const feeds[] = {"images"}, *const fetches[] = {"logits"};
  const int64_t dims[2] = {1, 64};
  static float pixels[64];
  bf_runtime *runtime = NULL;
  bf_session *session = NULL;
  bf_tensor *image = NULL, *logits = NULL;
  if (argc != 2 || bf_abi_version() != BF_ABI_VERSION) return 1;
  if (bf_runtime_create(&runtime_options, &runtime)) return 2;
  if (bf_session_open(runtime, argv[1], &options, &session)) return 3;
  if (bf_tensor_create(BF_F32, 2, dims, pixels, &image)) return 4;
  if (bf_session_run(session, &run_options, feeds, &image, 1, fetches, &logits, 1)) return 5;
  if (bf_tensor_rank(logits) != 2 || bf_tensor_dims(logits)[1] != 10) return 6;
  bf_tensor_release(logits);
  bf_tensor_release(image);
  bf_session_release(session);
  bf_runtime_release(runtime);
  printf("%u functions\n", (unsigned)(sizeof all / sizeof *all));
  return all[0] == NULL;
}
