/* The layout that programs compiled with the header of ABI 1 have, on machines with pointers of 64 bits. */
#include <befrost.h>
#include <stdio.h>

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved")

AT(bf_runtime_options, size, 0);
AT(bf_runtime_options, work_queue, 8);
AT(bf_runtime_options, max_memory, 16);
AT(bf_runtime_options, libraries, 24);
AT(bf_runtime_options, n_libraries, 32);
AT(bf_session_options, size, 0);
AT(bf_session_options, level, 4);
AT(bf_session_options, work_queue, 8);
AT(bf_session_options, init, 16);
AT(bf_session_options, signature, 24);
AT(bf_session_options, cache_dir, 32);
AT(bf_session_options, shapes, 40);
AT(bf_session_options, map_weights, 44);
AT(bf_run_options, size, 0);
AT(bf_run_options, targets, 8);
AT(bf_run_options, n_targets, 16);
AT(bf_run_options, timeout_seconds, 24);
AT(bf_run_options, trace, 32);

int main(void) {
  /* The library takes structures of these sizes: those of the Rust side are not larger. */
  const bf_runtime_options runtime_options = {40, NULL, 0, NULL, 0};
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
