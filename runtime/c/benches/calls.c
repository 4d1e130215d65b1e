/* Nanoseconds of a call besides its mathematics: calls EMPTY.mlir */
#include <befrost.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { CALLS = 20000, BATCHES = 15 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int wrong(bf_error *error) {
  if (!error) return 0;
  fprintf(stderr, "%s\n", bf_error_message(error));
  bf_error_release(error);
  return 1;
}

static bf_callable *callable;
static bf_session *session;
static bf_op *op;
static bf_tensor *x;
static atomic_int counter;
static const char *const feeds[] = {"x"}, *const fetches[] = {"y"};

static int decrement(void) {
  atomic_fetch_sub(&counter, 1);
  return 0;
}

static int call(void) {
  bf_tensor *y = NULL;
  const int failed = wrong(bf_callable_call(callable, &x, 1, &y, 1));
  bf_tensor_release(y);
  return failed;
}

static int run(void) {
  bf_tensor *y = NULL;
  const int failed = wrong(bf_session_run(session, NULL, feeds, &x, 1, fetches, &y, 1));
  bf_tensor_release(y);
  return failed;
}

static int execute(void) {
  bf_tensor *operands[2] = {x, x}, *y = NULL;
  const int failed = wrong(bf_op_execute(op, operands, 2, &y, 1));
  bf_tensor_release(y);
  return failed;
}

/* The best of some batches. */
static int measure(const char *name, int (*what)(void)) {
  double best = 1e18;
  for (int batch = 0; batch < BATCHES; batch++) {
    const double start = now();
    for (int i = 0; i < CALLS; i++) {
      if (what()) return 1;
    }
    const double took = (now() - start) / CALLS;
    if (took < best) best = took;
  }
  printf("%-42s %8.1f ns\n", name, best);
  return 0;
}

int main(int argc, char **argv) {
  const float one = 1;
  bf_session_options options = {.size = sizeof options, .level = 2, .work_queue = "s"};
  if (argc != 2 || wrong(bf_session_open(NULL, argv[1], &options, &session))) return 1;
  if (wrong(bf_session_callable(session, feeds, 1, fetches, 1, &callable))) return 2;
  if (wrong(bf_tensor_create(BF_F32, 0, NULL, &one, &x)) || wrong(bf_op_create(NULL, "AddV2", &op))) return 3;
  if (measure("calibration: atomic decrement", decrement)) return 4;
  if (measure("bf_callable_call, empty function (goal 70)", call)) return 5;
  if (measure("bf_session_run, empty function (goal 200)", run)) return 6;
  if (measure("bf_op_execute, AddV2 of scalars", execute)) return 7;
  return 0;
}
