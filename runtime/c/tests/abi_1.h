/* The header of the first release with ABI 1, as it was: programs that were compiled with it keep working.
 *
 * A function that can fail returns bf_error *, which is NULL after success. Results go through the last
 * pointers, which are NULL after an error. Handles are counted: _retain, _release, both take NULL. Texts are
 * UTF-8 and end with a zero. All functions may be called by any thread. Nothing is removed or renumbered within
 * a version of the binary interface. */
#ifndef BEFROST_H
#define BEFROST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BF_ABI_VERSION 1

/* Element types. */
enum {
  BF_F32 = 1, BF_F64 = 2, BF_I32 = 3, BF_U8 = 4, BF_I16 = 5, BF_I8 = 6, BF_STRING = 7, BF_C64 = 8, BF_I64 = 9,
  BF_BOOL = 10,
  BF_BF16 = 14, BF_U16 = 17, BF_C128 = 18, BF_F16 = 19, BF_U32 = 22, BF_U64 = 23
};

/* Codes of errors. */
enum {
  BF_OK = 0, BF_CANCELLED = 1, BF_UNKNOWN = 2, BF_INVALID_ARGUMENT = 3, BF_DEADLINE_EXCEEDED = 4,
  BF_NOT_FOUND = 5, BF_RESOURCE_EXHAUSTED = 8, BF_FAILED_PRECONDITION = 9, BF_OUT_OF_RANGE = 11,
  BF_UNIMPLEMENTED = 12, BF_INTERNAL = 13, BF_UNAVAILABLE = 14
};

/* Which sizes a session compiles programs for: all, and those that come often by themselves; all; each by itself. */
enum { BF_SHAPES_AUTO = 0, BF_SHAPES_DECLARED = 1, BF_SHAPES_EXACT = 2 };

typedef struct bf_error bf_error;
typedef struct bf_tensor bf_tensor;
typedef struct bf_session bf_session;
typedef struct bf_callable bf_callable;
typedef struct bf_runtime bf_runtime;
typedef struct bf_run bf_run;
typedef struct bf_op bf_op;
typedef struct bf_model bf_model;
typedef struct bf_program bf_program;

/* Options of a runtime. */
typedef struct bf_runtime_options {
  uint32_t size;                /* sizeof(bf_runtime_options) */
  const char *work_queue;       /* "s", "mstd:2"; NULL: the default */
  size_t max_memory;            /* limit of the bytes that executions hold at a time; 0: none */
  const char *const *libraries; /* kernel libraries, whose code runs in this process: never a model's word */
  size_t n_libraries;
} bf_runtime_options;

/* Options of a session. NULL where one is expected: the defaults. */
typedef struct bf_session_options {
  uint32_t size;          /* sizeof(bf_session_options) */
  int32_t level;          /* optimization, 0 to 2 */
  const char *work_queue; /* "s", "mstd:2"; NULL: the default; with a runtime it must be NULL */
  const char *init;       /* the node that initializes the variables; NULL: none */
  const char *signature;  /* whose inputs and outputs are names; NULL: the default one, or none */
  const char *cache_dir;  /* a folder for compiled programs; NULL: none */
  int32_t shapes;         /* BF_SHAPES_AUTO, ... */
  int32_t map_weights;    /* not 0: files of models are mapped: they must not change while the session lives */
} bf_session_options;

/* Options of a run. */
typedef struct bf_run_options {
  uint32_t size;              /* sizeof(bf_run_options) */
  const char *const *targets; /* nodes that run for their effects */
  size_t n_targets;
  double timeout_seconds;     /* 0: none */
  const char *trace;          /* a file for the times of the kernels, for Chrome's and Perfetto's viewers; of bf_session_run */
} bf_run_options;

uint32_t bf_abi_version(void);

/* Code, message and location; they live as long as the error. */
int32_t bf_error_code(const bf_error *error);
const char *bf_error_message(const bf_error *error);
const char *bf_error_location(const bf_error *error);
/* The places of the callers of what failed, innermost first: NULL behind the last. */
const char *bf_error_call(const bf_error *error, size_t position);
void bf_error_release(bf_error *error);

/* A tensor with a copy of the elements, row by row. */
bf_error *bf_tensor_create(int32_t dtype, int32_t rank, const int64_t *dims, const void *data, bf_tensor **out);
/* A tensor over the elements, which are not copied and must not change until free_data(free_argument) is called: once,
 * when they are used no more, by any thread, and also after an error. If free_data is NULL they are copied. */
bf_error *bf_tensor_borrow(int32_t dtype, int32_t rank, const int64_t *dims, const void *data,
                           void (*free_data)(void *), void *free_argument, bf_tensor **out);
int32_t bf_tensor_dtype(const bf_tensor *tensor);
int32_t bf_tensor_rank(const bf_tensor *tensor);
const int64_t *bf_tensor_dims(const bf_tensor *tensor);
const void *bf_tensor_data(const bf_tensor *tensor);
size_t bf_tensor_bytes(const bf_tensor *tensor);
void bf_tensor_retain(bf_tensor *tensor);
void bf_tensor_release(bf_tensor *tensor);

/* DLPack, the structure of dlpack.h 1.0 and later versions, without a copy. from: the tensor is taken over, also after
 * an error, and its deleter called when its memory is used no more, by any thread; until then nobody writes to it. to:
 * over the tensor's memory, read-only; the deleter frees it. */
struct DLManagedTensorVersioned;
bf_error *bf_tensor_from_dlpack(struct DLManagedTensorVersioned *managed, bf_tensor **out);
bf_error *bf_tensor_to_dlpack(const bf_tensor *tensor, struct DLManagedTensorVersioned **out);

/* A tensor with copies of texts. lengths are their numbers of bytes; NULL: each ends with a zero. */
bf_error *bf_tensor_create_strings(int32_t rank, const int64_t *dims, const char *const *texts,
                                   const size_t *lengths, bf_tensor **out);
/* A text of a tensor of strings, which lives as long as the tensor and does not end with a zero. */
bf_error *bf_tensor_string(const bf_tensor *tensor, size_t position, const char **data, size_t *length);

/* A work queue, memory and kernels, which sessions and operators may share. */
bf_error *bf_runtime_create(const bf_runtime_options *options, bf_runtime **out);
void bf_runtime_retain(bf_runtime *runtime);
void bf_runtime_release(bf_runtime *runtime);

/* A model's function: BEF, ONNX, a TensorFlow graph or SavedModel, MLIR text. signature: which one, of a model that
 * has several; NULL: main, serving_default or the only one. Without a runtime it has one of its own. */
bf_error *bf_model_load(bf_runtime *runtime, const char *path, const char *signature, bf_model **out);
size_t bf_model_n_inputs(const bf_model *model);
size_t bf_model_n_outputs(const bf_model *model);
/* Runs it on its inputs in their order. */
bf_error *bf_model_run(bf_model *model, bf_tensor *const *inputs, size_t n_inputs, bf_tensor **out,
                       size_t n_outputs);
void bf_model_retain(bf_model *model);
void bf_model_release(bf_model *model);

/* A BEF file in memory, which is copied: what a small program has inside. Without a runtime it is executed on the
 * caller's thread. A library that was built without a compiler has programs, tensors and operators, not models,
 * sessions and runs. */
bf_error *bf_program_load(bf_runtime *runtime, const void *bef, size_t n_bytes, bf_program **out);
/* Runs a function, such as "main", on its arguments in their order. */
bf_error *bf_program_run(bf_program *program, const char *function, bf_tensor *const *arguments,
                         size_t n_arguments, bf_tensor **out, size_t n_results);
void bf_program_retain(bf_program *program);
void bf_program_release(bf_program *program);

/* A model with its variables: a TensorFlow graph or the folder of a SavedModel, an ONNX model, MLIR text or a BEF
 * file, of which all arguments of a function are fed. Without a runtime it has one of its own. */
bf_error *bf_session_open(bf_runtime *runtime, const char *path, const bf_session_options *options,
                          bf_session **out);
void bf_session_retain(bf_session *session);
void bf_session_release(bf_session *session);
/* Computes tensors by their names. Any tensor may be fed. A fetched operation without outputs gives NULL. */
bf_error *bf_session_run(bf_session *session, const bf_run_options *options, const char *const *feed_names,
                         bf_tensor *const *feeds, size_t n_feeds, const char *const *fetch_names,
                         bf_tensor **out, size_t n_fetches);

/* Writes the function from its inputs to its outputs, or of a graph from these tensors to those, as a BEF file with
 * the present values of the variables: bf_model_load and bf_program_load run it without the model. */
bf_error *bf_session_save(bf_session *session, const char *path, const char *const *feed_names, size_t n_feeds,
                          const char *const *fetch_names, size_t n_fetches);

/* Begins a run, which goes on meanwhile; on the work queue "s", which has no threads, at once. */
bf_error *bf_session_start(bf_session *session, const bf_run_options *options, const char *const *feed_names,
                           bf_tensor *const *feeds, size_t n_feeds, const char *const *fetch_names,
                           size_t n_fetches, bf_run **out);
int32_t bf_run_is_done(const bf_run *run);
/* Waits for the results, which only one caller gets. */
bf_error *bf_run_wait(bf_run *run, bf_tensor **out, size_t n_fetches);
void bf_run_cancel(bf_run *run);
void bf_run_retain(bf_run *run);
/* The last reference cancels the run. */
void bf_run_release(bf_run *run);

/* A fixed set of names: nothing is looked up in a call. */
bf_error *bf_session_callable(bf_session *session, const char *const *feed_names, size_t n_feeds,
                              const char *const *fetch_names, size_t n_fetches, bf_callable **out);
bf_error *bf_callable_call(bf_callable *callable, bf_tensor *const *feeds, size_t n_feeds, bf_tensor **out,
                           size_t n_fetches);
void bf_callable_retain(bf_callable *callable);
void bf_callable_release(bf_callable *callable);

/* Variables by their names, of which bf_variables_names makes a tensor of strings. */
bf_error *bf_variables_names(bf_session *session, bf_tensor **out);
bf_error *bf_variables_get(bf_session *session, const char *name, bf_tensor **out);
bf_error *bf_variables_set(bf_session *session, const char *name, const bf_tensor *value);

/* An operator of TensorFlow's, or of a kernel library of the runtime's. Attributes that follow from operands are
 * not needed. Without a runtime it is executed on the caller's thread. */
bf_error *bf_op_create(bf_runtime *runtime, const char *name, bf_op **out);
bf_error *bf_op_set_int(bf_op *op, const char *name, int64_t value);
bf_error *bf_op_set_float(bf_op *op, const char *name, float value);
bf_error *bf_op_set_bool(bf_op *op, const char *name, int32_t value);
bf_error *bf_op_set_dtype(bf_op *op, const char *name, int32_t value);
bf_error *bf_op_set_string(bf_op *op, const char *name, const char *value);
bf_error *bf_op_set_ints(bf_op *op, const char *name, const int64_t *values, size_t n_values);
bf_error *bf_op_execute(bf_op *op, bf_tensor *const *operands, size_t n_operands, bf_tensor **out,
                        size_t n_results);
void bf_op_retain(bf_op *op);
void bf_op_release(bf_op *op);

#ifdef __cplusplus
}
#endif

#endif
