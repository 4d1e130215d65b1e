/* DLPack both ways: the memory is the same, each deleter is called once, wrong structures are refused. */
#include <befrost.h>
#include <stdio.h>

/* As in dlpack.h 1.1. */
typedef struct {
  void *data;
  struct { int32_t type, id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensorVersioned {
  struct { uint32_t major, minor; } version;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

static int deleted;
static void delete(DLManagedTensorVersioned *self) { deleted += *(int *)self->manager_ctx; }

static _Alignas(64) float numbers[6] = {1, 2, 3, 4, 5, 6};
static int64_t dims[2] = {2, 3}, transposed[2] = {1, 2};
static int one = 1;

static DLManagedTensorVersioned sample(void) {
  DLManagedTensorVersioned made = {{1, 0}, &one, delete, 0, {numbers, {1, 0}, 2, {2, 32, 1}, dims, NULL, 0}};
  return made;
}

static int code_of(bf_error *error) {
  const int code = (int)bf_error_code(error);
  bf_error_release(error);
  return code;
}

/* The code of an import that is refused, whose structure must be deleted. */
static int refused(DLManagedTensorVersioned *managed) {
  bf_tensor *tensor = NULL;
  const int before = deleted, code = code_of(bf_tensor_from_dlpack(managed, &tensor));
  return !tensor && deleted == before + 1 ? code : -1;
}

int main(void) {
  DLManagedTensorVersioned in = sample(), *out = NULL;
  bf_tensor *tensor = NULL, *negative = NULL, *text = NULL;
  bf_op *op = NULL;
  const char *words[] = {"a"};
  if (code_of(bf_tensor_from_dlpack(&in, &tensor)) || bf_tensor_data(tensor) != numbers) return 1;
  if (bf_tensor_dtype(tensor) != BF_F32 || bf_tensor_dims(tensor)[1] != 3 || deleted) return 2;
  if (code_of(bf_op_create(NULL, "Neg", &op)) || code_of(bf_op_execute(op, &tensor, 1, &negative, 1))) return 3;
  if (((const float *)bf_tensor_data(negative))[5] != -6 || numbers[5] != 6) return 4;
  bf_op_release(op);
  /* The exported tensor keeps the memory that was imported. */
  if (code_of(bf_tensor_to_dlpack(tensor, &out)) || out->dl_tensor.data != numbers) return 5;
  if (out->version.major != 1 || !(out->flags & 1) || out->dl_tensor.ndim != 2) return 6;
  if (out->dl_tensor.shape[0] != 2 || out->dl_tensor.dtype.code != 2 || out->dl_tensor.dtype.bits != 32) return 7;
  bf_tensor_release(tensor);
  if (deleted) return 8;
  out->deleter(out);
  if (deleted != 1) return 9;
  if (code_of(bf_tensor_to_dlpack(negative, &out)) || out->dl_tensor.data != bf_tensor_data(negative)) return 10;
  bf_tensor_release(negative);
  if (((float *)out->dl_tensor.data)[0] != -1) return 11;
  out->deleter(out);

  /* Other strides are copied. */
  in = sample();
  in.dl_tensor.strides = transposed;
  tensor = NULL;
  if (code_of(bf_tensor_from_dlpack(&in, &tensor)) || deleted != 2) return 12;
  if (((const float *)bf_tensor_data(tensor))[1] != 3) return 13;
  bf_tensor_release(tensor);

  in = sample();
  in.version.major = 2;
  if (refused(&in) != BF_INVALID_ARGUMENT) return 14;
  in = sample();
  in.dl_tensor.device.type = 2;
  if (refused(&in) != BF_INVALID_ARGUMENT) return 15;
  in = sample();
  in.dl_tensor.dtype.lanes = 4;
  if (refused(&in) != BF_INVALID_ARGUMENT) return 16;
  in = sample();
  in.dl_tensor.ndim = -1;
  if (refused(&in) != BF_INVALID_ARGUMENT) return 17;
  in = sample();
  in.dl_tensor.shape = NULL;
  if (refused(&in) != BF_INVALID_ARGUMENT) return 18;
  in = sample();
  in.dl_tensor.data = NULL;
  if (refused(&in) != BF_INVALID_ARGUMENT) return 19;
  in = sample();
  in.deleter = NULL;
  if (code_of(bf_tensor_from_dlpack(&in, NULL)) != BF_INVALID_ARGUMENT) return 20;
  in = sample();
  if (code_of(bf_tensor_from_dlpack(&in, NULL)) != BF_INVALID_ARGUMENT || deleted != 9) return 21;
  if (code_of(bf_tensor_from_dlpack(NULL, &tensor)) != BF_INVALID_ARGUMENT || tensor) return 22;
  if (code_of(bf_tensor_to_dlpack(NULL, &out)) != BF_INVALID_ARGUMENT || out) return 23;
  if (code_of(bf_tensor_create_strings(0, NULL, words, NULL, &text))) return 24;
  if (code_of(bf_tensor_to_dlpack(text, &out)) != BF_INVALID_ARGUMENT || out) return 25;
  bf_tensor_release(text);
  printf("exchanged\n");
  return 0;
}
