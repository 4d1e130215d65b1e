/* Trains a graph with variables for 100 steps, and prints the loss of every tenth: train GRAPH.pb */
#include <befrost.h>
#include <stdio.h>
#include <stdlib.h>

static void check(bf_error *error) {
  if (error) {
    fprintf(stderr, "error %d: %s\n", (int)bf_error_code(error), bf_error_message(error));
    bf_error_release(error);
    exit(1);
  }
}

int main(int argc, char **argv) {
  const bf_session_options options = {.size = sizeof options, .level = 2, .init = "init"};
  const char *targets[] = {"up"}, *feeds[] = {"x:0", "l:0"}, *fetches[] = {"loss:0"};
  const bf_run_options run = {sizeof run, targets, 1, 0, NULL};
  const int64_t x_dims[2] = {6, 4}, l_dims[2] = {6, 1};
  float x[24], l[6];
  bf_tensor *fed[2], *loss = NULL;
  bf_session *session = NULL;
  if (argc != 2) return 2;
  for (int i = 0; i < 24; i++) x[i] = (float)(i % 5) / 5.0f;
  for (int i = 0; i < 6; i++) l[i] = (float)(i % 3);
  check(bf_session_open(NULL, argv[1], &options, &session));
  check(bf_tensor_create(BF_F32, 2, x_dims, x, &fed[0]));
  check(bf_tensor_create(BF_F32, 2, l_dims, l, &fed[1]));
  for (int i = 1; i <= 100; i++) {
    const size_t n = i % 10 == 0;
    check(bf_session_run(session, &run, feeds, fed, 2, fetches, &loss, n));
    if (n == 0) continue;
    printf("%.6f\n", (double)*(const float *)bf_tensor_data(loss));
    bf_tensor_release(loss);
  }
  bf_tensor_release(fed[0]);
  bf_tensor_release(fed[1]);
  bf_session_release(session);
  return 0;
}
