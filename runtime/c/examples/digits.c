/* Classifies images of digits: digits MODEL.pb */
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
  static float pixels[2 * 64];
  const int64_t dims[2] = {2, 64};
  const char *feeds[] = {"images"}, *fetches[] = {"logits"};
  bf_session *session;
  bf_callable *callable;
  bf_tensor *images, *logits;
  const float *scores;
  int row, i;
  if (argc != 2 || bf_abi_version() != BF_ABI_VERSION) return 2;
  for (i = 0; i < 2 * 64; i++) pixels[i] = (float)(i % 17) / 16.0f;
  check(bf_session_open(NULL, argv[1], NULL, &session));
  check(bf_tensor_borrow(BF_F32, 2, dims, pixels, NULL, NULL, &images));
  check(bf_session_run(session, NULL, feeds, &images, 1, fetches, &logits, 1));
  if (bf_tensor_rank(logits) != 2 || bf_tensor_dims(logits)[1] != 10) return 3;
  scores = (const float *)bf_tensor_data(logits);
  for (row = 0; row < 2; row++) {
    int best = 0;
    for (i = 1; i < 10; i++) {
      if (scores[row * 10 + i] > scores[row * 10 + best]) best = i;
    }
    printf("image %d: %d\n", row, best);
  }
  bf_tensor_release(logits);
  check(bf_session_callable(session, feeds, 1, fetches, 1, &callable));
  check(bf_callable_call(callable, &images, 1, &logits, 1));
  bf_tensor_release(logits);
  bf_callable_release(callable);
  bf_tensor_release(images);
  bf_session_release(session);
  return 0;
}
