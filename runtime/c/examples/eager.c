/* Operators one by one, from four threads, and runs that go on meanwhile: eager DIGITS_CNN.pb */
#include <befrost.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int wrong(bf_error *error) {
  if (!error) return 0;
  fprintf(stderr, "%d: %s\n", (int)bf_error_code(error), bf_error_message(error));
  bf_error_release(error);
  return 1;
}

/* 1 + 2 + ... + 1000 by AddV2, with an operator that all threads share. */
static void *add(void *argument) {
  bf_op *op = argument;
  const float one = 1;
  bf_tensor *step = NULL, *at = NULL, *sum = NULL;
  float total = 0;
  if (wrong(bf_tensor_create(BF_F32, 0, NULL, &one, &step))) return NULL;
  bf_tensor_retain(step);
  at = step;
  bf_tensor_retain(step);
  sum = step;
  for (int i = 1; i < 1000; i++) {
    bf_tensor *operands[2] = {at, step}, *next = NULL;
    if (wrong(bf_op_execute(op, operands, 2, &next, 1))) break;
    bf_tensor_release(at);
    at = next;
    operands[0] = sum;
    operands[1] = at;
    if (wrong(bf_op_execute(op, operands, 2, &next, 1))) break;
    bf_tensor_release(sum);
    sum = next;
  }
  memcpy(&total, bf_tensor_data(sum), sizeof total);
  bf_tensor_release(at);
  bf_tensor_release(sum);
  bf_tensor_release(step);
  return total == 500500 ? op : NULL;
}

int main(int argc, char **argv) {
  const bf_runtime_options options = {.size = sizeof options, .work_queue = "mstd:2", .max_memory = 1 << 28};
  const char *feed_names[] = {"images"}, *fetch_names[] = {"logits"}, *words[] = {"one", "two"};
  const int64_t dims[2] = {2, 64}, count[1] = {2};
  static float pixels[128];
  const char *text = NULL;
  size_t length = 0;
  bf_runtime *runtime = NULL;
  bf_session *session = NULL;
  bf_tensor *images = NULL, *logits[4] = {NULL, NULL, NULL, NULL}, *texts = NULL, *joined = NULL;
  bf_run *runs[4] = {NULL, NULL, NULL, NULL};
  bf_op *op = NULL, *join = NULL;
  pthread_t threads[4];
  if (argc != 2) return 2;
  if (wrong(bf_runtime_create(&options, &runtime))) return 3;

  if (wrong(bf_op_create(NULL, "AddV2", &op))) return 4;
  for (int i = 0; i < 4; i++) {
    if (pthread_create(&threads[i], NULL, add, op)) return 5;
  }
  for (int i = 0; i < 4; i++) {
    void *made = NULL;
    if (pthread_join(threads[i], &made) || made != op) return 6;
  }
  printf("sums are right\n");

  if (wrong(bf_session_open(runtime, argv[1], NULL, &session))) return 7;
  if (wrong(bf_tensor_create(BF_F32, 2, dims, pixels, &images))) return 8;
  for (int i = 0; i < 4; i++) {
    if (wrong(bf_session_start(session, NULL, feed_names, &images, 1, fetch_names, 1, &runs[i]))) return 9;
  }
  for (int i = 0; i < 4; i++) {
    if (wrong(bf_run_wait(runs[i], &logits[i], 1)) || !bf_run_is_done(runs[i])) return 10;
    if (memcmp(bf_tensor_data(logits[i]), bf_tensor_data(logits[0]), bf_tensor_bytes(logits[0]))) return 11;
  }
  printf("runs agree\n");

  if (wrong(bf_tensor_create_strings(1, count, words, NULL, &texts))) return 12;
  if (wrong(bf_op_create(runtime, "StringJoin", &join))) return 13;
  if (wrong(bf_op_set_string(join, "separator", "-"))) return 14;
  {
    bf_tensor *operands[2] = {texts, texts};
    if (wrong(bf_op_execute(join, operands, 2, &joined, 1))) return 15;
  }
  if (bf_tensor_dtype(joined) != BF_STRING || bf_tensor_data(joined)) return 16;
  if (wrong(bf_tensor_string(joined, 1, &text, &length))) return 17;
  printf("%.*s\n", (int)length, text);

  for (int i = 0; i < 4; i++) {
    bf_run_cancel(runs[i]);
    bf_run_release(runs[i]);
    bf_tensor_release(logits[i]);
  }
  bf_tensor_release(joined);
  bf_tensor_release(texts);
  bf_tensor_release(images);
  bf_op_release(join);
  bf_op_release(op);
  bf_session_release(session);
  bf_runtime_release(runtime);
  return 0;
}
