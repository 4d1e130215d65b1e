/* Random sequences of calls, with handles of wrong kinds, null, wrong numbers: sequences MODEL.pb [SEED]
 *
 * Handles are kept in slots, whatever their kind, and given to functions of any kind. */
#include <befrost.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 24, CALLS = 20000 };

enum kind { NONE, TENSOR, SESSION, CALLABLE, RUN, OP, RUNTIME, MODEL, PORTS, SNAPSHOT, FUTURE };
static struct { enum kind kind; void *handle; } slots[SLOTS];

static uint64_t state = 1;

static unsigned pick(unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

/* A handle of the kind most of the time, else whatever is there: of another kind, or null. */
static void *any(enum kind kind) {
  if (pick(8)) {
    for (unsigned tries = 0; tries < 3 * SLOTS; tries++) {
      const unsigned at = pick(SLOTS);
      if (slots[at].kind == kind) return slots[at].handle;
    }
  }
  return slots[pick(SLOTS)].handle;
}

static void drop(unsigned at) {
  void *handle = slots[at].handle;
  switch (slots[at].kind) {
    case TENSOR: bf_tensor_release(handle); break;
    case SESSION: bf_session_release(handle); break;
    case CALLABLE: bf_callable_release(handle); break;
    case RUN: bf_run_release(handle); break;
    case OP: bf_op_release(handle); break;
    case RUNTIME: bf_runtime_release(handle); break;
    case MODEL: bf_model_release(handle); break;
    case PORTS: bf_ports_release(handle); break;
    case SNAPSHOT: bf_snapshot_release(handle); break;
    case FUTURE: bf_future_release(handle); break;
    case NONE: break;
  }
  slots[at].kind = NONE;
  slots[at].handle = NULL;
}

static void keep(enum kind kind, void *handle) {
  const unsigned at = pick(SLOTS);
  if (!handle) return;
  drop(at);
  slots[at].kind = kind;
  slots[at].handle = handle;
}

static unsigned n_errors, n_results;

static void seen(bf_error *error) {
  if (!error) {
    n_results++;
    return;
  }
  n_errors++;
  if (bf_error_code(error) == BF_OK || !bf_error_message(error)[0] || bf_error_code(error) == BF_INTERNAL) {
    fprintf(stderr, "code %d: %s\n", (int)bf_error_code(error), bf_error_message(error));
    exit(3);
  }
  bf_error_release(error);
}

/* Memory that was lent, and how often it was given back. */
static unsigned n_lent, n_given_back;
static void given_back(void *count) { (*(unsigned *)count)++; }

static const char *const names[] = {"images", "logits", "images:0", "nobody", "", NULL, "logits:0", "T"};
static const char *const ops[] = {"AddV2", "MatMul", "Neg", "Nobody", "", "Shape", "ArgMax", "StringJoin"};
static const int32_t dtypes[] = {BF_F32, BF_I32, BF_I64, BF_BOOL, BF_STRING, 0, -5, 999};

int main(int argc, char **argv) {
  static float data[1024 + 1];
  if (argc < 2) return 2;
  if (argc > 2) state = strtoull(argv[2], NULL, 10);
  for (unsigned call = 0; call < CALLS; call++) {
    const char *two[2] = {names[pick(8)], names[pick(8)]};
    bf_tensor *operands[2] = {any(TENSOR), any(TENSOR)}, *results[2] = {NULL, NULL};
    const size_t n = pick(3), n_out = pick(3);
    const int64_t dims[3] = {(int64_t)pick(4) - 1, pick(3) ? 64 : (int64_t)pick(1000) << pick(56), (int64_t)pick(3)};
    const int64_t image[2] = {1 + pick(3), 64};
    const bf_run_options run_options = {pick(9) ? sizeof run_options : pick(40), pick(5) ? NULL : names,
                                        pick(9) ? 0 : pick(8), pick(9) ? 0 : (double)pick(3) - 1,
                                        pick(9) ? NULL : "there/is/no/folder.json"};
    const bf_run_options *options = pick(2) ? NULL : &run_options;
    bf_session *session = NULL;
    bf_callable *callable = NULL;
    bf_runtime *runtime = NULL;
    bf_run *run = NULL;
    bf_op *op = NULL;
    bf_model *model = NULL;
    bf_ports *ports = NULL;
    bf_snapshot *snapshot = NULL;
    bf_future *future = NULL;
    bf_stats stats = {.size = pick(9) ? sizeof stats : pick(60)};
    struct DLManagedTensorVersioned *managed = NULL;
    const char *text = NULL;
    size_t length = 0;
    switch (pick(26)) {
      case 0: seen(bf_tensor_create(BF_F32, 2, image, data, &results[0])); break;
      case 1:
        n_lent++;
        seen(bf_tensor_borrow(dtypes[pick(2) * pick(8)], 2, pick(9) ? image : (const int64_t[]){-1, 64},
                              data + pick(2), given_back, &n_given_back, pick(9) ? &results[0] : NULL));
        break;
      case 2:
        /* Sizes within the data, or refused before it is read. */
        if (dims[0] > 0 && dims[1] > 128 && dims[1] < 1 << 24) break;
        if (dims[0] > 0 && dims[1] >= 1 << 24 && dims[1] < (int64_t)1 << 50) break;
        seen(bf_tensor_create(dtypes[pick(8)], (int32_t)pick(5) - 1 > 2 ? -1 : (int32_t)pick(3), dims,
                              pick(9) ? data : NULL, &results[0]));
        break;
      case 3: seen(bf_tensor_create_strings(1, (const int64_t[]){2}, two, NULL, &results[0])); break;
      case 4: seen(bf_tensor_string(any(TENSOR), pick(4), pick(9) ? &text : NULL, &length)); break;
      case 5:
        if (pick(20) == 0) seen(bf_runtime_create(NULL, &runtime));
        keep(RUNTIME, runtime);
        break;
      case 6:
        if (pick(20) == 0) seen(bf_session_open(any(RUNTIME), pick(5) ? argv[1] : two[0], NULL, &session));
        keep(SESSION, session);
        break;
      case 7: seen(bf_session_run(any(SESSION), options, two, operands, n, two + 1, results, n_out % 2)); break;
      case 8:
        seen(bf_session_run(any(SESSION), options, names, operands, 1, names + 1, results, 1));
        break;
      case 9: seen(bf_session_start(any(SESSION), options, names, operands, 1, names + 1, 1, &run)); break;
      case 10: seen(bf_run_wait(any(RUN), results, n_out)); break;
      case 11: bf_run_cancel(any(RUN)); break;
      case 12: seen(bf_session_callable(any(SESSION), names, 1, two, 1, &callable)); break;
      case 13: seen(bf_callable_call(any(CALLABLE), operands, n, results, n_out)); break;
      case 14: seen(bf_op_create(NULL, ops[pick(8)], &op)); break;
      case 15: seen(bf_op_execute(any(OP), operands, n, results, n_out)); break;
      case 16:
        seen(bf_op_set_dtype(any(OP), two[0], dtypes[pick(8)]));
        seen(bf_op_set_string(any(OP), two[0], two[1]));
        break;
      case 17:
        seen(bf_variables_get(any(SESSION), two[0], &results[0]));
        seen(bf_variables_set(any(SESSION), two[0], operands[0]));
        seen(bf_variables_names(any(SESSION), &results[1]));
        break;
      case 18: drop(pick(SLOTS)); break;
      case 19:
        callable = any(CALLABLE);
        bf_callable_retain(callable);
        bf_callable_release(callable);
        callable = NULL;
        if (!pick(90)) seen(bf_session_save(any(SESSION), pick(2) ? "no/such/file" : NULL, names, n, two, n_out));
        if (bf_tensor_rank(any(TENSOR)) > 0 && !bf_tensor_dims(NULL)) bf_tensor_bytes(any(TENSOR));
        break;
      case 20:
        if (pick(20) == 0) seen(bf_model_load(any(RUNTIME), pick(5) ? argv[1] : two[0], two[1], &model));
        if (pick(20) == 0) seen(bf_model_load_bytes(NULL, data, pick(64), NULL, &model));
        keep(MODEL, model);
        break;
      case 21: seen(bf_model_run(any(MODEL), operands, n, results, n_out)); break;
      case 22:
        seen(pick(2) ? bf_session_ports(any(SESSION), (int32_t)pick(4), &ports)
                     : bf_model_ports(any(MODEL), (int32_t)pick(3), &ports));
        bf_ports_dims(any(PORTS), pick(9));
        bf_ports_name(any(PORTS), pick(9));
        seen(bf_session_stats(any(SESSION), &stats));
        break;
      case 23:
        seen(bf_op_set_int(any(OP), two[0], pick(9)));
        seen(bf_op_set_ints(any(OP), two[1], dims, n));
        seen(bf_op_set_shape(any(OP), two[0], (int32_t)pick(5) - 2, image));
        seen(bf_op_set_tensor(any(OP), two[0], operands[0]));
        seen(bf_op_start(any(OP), operands, n, pick(9) ? &future : NULL, 1));
        seen(bf_future_wait(any(FUTURE), &results[0]));
        bf_run_is_done(any(RUN));
        break;
      case 24:
        seen(pick(2) ? bf_variables_snapshot(any(SESSION), &snapshot)
                     : bf_variables_restore(any(SESSION), any(SNAPSHOT)));
        seen(bf_callable_call_with(any(CALLABLE), options, operands, n, results, n_out));
        break;
      case 25:
        seen(bf_tensor_to_dlpack(operands[0], &managed));
        /* Taken over, whatever happens. */
        if (managed) seen(bf_tensor_from_dlpack(managed, pick(9) ? &results[0] : NULL));
        seen(bf_callable_call_into(any(CALLABLE), operands, n, operands, n_out));
        break;
    }
    keep(PORTS, ports);
    keep(SNAPSHOT, snapshot);
    keep(FUTURE, future);
    keep(RUN, run);
    keep(CALLABLE, callable);
    keep(OP, op);
    keep(TENSOR, results[0]);
    keep(TENSOR, results[1]);
  }
  for (unsigned at = 0; at < SLOTS; at++) drop(at);
  if (n_given_back != n_lent) {
    fprintf(stderr, "lent %u times, given back %u times\n", n_lent, n_given_back);
    return 4;
  }
  printf("%u calls\n", (unsigned)CALLS);
  fprintf(stderr, "%u results, %u errors\n", n_results, n_errors);
  /* A test that only sees errors tests little. */
  return n_results < CALLS / 20 || n_errors < CALLS / 20;
}
