/* Operators on variables, lists and functions, one by one, and results that come later. */
#include <befrost.h>
#include <stdio.h>
#include <string.h>

static int wrong(bf_error *error) {
  if (!error) return 0;
  fprintf(stderr, "%d: %s\n", (int)bf_error_code(error), bf_error_message(error));
  bf_error_release(error);
  return 1;
}

static bf_tensor *number(float value) {
  bf_tensor *made = NULL;
  return wrong(bf_tensor_create(BF_F32, 0, NULL, &value, &made)) ? NULL : made;
}

static float first(const bf_tensor *tensor) {
  float value = -1;
  if (bf_tensor_bytes(tensor) >= sizeof value) memcpy(&value, bf_tensor_data(tensor), sizeof value);
  return value;
}

/* Executes an operator with at most one result, and gives it and the operands back. */
static bf_tensor *execute(bf_op *op, bf_tensor *a, bf_tensor *b, size_t n_operands, size_t n_results) {
  bf_tensor *operands[2] = {a, b}, *result = NULL;
  if (wrong(bf_op_execute(op, operands, n_operands, &result, n_results))) return NULL;
  return result;
}

static int variables(const bf_runtime *runtime) {
  bf_op *make = NULL, *assign = NULL, *add = NULL, *get = NULL;
  bf_tensor *v = NULL, *again = NULL, *two = number(2), *value = NULL;
  for (int i = 0; i < 2; i++) {
    /* Two operators of one runtime: both name the same variable. */
    if (wrong(bf_op_create(runtime, "VarHandleOp", &make))) return 1;
    if (wrong(bf_op_set_dtype(make, "dtype", BF_F32)) || wrong(bf_op_set_shape(make, "shape", 0, NULL))) return 2;
    if (wrong(bf_op_set_string(make, "shared_name", "v"))) return 3;
    *(i ? &again : &v) = execute(make, NULL, NULL, 0, 1);
    bf_op_release(make);
  }
  if (bf_tensor_dtype(v) != BF_RESOURCE || bf_tensor_rank(v) != 0 || bf_tensor_data(v)) return 4;
  if (wrong(bf_op_create(runtime, "AssignVariableOp", &assign))) return 5;
  if (wrong(bf_op_create(runtime, "AssignAddVariableOp", &add))) return 6;
  if (wrong(bf_op_create(runtime, "ReadVariableOp", &get)) || wrong(bf_op_set_dtype(get, "dtype", BF_F32))) return 7;
  execute(assign, v, two, 2, 0);
  execute(add, again, two, 2, 0);
  value = execute(get, v, NULL, 1, 1);
  printf("variable: %g\n", (double)first(value));
  bf_tensor_release(value);
  bf_tensor_release(two);
  bf_tensor_release(v);
  bf_tensor_release(again);
  bf_op_release(assign);
  bf_op_release(add);
  bf_op_release(get);
  return 0;
}

static int lists(const bf_runtime *runtime) {
  const int32_t none = -1;
  const int64_t no_sizes[1] = {0};
  bf_op *make = NULL, *push = NULL, *stack = NULL;
  bf_tensor *empty = NULL, *any = NULL, *one = number(1), *list = NULL, *more = NULL, *all = NULL;
  if (wrong(bf_tensor_create(BF_I32, 1, no_sizes, NULL, &empty))) return 1;
  if (wrong(bf_tensor_create(BF_I32, 0, NULL, &none, &any))) return 2;
  if (wrong(bf_op_create(runtime, "EmptyTensorList", &make))) return 3;
  if (wrong(bf_op_create(runtime, "TensorListPushBack", &push))) return 4;
  if (wrong(bf_op_create(runtime, "TensorListStack", &stack))) return 5;
  if (wrong(bf_op_set_dtype(make, "element_dtype", BF_F32))) return 6;
  if (wrong(bf_op_set_dtype(push, "element_dtype", BF_F32))) return 7;
  if (wrong(bf_op_set_dtype(stack, "element_dtype", BF_F32))) return 8;
  list = execute(make, empty, any, 2, 1);
  for (int i = 0; i < 3; i++) {
    more = execute(push, list, one, 2, 1);
    bf_tensor_release(list);
    list = more;
  }
  if (bf_tensor_dtype(list) != BF_VARIANT) return 9;
  all = execute(stack, list, empty, 2, 1);
  printf("list: %d\n", bf_tensor_rank(all) == 1 ? (int)bf_tensor_dims(all)[0] : -1);
  bf_tensor_release(all);
  bf_tensor_release(list);
  bf_tensor_release(one);
  bf_tensor_release(any);
  bf_tensor_release(empty);
  bf_op_release(make);
  bf_op_release(push);
  bf_op_release(stack);
  return 0;
}

/* A constant, and a condition whose branches are functions of the runtime's text. */
static int conditions(const bf_runtime *runtime) {
  const int32_t f32[1] = {BF_F32};
  const unsigned char yes = 1;
  bf_op *constant = NULL, *choose = NULL;
  bf_tensor *three = number(3), *x = NULL, *is = NULL, *y = NULL;
  if (wrong(bf_op_create(runtime, "Const", &constant)) || wrong(bf_op_set_dtype(constant, "dtype", BF_F32))) return 1;
  if (wrong(bf_op_set_tensor(constant, "value", three))) return 2;
  x = execute(constant, NULL, NULL, 0, 1);
  if (wrong(bf_tensor_create(BF_BOOL, 0, NULL, &yes, &is))) return 3;
  if (wrong(bf_op_create(runtime, "If", &choose)) || wrong(bf_op_set_dtypes(choose, "Tout", f32, 1))) return 4;
  if (wrong(bf_op_set_function(choose, "then_branch", "twice"))) return 5;
  if (wrong(bf_op_set_function(choose, "else_branch", "same"))) return 6;
  y = execute(choose, is, x, 2, 1);
  printf("condition: %g\n", (double)first(y));
  bf_tensor_release(y);
  bf_tensor_release(is);
  bf_tensor_release(x);
  bf_tensor_release(three);
  bf_op_release(constant);
  bf_op_release(choose);
  return 0;
}

/* Texts of many numbers, which take long: they come later. */
static int futures(const bf_runtime *runtime) {
  enum { N = 300000 };
  static float numbers[N];
  const int64_t dims[1] = {N};
  const char *text = NULL;
  size_t length = 0;
  bf_op *op = NULL;
  bf_tensor *x = NULL, *texts = NULL, *same = NULL;
  bf_future *future = NULL;
  bf_error *error = NULL;
  numbers[N - 1] = 2.5f;
  if (wrong(bf_tensor_create(BF_F32, 1, dims, numbers, &x)) || wrong(bf_op_create(runtime, "AsString", &op))) return 1;
  if (wrong(bf_op_set_int(op, "precision", 1))) return 2;
  if (wrong(bf_op_start(op, &x, 1, &future, 1))) return 3;
  if (wrong(bf_future_wait(future, &texts)) || !bf_future_is_done(future)) return 4;
  if (wrong(bf_future_wait(future, &same))) return 5;
  if (bf_tensor_dtype(texts) != BF_STRING || bf_tensor_dtype(same) != BF_STRING) return 6;
  if (wrong(bf_tensor_string(texts, N - 1, &text, &length))) return 7;
  printf("future: %.*s\n", (int)length, text);
  bf_tensor_release(same);
  bf_tensor_release(texts);
  bf_future_release(future);
  /* Waiting at once, too. */
  texts = execute(op, x, NULL, 1, 1);
  if (bf_tensor_dtype(texts) != BF_STRING) return 8;
  /* An attribute is set once. */
  error = bf_op_set_int(op, "precision", 2);
  if (bf_error_code(error) != BF_FAILED_PRECONDITION) return 9;
  bf_error_release(error);
  bf_tensor_release(texts);
  bf_tensor_release(x);
  bf_op_release(op);
  return 0;
}

int main(void) {
  const bf_runtime_options options = {
    .size = sizeof options,
    .work_queue = "mstd:2",
    .functions = "func.func @twice(%x: tensor<*xf32>) -> tensor<*xf32> {\n"
                 "  %y = \"tf.AddV2\"(%x, %x) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>\n"
                 "  func.return %y : tensor<*xf32>\n"
                 "}\n"
                 "func.func @same(%x: tensor<*xf32>) -> tensor<*xf32> {\n"
                 "  func.return %x : tensor<*xf32>\n"
                 "}\n",
  };
  bf_runtime *runtime = NULL;
  int failed = 0;
  if (wrong(bf_runtime_create(&options, &runtime))) return 1;
  if ((failed = variables(runtime))) return 10 + failed;
  if ((failed = variables(NULL))) return 20 + failed;
  if ((failed = lists(runtime))) return 30 + failed;
  if ((failed = conditions(runtime))) return 40 + failed;
  if ((failed = futures(runtime))) return 50 + failed;
  bf_runtime_release(runtime);
  return 0;
}
