/* A small program with its model inside, which reads no file. Linked with a library without a compiler, it needs
 * of the kernels only those that the model uses, as `ir-translate --print-kernels` tells:
 *
 *   BEFROST_KERNELS="tf.Const tf._PackedMatMul" \
 *     cargo rustc --profile small -p befrost-c --crate-type staticlib --no-default-features
 *   cc -O2 -I runtime/c/include -DMODEL='"runtime/befrost/examples/digits_mlp.bef"' runtime/c/examples/tiny.c
 *      -Wl,--gc-sections -s target/small/libbefrost_c.a -lm -lpthread -ldl -o tiny */
#include <befrost.h>
#include <stdio.h>
#include <stdlib.h>

/* The assembler puts the file into the program. */
__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "tiny_model: .incbin \"" MODEL "\"\n"
        "tiny_model_end:\n"
        ".popsection\n");
extern const unsigned char tiny_model[], tiny_model_end[];

/* A handwritten digit, with 16 shades. */
static const char image[] = "001efff100be8db000f60e3000515d10000dff90002ff910000b9000003f2000";

static void check(bf_error *error) {
  if (error) {
    fprintf(stderr, "error %d: %s\n", (int)bf_error_code(error), bf_error_message(error));
    bf_error_release(error);
    exit(1);
  }
}

int main(void) {
  float pixels[64];
  const int64_t dims[2] = {1, 64};
  bf_program *program;
  bf_tensor *input, *logits;
  const float *scores;
  int i, best = 0;
  for (i = 0; i < 64; i++) {
    const char digit = image[i];
    pixels[i] = (float)(digit <= '9' ? digit - '0' : digit - 'a' + 10) / 16.0f;
  }
  check(bf_program_load(NULL, tiny_model, (size_t)(tiny_model_end - tiny_model), &program));
  check(bf_tensor_create(BF_F32, 2, dims, pixels, &input));
  check(bf_program_run(program, "main", &input, 1, &logits, 1));
  scores = (const float *)bf_tensor_data(logits);
  for (i = 1; i < 10; i++) {
    if (scores[i] > scores[best]) best = i;
  }
  printf("It is a %d.\n", best);
  bf_tensor_release(logits);
  bf_tensor_release(input);
  bf_program_release(program);
  return 0;
}
