// Befrost's C interface: models, sessions and runs, tensors, variables, operators one by one, errors.
//
// A function that can fail returns bf_error *, which is NULL after success. Results go through the last pointers,
// which are NULL after an error. Handles are counted: _retain, _release, both take NULL. Texts are UTF-8 and end
// with a zero. All functions may be called by any thread. Nothing is removed or renumbered within a version of the
// binary interface; structures begin with their size, and may grow.
//
// This file is generated: cargo run -p xtask -- header

#ifndef BEFROST_H
#define BEFROST_H


#include <stddef.h>
#include <stdint.h>

#define BF_ABI_VERSION 1

// Element types. Resources and variants are handles of variables, tables and stacks, lists and optionals.
enum {
  BF_F32 = 1, BF_F64 = 2, BF_I32 = 3, BF_U8 = 4, BF_I16 = 5, BF_I8 = 6, BF_STRING = 7, BF_C64 = 8, BF_I64 = 9,
  BF_BOOL = 10, BF_BF16 = 14, BF_U16 = 17, BF_C128 = 18, BF_F16 = 19, BF_RESOURCE = 20, BF_VARIANT = 21,
  BF_U32 = 22, BF_U64 = 23
};

// Codes of errors.
enum {
  BF_OK = 0, BF_CANCELLED = 1, BF_UNKNOWN = 2, BF_INVALID_ARGUMENT = 3, BF_DEADLINE_EXCEEDED = 4,
  BF_NOT_FOUND = 5, BF_RESOURCE_EXHAUSTED = 8, BF_FAILED_PRECONDITION = 9, BF_OUT_OF_RANGE = 11,
  BF_UNIMPLEMENTED = 12, BF_INTERNAL = 13, BF_UNAVAILABLE = 14
};

// Which sizes a session compiles programs for: all, and those that come often by themselves; all; each by itself.
enum { BF_SHAPES_AUTO = 0, BF_SHAPES_DECLARED = 1, BF_SHAPES_EXACT = 2 };

// Which ports of a model or a session.
enum { BF_INPUTS = 0, BF_OUTPUTS = 1, BF_TENSORS = 2 };

// The structure of dlpack.h 1.0 and later versions.
struct DLManagedTensorVersioned;

// An error: code, message and location.
typedef struct bf_error bf_error;

// An operator with attributes.
typedef struct bf_op bf_op;

// A tensor of numbers or texts, or the handle of a variable, a table, a list.
typedef struct bf_tensor bf_tensor;

// A work queue, memory and kernels, which sessions and operators may share.
typedef struct bf_runtime bf_runtime;

// A result of an operator that may not be there yet.
typedef struct bf_future bf_future;

// A kernel library.
typedef struct bf_loaded_library bf_loaded_library;

// A model's function.
typedef struct bf_model bf_model;

// A model with its variables.
typedef struct bf_session bf_session;

// Tensors of a model that can be fed or fetched: names and types.
typedef struct bf_ports bf_ports;

// A BEF file in memory.
typedef struct bf_program bf_program;

// Options of a run. What is zero is the default.
typedef struct bf_run_options {
  // `sizeof(bf_run_options)`.
  uint32_t size;
  // Nodes that run for their effects.
  const char *const *targets;
  // Their number.
  size_t n_targets;
  // Seconds until the run is given up; 0: never.
  double timeout_seconds;
  // A file for the times of the run's kernels, for Chrome's and Perfetto's viewers; of a run that is
  // waited for.
  const char *trace;
} bf_run_options;

// A run that goes on.
typedef struct bf_run bf_run;

// Options of a runtime. What is zero is the default.
typedef struct bf_runtime_options {
  // `sizeof(bf_runtime_options)`.
  uint32_t size;
  // The work queue, `s` or `mstd:2`.
  const char *work_queue;
  // Limit of the bytes that executions hold at a time.
  size_t max_memory;
  // Paths of kernel libraries, whose code runs in this process: never a model's word.
  const char *const *libraries;
  // Their number.
  size_t n_libraries;
  // MLIR text of the functions that attributes of operators may name.
  const char *functions;
} bf_runtime_options;

// Options of a session.
typedef struct bf_session_options {
  // `sizeof(bf_session_options)`.
  uint32_t size;
  // The level of optimization, 0 to 2; without options it is 2.
  int32_t level;
  // The work queue, `s` or `mstd:2`; null: the default. With a runtime it must be null.
  const char *work_queue;
  // The node that initializes the variables; null: none.
  const char *init;
  // The signature whose inputs and outputs are names of the session; null: the default one, or none.
  const char *signature;
  // A folder for compiled programs; null: none.
  const char *cache_dir;
  // Which sizes programs are compiled for: `BF_SHAPES_AUTO` or another.
  int32_t shapes;
  // Not 0: files of models are mapped, and must not change while the session lives.
  int32_t map_weights;
  // The session whose variables it shares, and does not initialize; null: it has its own.
  const bf_session *variables_of;
} bf_session_options;

// Counts of a session.
typedef struct bf_stats {
  // `sizeof(bf_stats)`.
  uint32_t size;
  // Sets of names whose programs are kept.
  uint32_t executables;
  // Programs compiled.
  uint64_t compilations;
  // Programs that were read from the folder for compiled programs instead.
  uint64_t from_cache;
  // Those of either kind that are for sizes of their own.
  uint64_t specializations;
  // Runs whose program was there.
  uint64_t hits;
  // The bytes of the programs that are kept.
  uint64_t bytes;
} bf_stats;

// A fixed set of names to feed and to fetch: nothing is looked up in a call.
typedef struct bf_callable bf_callable;

// The values of all variables at one time.
typedef struct bf_snapshot bf_snapshot;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the binary interface, `BF_ABI_VERSION`.
uint32_t bf_abi_version(void);

// The code of an error; 0 (`BF_OK`) for null.
int32_t bf_error_code(const bf_error *error);

// The message of an error, which lives as long as the error; empty for null.
const char *bf_error_message(const bf_error *error);

// The place where an error was raised, such as a node; empty if it has none, and for null.
const char *bf_error_location(const bf_error *error);

// The place of a caller of the kernel that failed, the innermost one first, which lives as long as the
// error; null behind the last, and for null.
const char *bf_error_call(const bf_error *error, size_t position);

// Gives an error back.
void bf_error_release(bf_error *error);

// Sets an attribute that is an integer. Each attribute is set once; those that follow from operands need not
// be set.
bf_error *bf_op_set_int(const bf_op *op, const char *name, int64_t value);

// Sets an attribute that is a number.
bf_error *bf_op_set_float(const bf_op *op, const char *name, float value);

// Sets an attribute that is true or false: 0 is false.
bf_error *bf_op_set_bool(const bf_op *op, const char *name, int32_t value);

// Sets an attribute that is an element type, `BF_F32` or another.
bf_error *bf_op_set_dtype(const bf_op *op, const char *name, int32_t value);

// Sets an attribute that is a text.
bf_error *bf_op_set_string(const bf_op *op, const char *name, const char *value);

// Sets an attribute that is a shape. The rank -1 is an unknown one, the size -1 an unknown one.
bf_error *bf_op_set_shape(const bf_op *op, const char *name, int32_t rank, const int64_t *dims);

// Sets an attribute that is a tensor of numbers, such as the value of `Const`.
bf_error *bf_op_set_tensor(const bf_op *op, const char *name, const bf_tensor *value);

// Sets an attribute that is a function, by its name in the text of the runtime's functions.
bf_error *bf_op_set_function(const bf_op *op, const char *name, const char *function);

// Sets an attribute that is a list of integers.
bf_error *bf_op_set_ints(const bf_op *op, const char *name, const int64_t *values, size_t n_values);

// Sets an attribute that is a list of numbers.
bf_error *bf_op_set_floats(const bf_op *op, const char *name, const float *values, size_t n_values);

// Sets an attribute that is a list of truth values: 0 is false.
bf_error *bf_op_set_bools(const bf_op *op, const char *name, const int32_t *values, size_t n_values);

// Sets an attribute that is a list of element types.
bf_error *bf_op_set_dtypes(const bf_op *op, const char *name, const int32_t *values, size_t n_values);

// Sets an attribute that is a list of texts.
bf_error *bf_op_set_strings(const bf_op *op, const char *name, const char *const *values, size_t n_values);

// Sets an attribute that is a list of shapes, whose sizes lie one after the other in `dims`.
bf_error *bf_op_set_shapes(const bf_op *op,
                           const char *name,
                           const int32_t *ranks,
                           size_t n_shapes,
                           const int64_t *dims);

// Sets an attribute that is a list of functions, by their names in the text of the runtime's functions.
bf_error *bf_op_set_functions(const bf_op *op,
                              const char *name,
                              const char *const *functions,
                              size_t n_functions);

// An operator of TensorFlow's, or of a kernel library of the runtime's, by its name. Operators of one
// runtime share variables, tables and the order of their effects. Without a runtime it is executed on the
// caller's thread, and shares them with all others without one.
bf_error *bf_op_create(const bf_runtime *runtime, const char *name, bf_op **out);

// Executes an operator, and waits for its results. Operands and results may be tensors of any kind: handles
// of variables, lists.
bf_error *bf_op_execute(const bf_op *op,
                        bf_tensor *const *operands,
                        size_t n_operands,
                        bf_tensor **out,
                        size_t n_results);

// Begins to execute an operator, which goes on while the caller does something else if it takes long and the
// runtime has threads. One without results is waited for.
bf_error *bf_op_start(const bf_op *op,
                      bf_tensor *const *operands,
                      size_t n_operands,
                      bf_future **out,
                      size_t n_results);

// 1 if a result is there, or an error in its place; 0 if not, and for null.
int32_t bf_future_is_done(const bf_future *future);

// Waits for a result. It may be asked for any number of times.
bf_error *bf_future_wait(const bf_future *future, bf_tensor **out);

// Another reference to a future.
void bf_future_retain(bf_future *future);

// Gives a reference to a future back. The operator goes on.
void bf_future_release(bf_future *future);

// Another reference to an operator.
void bf_op_retain(bf_op *op);

// Gives a reference to an operator back.
void bf_op_release(bf_op *op);

// Loads a kernel library, whose code runs in this process, and stays there.
bf_error *bf_library_load(const char *path, bf_loaded_library **out);

// The name of a library, which lives as long as the library; empty for null.
const char *bf_library_name(const bf_loaded_library *library);

// The name of a kernel by its number, which lives as long as the library; null behind the last, and for
// null.
const char *bf_library_kernel(const bf_loaded_library *library, size_t position);

// Another reference to a library.
void bf_library_retain(bf_loaded_library *library);

// Gives a reference to a library back.
void bf_library_release(bf_loaded_library *library);

// Loads a model of any kind: BEF, ONNX, a TensorFlow graph or SavedModel, MLIR text. `signature` is the
// function of a model that has several; null: `main`, `serving_default` or the only one. Without a runtime
// it has one of its own.
bf_error *bf_model_load(const bf_runtime *runtime, const char *path, const char *signature, bf_model **out);

// `bf_model_load` of the contents of a file that names no other files. They are copied.
bf_error *bf_model_load_bytes(const bf_runtime *runtime,
                              const void *bytes,
                              size_t n_bytes,
                              const char *signature,
                              bf_model **out);

// The number of a model's inputs; 0 for null.
size_t bf_model_n_inputs(const bf_model *model);

// The number of a model's outputs; 0 for null.
size_t bf_model_n_outputs(const bf_model *model);

// Runs a model on its inputs in their order.
bf_error *bf_model_run(const bf_model *model,
                       bf_tensor *const *inputs,
                       size_t n_inputs,
                       bf_tensor **out,
                       size_t n_outputs);

// Another reference to a model.
void bf_model_retain(bf_model *model);

// Gives a reference to a model back.
void bf_model_release(bf_model *model);

// The inputs, the outputs, or all tensors of a session that can be fed or fetched: `BF_INPUTS`, `BF_OUTPUTS`
// or `BF_TENSORS`.
bf_error *bf_session_ports(const bf_session *session, int32_t which, bf_ports **out);

// The inputs or the outputs of a model, in their order: `BF_INPUTS` or `BF_OUTPUTS`.
bf_error *bf_model_ports(const bf_model *model, int32_t which, bf_ports **out);

// The number of ports; 0 for null.
size_t bf_ports_count(const bf_ports *ports);

// The name of a port, which lives as long as the ports; null behind the last, and for null.
const char *bf_ports_name(const bf_ports *ports, size_t position);

// The element type of a port; 0 if it has none, behind the last, and for null.
int32_t bf_ports_dtype(const bf_ports *ports, size_t position);

// The rank of a port; -1 if it is unknown, behind the last, and for null.
int32_t bf_ports_rank(const bf_ports *ports, size_t position);

// The sizes of a port, -1 for one that differs from run to run, which live as long as the ports; null if the
// rank is unknown, behind the last, and for null.
const int64_t *bf_ports_dims(const bf_ports *ports, size_t position);

// Another reference to ports.
void bf_ports_retain(bf_ports *ports);

// Gives a reference to ports back.
void bf_ports_release(bf_ports *ports);

// Loads a BEF file from memory, which is copied: what a small program has inside. Without a runtime it is
// executed on the caller's thread.
bf_error *bf_program_load(const bf_runtime *runtime, const void *bef, size_t n_bytes, bf_program **out);

// Runs a function of a program on its arguments in their order. Chains are neither arguments nor results.
bf_error *bf_program_run(const bf_program *program,
                         const char *function,
                         bf_tensor *const *arguments,
                         size_t n_arguments,
                         bf_tensor **out,
                         size_t n_results);

// Another reference to a program.
void bf_program_retain(bf_program *program);

// Gives a reference to a program back.
void bf_program_release(bf_program *program);

// Computes tensors by their names. Any tensor may be fed, and is not computed then. A fetched operation
// without outputs gives null.
bf_error *bf_session_run(const bf_session *session,
                         const struct bf_run_options *given,
                         const char *const *feed_names,
                         bf_tensor *const *feeds,
                         size_t n_feeds,
                         const char *const *fetch_names,
                         bf_tensor **out,
                         size_t n_fetches);

// Begins a run, which goes on while the caller does something else; on the work queue `s`, which has no
// threads, at once.
bf_error *bf_session_start(const bf_session *session,
                           const struct bf_run_options *given,
                           const char *const *feed_names,
                           bf_tensor *const *feeds,
                           size_t n_feeds,
                           const char *const *fetch_names,
                           size_t n_fetches,
                           bf_run **out);

// 1 if the results of a run are there, 0 if not, and for null.
int32_t bf_run_is_done(const bf_run *run);

// Waits for the results of a run, which only one caller gets.
bf_error *bf_run_wait(const bf_run *run, bf_tensor **out, size_t n_fetches);

// Stops a run: waiting for it gives the error `BF_CANCELLED`, unless it has ended.
void bf_run_cancel(const bf_run *run);

// Another reference to a run.
void bf_run_retain(bf_run *run);

// Gives a reference to a run back. The last one cancels it.
void bf_run_release(bf_run *run);

// Makes a runtime. The options may be null.
bf_error *bf_runtime_create(const struct bf_runtime_options *given, bf_runtime **out);

// Another reference to a runtime.
void bf_runtime_retain(bf_runtime *runtime);

// Gives a reference to a runtime back.
void bf_runtime_release(bf_runtime *runtime);

// Opens a model: a TensorFlow graph or the folder of a SavedModel, an ONNX model, MLIR text or a BEF file,
// of which all arguments of a function are fed. Without a runtime it has one of its own; the options may be
// null.
bf_error *bf_session_open(const bf_runtime *runtime,
                          const char *path,
                          const struct bf_session_options *given,
                          bf_session **out);

// `bf_session_open` of the contents of a file that names no other files. They are copied.
bf_error *bf_session_open_bytes(const bf_runtime *runtime,
                                const void *bytes,
                                size_t n_bytes,
                                const struct bf_session_options *given,
                                bf_session **out);

// The names of a model's signatures, or of a program's functions, as a tensor of texts.
bf_error *bf_session_signatures(const bf_session *session, bf_tensor **out);

// Compiles what a run of these names needs, without running it.
bf_error *bf_session_warm(const bf_session *session,
                          const char *const *feed_names,
                          size_t n_feeds,
                          const char *const *fetch_names,
                          size_t n_fetches,
                          const char *const *targets,
                          size_t n_targets);

// Stores the counts of a session in a structure whose `size` is set.
bf_error *bf_session_stats(const bf_session *session, struct bf_stats *out);

// Another reference to a session.
void bf_session_retain(bf_session *session);

// Gives a reference to a session back.
void bf_session_release(bf_session *session);

// Writes a function of a session as a BEF file, with the present values of the variables: from its inputs to
// its outputs, or, of a graph, from these tensors to those.
bf_error *bf_session_save(const bf_session *session,
                          const char *path,
                          const char *const *feed_names,
                          size_t n_feeds,
                          const char *const *fetch_names,
                          size_t n_fetches);

// Prepares names to be run again and again.
bf_error *bf_session_callable(const bf_session *session,
                              const char *const *feed_names,
                              size_t n_feeds,
                              const char *const *fetch_names,
                              size_t n_fetches,
                              bf_callable **out);

// Computes the fetches of a callable.
bf_error *bf_callable_call(const bf_callable *callable,
                           bf_tensor *const *feeds,
                           size_t n_feeds,
                           bf_tensor **out,
                           size_t n_fetches);

// Computes the fetches of a callable with options, which name no targets.
bf_error *bf_callable_call_with(const bf_callable *callable,
                                const struct bf_run_options *given,
                                bf_tensor *const *feeds,
                                size_t n_feeds,
                                bf_tensor **out,
                                size_t n_fetches);

// Computes the fetches of a callable and writes them into tensors of their types and sizes, which
// `bf_tensor_create` has made. After an error some may have been written.
bf_error *bf_callable_call_into(const bf_callable *callable,
                                bf_tensor *const *feeds,
                                size_t n_feeds,
                                bf_tensor *const *into,
                                size_t n_fetches);

// Another reference to a callable.
void bf_callable_retain(bf_callable *callable);

// Gives a reference to a callable back.
void bf_callable_release(bf_callable *callable);

// A tensor over the caller's elements, which live and do not change until `free_data` is called with
// `free_argument`: when they are used no more, by any thread, and also after an error. Without such a
// function they are copied.
bf_error *bf_tensor_borrow(int32_t number,
                           int32_t rank,
                           const int64_t *dims,
                           const void *data,
                           void (*free_data)(void*),
                           void *free_argument,
                           bf_tensor **out);

// A tensor with a copy of the caller's elements.
bf_error *bf_tensor_create(int32_t number,
                           int32_t rank,
                           const int64_t *dims,
                           const void *data,
                           bf_tensor **out);

// The number of a tensor's dtype; 0 for null.
int32_t bf_tensor_dtype(const bf_tensor *tensor);

// The number of a tensor's dimensions; -1 for null.
int32_t bf_tensor_rank(const bf_tensor *tensor);

// The dimensions of a tensor, which live as long as the tensor; null for null.
const int64_t *bf_tensor_dims(const bf_tensor *tensor);

// The elements of a tensor, row by row, which live as long as the tensor; null for null and for strings.
// Nobody may write to them.
const void *bf_tensor_data(const bf_tensor *tensor);

// The number of bytes of a tensor's elements; 0 for null and for strings.
size_t bf_tensor_bytes(const bf_tensor *tensor);

// Another reference to a tensor.
void bf_tensor_retain(bf_tensor *tensor);

// Gives a reference to a tensor back.
void bf_tensor_release(bf_tensor *tensor);

// A tensor with copies of texts, row by row. `lengths` are their numbers of bytes; null: each ends with a
// zero.
bf_error *bf_tensor_create_strings(int32_t rank,
                                   const int64_t *dims,
                                   const char *const *texts,
                                   const size_t *lengths,
                                   bf_tensor **out);

// A text of a tensor of strings by its position, row by row: its bytes, which live as long as the tensor and
// do not end with a zero, and their number.
bf_error *bf_tensor_string(const bf_tensor *tensor, size_t position, const char **data, size_t *length);

// A tensor over the memory of another library's tensor, which is taken over, whatever happens: its deleter
// is called when the memory is used no more, by any thread.
bf_error *bf_tensor_from_dlpack(struct DLManagedTensorVersioned *managed, bf_tensor **out);

// A tensor for other libraries, over its memory, which nobody may write to. Its deleter frees it.
bf_error *bf_tensor_to_dlpack(const bf_tensor *tensor, struct DLManagedTensorVersioned **out);

// The names of the variables that have values, as a tensor of texts.
bf_error *bf_variables_names(const bf_session *session, bf_tensor **out);

// The value of a variable.
bf_error *bf_variables_get(const bf_session *session, const char *name, bf_tensor **out);

// Gives a variable a value.
bf_error *bf_variables_set(const bf_session *session, const char *name, const bf_tensor *value);

// The values of all variables, which later runs do not change.
bf_error *bf_variables_snapshot(const bf_session *session, bf_snapshot **out);

// Gives the variables of a session the values of a snapshot.
bf_error *bf_variables_restore(const bf_session *session, const bf_snapshot *snapshot);

// Another reference to a snapshot.
void bf_snapshot_retain(bf_snapshot *snapshot);

// Gives a reference to a snapshot back.
void bf_snapshot_release(bf_snapshot *snapshot);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BEFROST_H */
