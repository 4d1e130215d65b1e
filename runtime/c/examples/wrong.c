/* Everything that a caller can get wrong without lying about pointers is an error: wrong MODEL.pb */
#include <befrost.h>
#include <stdio.h>

static int failures;

static void refused(bf_error *error, int code, const char *what) {
  if (bf_error_code(error) != code || (error && !bf_error_message(error)[0])) {
    fprintf(stderr, "%s: code %d, expected %d\n", what, (int)bf_error_code(error), code);
    failures++;
  }
  bf_error_release(error);
}

/* Operators that do not exist, have no such attribute, or fail without a result that could say so. */
static void operators(bf_tensor *tensor) {
  const unsigned char no = 0;
  bf_op *op = NULL;
  bf_tensor *operands[2] = {NULL, tensor}, *result = NULL;
  refused(bf_tensor_create(BF_BOOL, 0, NULL, &no, &operands[0]), BF_OK, "all right");
  refused(bf_op_create(NULL, "Assertt", &op), BF_OK, "it is not looked up yet");
  refused(bf_op_execute(op, operands, 2, NULL, 0), BF_NOT_FOUND, "an unknown operator");
  bf_op_release(op);
  refused(bf_op_create(NULL, "Assert", &op), BF_OK, "all right");
  refused(bf_op_execute(op, operands, 2, NULL, 0), BF_INVALID_ARGUMENT, "an assertion");
  refused(bf_op_start(op, operands, 2, NULL, 0), BF_INVALID_ARGUMENT, "an assertion that was begun");
  refused(bf_op_execute(op, operands, 2, &result, 1), BF_INVALID_ARGUMENT, "more results than there are");
  refused(bf_op_execute(op, operands, 2, &result, SIZE_MAX), BF_INVALID_ARGUMENT, "more results than memory has");
  refused(bf_op_execute(op, operands, SIZE_MAX, NULL, 0), BF_INVALID_ARGUMENT, "more operands than memory has");
  refused(bf_op_set_int(op, "sumarize", 3), BF_OK, "it is not looked up yet");
  refused(bf_op_execute(op, operands, 2, NULL, 0), BF_NOT_FOUND, "an unknown attribute");
  bf_op_release(op);
  bf_tensor_release(operands[0]);
}

static int freed;
static void free_data(void *argument) { freed += *(int *)argument; }

int main(int argc, char **argv) {
  bf_program *program;
  const int64_t dims[2] = {1, 64}, negative[2] = {1, -64}, huge[2] = {INT64_MAX, 4};
  static float pixels[64];
  const bf_session_options small = {.size = 4, .level = 2}, level = {.size = sizeof level, .level = 7};
  const bf_session_options shapes = {.size = sizeof shapes, .level = 2, .shapes = 3};
  const char *feeds[] = {"images"}, *fetches[] = {"logits"}, *unknown[] = {"logit"}, *none[] = {NULL};
  bf_session *session = NULL, *other = NULL;
  bf_tensor *tensor = NULL, *result = NULL;
  int one = 1;
  if (argc != 2) return 2;
  refused(bf_session_open(NULL, "nowhere.pb", NULL, &session), BF_NOT_FOUND, "a missing file");
  refused(bf_session_open(NULL, NULL, NULL, &session), BF_INVALID_ARGUMENT, "a null path");
  refused(bf_session_open(NULL, argv[1], NULL, NULL), BF_INVALID_ARGUMENT, "no place");
  refused(bf_session_open(NULL, argv[1], &small, &session), BF_INVALID_ARGUMENT, "a small structure");
  refused(bf_session_open(NULL, argv[1], &level, &session), BF_INVALID_ARGUMENT, "a wrong level");
  refused(bf_session_open(NULL, argv[1], &shapes, &session), BF_INVALID_ARGUMENT, "wrong shapes");
  if (session) return 3;
  refused(bf_session_open(NULL, argv[1], NULL, &session), BF_OK, "all right");
  refused(bf_tensor_create(999, 2, dims, pixels, &tensor), BF_INVALID_ARGUMENT, "a wrong dtype");
  refused(bf_tensor_create(BF_F32, -1, dims, pixels, &tensor), BF_INVALID_ARGUMENT, "a negative rank");
  refused(bf_tensor_create(BF_F32, 2, NULL, pixels, &tensor), BF_INVALID_ARGUMENT, "no dimensions");
  refused(bf_tensor_create(BF_F32, 2, negative, pixels, &tensor), BF_INVALID_ARGUMENT, "a negative size");
  refused(bf_tensor_create(BF_F32, 2, huge, pixels, &tensor), BF_INVALID_ARGUMENT, "too many elements");
  refused(bf_tensor_borrow(BF_F32, 2, dims, NULL, free_data, &one, &tensor), BF_INVALID_ARGUMENT, "no data");
  if (tensor || freed != 1) return 4;
  refused(bf_tensor_borrow(BF_F32, 2, dims, pixels, free_data, &one, &tensor), BF_OK, "all right");
  if (!tensor || freed != 1 || bf_tensor_data(tensor) != pixels) return 5;
  refused(bf_session_run(NULL, NULL, feeds, &tensor, 1, fetches, &result, 1), BF_INVALID_ARGUMENT, "no session");
  refused(bf_session_run((bf_session *)tensor, NULL, feeds, &tensor, 1, fetches, &result, 1),
          BF_INVALID_ARGUMENT, "a handle of another kind");
  refused(bf_session_run(session, NULL, feeds, &tensor, 1, unknown, &result, 1), BF_NOT_FOUND,
          "an unknown name");
  refused(bf_session_run(session, NULL, none, &tensor, 1, fetches, &result, 1), BF_INVALID_ARGUMENT,
          "a null name");
  refused(bf_session_run(session, NULL, NULL, NULL, 0, fetches, &result, 1), BF_INVALID_ARGUMENT, "not fed");
  refused(bf_session_run(session, NULL, NULL, NULL, 0, NULL, NULL, 0), BF_INVALID_ARGUMENT, "nothing to run");
  refused(bf_session_save(session, NULL, NULL, 0, NULL, 0), BF_INVALID_ARGUMENT, "a null path");
  refused(bf_session_save(NULL, "saved.bef", NULL, 0, NULL, 0), BF_INVALID_ARGUMENT, "no session");
  refused(bf_session_save(session, "no/such/folder.bef", NULL, 0, NULL, 0), BF_UNAVAILABLE, "no folder");
  refused(bf_session_save(session, "saved.bef", feeds, 1, NULL, 0), BF_INVALID_ARGUMENT, "nothing to save");
  refused(bf_session_save(session, "saved.bef", feeds, 1, unknown, 1), BF_NOT_FOUND, "an unknown name");
  refused(bf_variables_names(session, NULL), BF_INVALID_ARGUMENT, "no place");
  if (bf_error_call(NULL, 0)) return 8;
  bf_callable_retain(NULL);
  refused(bf_variables_get(session, "v", &result), BF_NOT_FOUND, "an unknown variable");
  refused(bf_session_callable(other, feeds, 1, fetches, 1, NULL), BF_INVALID_ARGUMENT, "no place");
  if (result) return 6;
  refused(bf_program_load(NULL, "no program", 10, &program), BF_INVALID_ARGUMENT, "no BEF file");
  refused(bf_program_load(NULL, NULL, 10, &program), BF_INVALID_ARGUMENT, "no bytes");
  if (program) return 7;
  refused(bf_program_run(NULL, "main", &tensor, 1, &result, 1), BF_INVALID_ARGUMENT, "no program");
  refused(bf_program_run((bf_program *)session, "main", &tensor, 1, &result, 1), BF_INVALID_ARGUMENT,
          "a session for a program");
  operators(tensor);
  bf_tensor_retain(tensor);
  bf_tensor_release(tensor);
  if (freed != 1) return 9;
  bf_tensor_release(tensor);
  if (freed != 2) return 10;
  bf_tensor_release(NULL);
  bf_session_release(session);
  bf_session_release(NULL);
  bf_error_release(NULL);
  if (failures == 0) printf("all refused\n");
  return failures;
}
