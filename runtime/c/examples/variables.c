/* Trains for three steps and reads the variable: variables MODEL.pb VARIABLE */
#include <befrost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(bf_error *error) {
  if (error) {
    fprintf(stderr, "error %d: %s\n", (int)bf_error_code(error), bf_error_message(error));
    bf_error_release(error);
    exit(1);
  }
}

int main(int argc, char **argv) {
  const bf_session_options options = {
      .size = sizeof options, .level = 2, .work_queue = "s", .init = "init", .shapes = BF_SHAPES_DECLARED};
  const char *targets[] = {"up"}, *feeds[] = {"x:0", "l:0"}, *fetches[] = {"loss:0"};
  bf_run_options run = {sizeof run, targets, 1, 10.0, NULL};
  bf_tensor *fed[2], *loss, *before, *after;
  bf_session *session;
  const int64_t x_dims[2] = {6, 4}, l_dims[2] = {6, 1};
  static float x[6 * 4], l[6];
  float first = 0, last = 0;
  int i;
  if (argc != 3) return 2;
  for (i = 0; i < 6 * 4; i++) x[i] = (float)(i % 5) / 5.0f;
  for (i = 0; i < 6; i++) l[i] = (float)(i % 3);
  check(bf_session_open(NULL, argv[1], &options, &session));
  check(bf_tensor_create(BF_F32, 2, x_dims, x, &fed[0]));
  check(bf_tensor_create(BF_F32, 2, l_dims, l, &fed[1]));
  check(bf_variables_get(session, argv[2], &before));
  for (i = 0; i < 3; i++) {
    check(bf_session_run(session, &run, feeds, fed, 2, fetches, &loss, 1));
    last = *(const float *)bf_tensor_data(loss);
    if (i == 0) first = last;
    bf_tensor_release(loss);
  }
  if (!(last < first)) return 3;
  check(bf_variables_get(session, argv[2], &after));
  if (memcmp(bf_tensor_data(before), bf_tensor_data(after), bf_tensor_bytes(after)) == 0) return 4;
  check(bf_variables_set(session, argv[2], before));
  printf("the loss falls\n");
  bf_tensor_release(before);
  bf_tensor_release(after);
  bf_tensor_release(fed[0]);
  bf_tensor_release(fed[1]);
  bf_session_release(session);
  return 0;
}
