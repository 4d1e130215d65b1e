/* The layout that programs compiled with the header of ABI 1 have, on machines with pointers of 64 bits. */
#include <befrost.h>
#include <befrost_library.h>
#include <stdio.h>

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")

AT(bf_runtime_options, size, 0);
AT(bf_runtime_options, work_queue, 8);
AT(bf_runtime_options, max_memory, 16);
AT(bf_runtime_options, libraries, 24);
AT(bf_runtime_options, n_libraries, 32);
AT(bf_runtime_options, functions, 40);
AT(bf_session_options, size, 0);
AT(bf_session_options, level, 4);
AT(bf_session_options, work_queue, 8);
AT(bf_session_options, init, 16);
AT(bf_session_options, signature, 24);
AT(bf_session_options, cache_dir, 32);
AT(bf_session_options, shapes, 40);
AT(bf_session_options, map_weights, 44);
AT(bf_session_options, variables_of, 48);
AT(bf_run_options, size, 0);
AT(bf_run_options, targets, 8);
AT(bf_run_options, n_targets, 16);
AT(bf_run_options, timeout_seconds, 24);
AT(bf_run_options, trace, 32);
AT(bf_stats, size, 0);
AT(bf_stats, executables, 4);
AT(bf_stats, compilations, 8);
AT(bf_stats, from_cache, 16);
AT(bf_stats, specializations, 24);
AT(bf_stats, hits, 32);
AT(bf_stats, bytes, 40);
/* What kernel libraries have, of befrost_library.h. */
AT(bf_view, dtype, 0);
AT(bf_view, rank, 4);
AT(bf_view, dims, 8);
AT(bf_view, data, 16);
AT(bf_view, bytes, 24);
AT(bf_host, size, 0);
AT(bf_host, version, 4);
AT(bf_host, error, 8);
AT(bf_host, attr_int, 16);
AT(bf_host, attr_float, 24);
AT(bf_host, attr_bool, 32);
AT(bf_host, attr_type, 40);
AT(bf_host, attr_string, 48);
AT(bf_host, attr_ints, 56);
AT(bf_host, n_operands, 64);
AT(bf_host, n_results, 72);
AT(bf_host, operand, 80);
AT(bf_host, result, 88);
AT(bf_host, forward, 96);
AT(bf_host, fail, 104);
AT(bf_host, defer, 112);
AT(bf_host, later_operand, 120);
AT(bf_host, later_result, 128);
AT(bf_host, later_fail, 136);
AT(bf_host, finish, 144);
AT(bf_host, drop, 152);
AT(bf_host, shape, 160);
AT(bf_host, set_shape, 168);
AT(bf_host, refuse, 176);
AT(bf_kernel, size, 0);
AT(bf_kernel, flags, 4);
AT(bf_kernel, name, 8);
AT(bf_kernel, signature, 16);
AT(bf_kernel, summary, 24);
AT(bf_kernel, prepare, 32);
AT(bf_kernel, release, 40);
AT(bf_kernel, run, 48);
AT(bf_kernel, infer, 56);
AT(bf_library, size, 0);
AT(bf_library, version, 4);
AT(bf_library, name, 8);
AT(bf_library, kernels, 16);
AT(bf_library, n_kernels, 24);

int main(void) {
  /* The library takes structures of these sizes: those of the Rust side are not larger. */
  const bf_runtime_options runtime_options = {.size = 40};
  bf_runtime *runtime = NULL;
  if (sizeof runtime_options < 40) return 1;
  bf_error *error = bf_runtime_create(&runtime_options, &runtime);
  if (error) {
    fprintf(stderr, "%s\n", bf_error_message(error));
    return 2;
  }
  bf_runtime_release(runtime);
  /* What a program of an older header does not have is not read. */
  const struct {
    uint32_t size;
    int32_t level;
    const char *work_queue, *init;
    const void *not_of_it;
  } older = {24, 2, NULL, NULL, &older};
  bf_session *session = NULL;
  error = bf_session_open(NULL, "there/is/none.pb", (const bf_session_options *)(const void *)&older, &session);
  if (bf_error_code(error) != BF_NOT_FOUND) return 4;
  bf_error_release(error);
  printf("ABI %u\n", (unsigned)bf_abi_version());
  return BF_ABI_VERSION == bf_abi_version() ? 0 : 3;
}
