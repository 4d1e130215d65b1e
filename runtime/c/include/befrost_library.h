/* Kernel libraries of Befrost: kernels in a shared object, in any language.
 *
 * A library exports befrost_library_v1 and links to nothing: the functions of the host are in a table. The host
 * trusts a library: it runs in the host's process. Texts are UTF-8, end with a zero and never change. Any thread
 * may call a kernel's functions, several at once with one state. A library is never unloaded.
 *
 *   bf_error *befrost_library_v1(const bf_host *host, bf_library *library) {
 *     library->name = "sample"; library->kernels = KERNELS; library->n_kernels = 2;
 *     return NULL;
 *   }
 */
#ifndef BEFROST_LIBRARY_H
#define BEFROST_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BF_LIBRARY_VERSION 1

/* Element types and codes of errors: those of befrost.h. */
#ifndef BEFROST_H
enum {
  BF_F32 = 1, BF_F64 = 2, BF_I32 = 3, BF_U8 = 4, BF_I16 = 5, BF_I8 = 6, BF_C64 = 8, BF_I64 = 9, BF_BOOL = 10,
  BF_BF16 = 14, BF_U16 = 17, BF_C128 = 18, BF_F16 = 19, BF_U32 = 22, BF_U64 = 23
};
enum {
  BF_OK = 0, BF_CANCELLED = 1, BF_UNKNOWN = 2, BF_INVALID_ARGUMENT = 3, BF_DEADLINE_EXCEEDED = 4,
  BF_NOT_FOUND = 5, BF_RESOURCE_EXHAUSTED = 8, BF_FAILED_PRECONDITION = 9, BF_OUT_OF_RANGE = 11,
  BF_UNIMPLEMENTED = 12, BF_INTERNAL = 13, BF_UNAVAILABLE = 14
};
#endif

typedef struct bf_error bf_error;   /* made by the host's error, and returned once: no handle of befrost.h */
typedef struct bf_attrs bf_attrs;   /* the attributes of a use */
typedef struct bf_frame bf_frame;   /* a kernel that runs */
typedef struct bf_shapes bf_shapes; /* the shapes of a use that is compiled */

/* An operand: elements row by row. A number is an operand of rank 0, a chain has dtype 0. */
typedef struct bf_view {
  int32_t dtype;
  int32_t rank;
  const int64_t *dims;
  const void *data;
  size_t bytes;
} bf_view;

/* What the host does for a library. Functions that give int32_t return BF_OK or a code. */
typedef struct bf_host {
  uint32_t size;    /* sizeof(bf_host) of the host: later versions append */
  uint32_t version; /* BF_LIBRARY_VERSION */
  bf_error *(*error)(int32_t code, const char *message);

  /* Attributes by name; texts and lists live as long as the attributes. BF_NOT_FOUND: none of this name and kind. */
  int32_t (*attr_int)(const bf_attrs *, const char *name, int64_t *out);
  int32_t (*attr_float)(const bf_attrs *, const char *name, double *out);
  int32_t (*attr_bool)(const bf_attrs *, const char *name, int32_t *out);
  int32_t (*attr_type)(const bf_attrs *, const char *name, int32_t *dtype);
  int32_t (*attr_string)(const bf_attrs *, const char *name, const char **text, size_t *len);
  int32_t (*attr_ints)(const bf_attrs *, const char *name, const int64_t **values, size_t *n);

  /* A kernel that runs. */
  uint32_t (*n_operands)(const bf_frame *);
  uint32_t (*n_results)(const bf_frame *);
  int32_t (*operand)(const bf_frame *, uint32_t i, bf_view *out);
  /* Memory for result i, to be written before run returns; NULL after an error, which is set. */
  void *(*result)(bf_frame *, uint32_t i, int32_t dtype, int32_t rank, const int64_t *dims);
  /* Makes an operand a result, without a copy. */
  int32_t (*forward)(bf_frame *, uint32_t i, uint32_t operand);
  /* Makes the kernel fail; the first error counts. */
  void (*fail)(bf_frame *, int32_t code, const char *message);

  /* Defers the results: any thread may set them, by the ticket; 0 after an error. run then returns BF_LATER.
   * Views of operands end with run: later_operand gives them again. finish ends the kernel, drop makes it fail. A
   * ticket that has ended is refused: BF_NOT_FOUND. */
  uint64_t (*defer)(bf_frame *);
  int32_t (*later_operand)(uint64_t ticket, uint32_t i, bf_view *out);
  void *(*later_result)(uint64_t ticket, uint32_t i, int32_t dtype, int32_t rank, const int64_t *dims);
  int32_t (*later_fail)(uint64_t ticket, int32_t code, const char *message);
  int32_t (*finish)(uint64_t ticket);
  int32_t (*drop)(uint64_t ticket);

  /* Shapes of operands and results; -1 is an unknown size, the rank -1 an unknown rank. */
  int32_t (*shape)(const bf_shapes *, uint32_t operand, int32_t *rank, const int64_t **dims);
  int32_t (*set_shape)(bf_shapes *, uint32_t result, int32_t rank, const int64_t *dims);
  void (*refuse)(bf_shapes *, const char *message);
} bf_host;

enum { BF_DONE = 0, BF_LATER = 1, BF_FAILED = 2 }; /* what run returns */
enum { BF_KERNEL_PURE = 1, BF_KERNEL_BLOCKING = 2 }; /* flags */

typedef struct bf_kernel {
  uint32_t size; /* sizeof(bf_kernel) */
  uint32_t flags;
  /* "tf.MyNorm", an operator; or "geo.area", a kernel of a dialect of one's own. */
  const char *name;
  /* An operator's: "x:T scale:T -> y:T; T:{float,double} eps:float=1e-5".
   * Another kernel's: types, then the names of its attributes: "i32 !t.tensor -> i32; by". */
  const char *signature;
  const char *summary; /* may be NULL */
  /* Once per use: may check attributes and make a state. May be NULL. */
  bf_error *(*prepare)(const bf_host *, const bf_attrs *, void **state);
  void (*release)(void *state); /* frees the state, NULL if prepare made none; may be NULL */
  int32_t (*run)(const bf_host *, void *state, bf_frame *);
  /* The shapes of an operator's results; NULL: unknown. */
  int32_t (*infer)(const bf_host *, const bf_attrs *, bf_shapes *);
} bf_kernel;

typedef struct bf_library {
  uint32_t size;    /* set by the host: sizeof(bf_library) */
  uint32_t version; /* to be set to BF_LIBRARY_VERSION */
  const char *name;
  const bf_kernel *kernels;
  size_t n_kernels;
} bf_library;

/* The only exported function. */
bf_error *befrost_library_v1(const bf_host *host, bf_library *library);

#ifdef __cplusplus
}
#endif
#endif
