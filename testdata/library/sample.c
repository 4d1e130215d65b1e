/* A kernel library: an operator with attributes, a shape function and two element types; a kernel of another
 * dialect; one that another thread finishes; some that fail or break the contract on purpose. */
#include "befrost_library.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* x / sqrt(sum of squares in the last axis + eps) * scale */
typedef struct norm {
  double eps;
  int32_t dtype;
} norm;

static bf_error *norm_prepare(const bf_host *host, const bf_attrs *attrs, void **state) {
  norm *made = malloc(sizeof *made);
  if (host->attr_float(attrs, "eps", &made->eps) != BF_OK || host->attr_type(attrs, "T", &made->dtype) != BF_OK) {
    free(made);
    return host->error(BF_INVALID_ARGUMENT, "eps and T must be there");
  }
  if (made->eps < 0) {
    free(made);
    return host->error(BF_INVALID_ARGUMENT, "eps is negative");
  }
  *state = made;
  return NULL;
}

static size_t elements(const bf_view *x) {
  size_t n = 1;
  for (int32_t i = 0; i < x->rank; i++) n *= (size_t)x->dims[i];
  return n;
}

static int32_t norm_run(const bf_host *host, void *state, bf_frame *frame) {
  const norm *norm = state;
  bf_view x, scale;
  if (host->operand(frame, 0, &x) != BF_OK || host->operand(frame, 1, &scale) != BF_OK) return BF_FAILED;
  size_t n = x.rank > 0 ? (size_t)x.dims[x.rank - 1] : 1, all = elements(&x);
  if (elements(&scale) != n || scale.dtype != x.dtype) {
    host->fail(frame, BF_INVALID_ARGUMENT, "scale does not fit x");
    return BF_FAILED;
  }
  void *y = host->result(frame, 0, x.dtype, x.rank, x.dims);
  if (y == NULL) return BF_FAILED;
  for (size_t row = 0; n > 0 && row < all; row += n) {
    double sum = norm->eps;
    for (size_t i = row; i < row + n; i++) {
      double v = x.dtype == BF_F32 ? (double)((const float *)x.data)[i] : ((const double *)x.data)[i];
      sum += v * v;
    }
    for (size_t i = 0; i < n; i++) {
      if (x.dtype == BF_F32)
        ((float *)y)[row + i] =
            (float)(((const float *)x.data)[row + i] / sqrt(sum) * (double)((const float *)scale.data)[i]);
      else
        ((double *)y)[row + i] = ((const double *)x.data)[row + i] / sqrt(sum) * ((const double *)scale.data)[i];
    }
  }
  return BF_DONE;
}

static int32_t norm_infer(const bf_host *host, const bf_attrs *attrs, bf_shapes *shapes) {
  (void)attrs;
  int32_t rank, scale_rank;
  const int64_t *dims, *scale;
  host->shape(shapes, 0, &rank, &dims);
  host->shape(shapes, 1, &scale_rank, &scale);
  if (scale_rank > 1) {
    host->refuse(shapes, "scale has more than one axis");
    return BF_INVALID_ARGUMENT;
  }
  return host->set_shape(shapes, 0, rank, dims);
}

/* width * height * by */
static int32_t area_run(const bf_host *host, void *state, bf_frame *frame) {
  bf_view width, height;
  host->operand(frame, 0, &width);
  host->operand(frame, 1, &height);
  int32_t *area = host->result(frame, 0, BF_I32, 0, NULL);
  if (area == NULL) return BF_FAILED;
  *area = *(const int32_t *)width.data * *(const int32_t *)height.data * (int32_t)(intptr_t)state;
  return BF_DONE;
}

static bf_error *area_prepare(const bf_host *host, const bf_attrs *attrs, void **state) {
  int64_t by = 1;
  host->attr_int(attrs, "by", &by);
  *state = (void *)(intptr_t)by;
  return NULL;
}

/* Twice the number, by another thread; the number 13 fails, 14 is dropped, 15 is finished twice. */
typedef struct job {
  const bf_host *host;
  uint64_t ticket;
} job;

static void *later(void *argument) {
  job job = *(struct job *)argument;
  free(argument);
  bf_view x;
  if (job.host->later_operand(job.ticket, 0, &x) != BF_OK) abort();
  int32_t number = *(const int32_t *)x.data;
  if (number == 13) job.host->later_fail(job.ticket, BF_OUT_OF_RANGE, "13 is no good number");
  if (number == 14) {
    job.host->drop(job.ticket);
    return NULL;
  }
  int32_t *twice = job.host->later_result(job.ticket, 0, BF_I32, 0, NULL);
  if (twice != NULL) *twice = 2 * number;
  if (job.host->finish(job.ticket) != BF_OK) abort();
  if (number == 15 && job.host->finish(job.ticket) != BF_NOT_FOUND) abort();
  return NULL;
}

static int32_t twice_run(const bf_host *host, void *state, bf_frame *frame) {
  (void)state;
  job *job = malloc(sizeof *job);
  *job = (struct job){host, host->defer(frame)};
  pthread_t thread;
  if (job->ticket == 0 || pthread_create(&thread, NULL, later, job) != 0) {
    free(job);
    return BF_FAILED;
  }
  pthread_detach(thread);
  return BF_LATER;
}

/* Wrong in the way that the number says. */
static int32_t wrong_run(const bf_host *host, void *state, bf_frame *frame) {
  (void)state;
  bf_view x;
  host->operand(frame, 0, &x);
  int64_t negative = -1;
  switch (*(const int32_t *)x.data) {
    case 0: return BF_DONE;                                              /* no result */
    case 1: host->result(frame, 0, BF_I32, 0, NULL), host->result(frame, 0, BF_I32, 0, NULL); return BF_DONE;
    case 2: host->result(frame, 1, BF_I32, 0, NULL); return BF_DONE;     /* one too many */
    case 3: host->result(frame, 0, BF_F32, 0, NULL); return BF_DONE;     /* another type */
    case 4: host->result(frame, 0, 77, 0, NULL); return BF_DONE;         /* no type */
    case 5: host->result(frame, 0, BF_I32, 1, &negative); return BF_DONE;
    case 6: return BF_LATER;                                             /* without a ticket */
    case 7: host->defer(frame); return BF_DONE;                          /* with one */
    case 8: return 99;                                                   /* a status of its own */
    case 9: host->fail(frame, BF_UNAVAILABLE, "not today"); return BF_FAILED;
    default: host->forward(frame, 0, 0); return BF_DONE;
  }
}

static const bf_kernel KERNELS[] = {
    {sizeof(bf_kernel), BF_KERNEL_PURE, "tf.MyNorm", "x:T scale:T -> y:T; T:{float,double} eps:float=1e-5",
     "x / sqrt(sum of squares in the last axis + eps) * scale.", norm_prepare, free, norm_run, norm_infer},
    {sizeof(bf_kernel), BF_KERNEL_PURE, "geo.area", "i32 i32 -> i32; by", "an area", area_prepare, NULL, area_run,
     NULL},
    {sizeof(bf_kernel), 0, "geo.twice", "i32 -> i32", "twice the number, later", NULL, NULL, twice_run, NULL},
    {sizeof(bf_kernel), BF_KERNEL_BLOCKING, "geo.slow_area", "i32 i32 -> i32", "an area, slowly", area_prepare, NULL,
     area_run, NULL},
    {sizeof(bf_kernel), 0, "geo.wrong", "i32 -> i32", NULL, NULL, NULL, wrong_run, NULL},
};

bf_error *befrost_library_v1(const bf_host *host, bf_library *library) {
  if (host->version != BF_LIBRARY_VERSION || host->size < sizeof(bf_host))
    return host->error(BF_FAILED_PRECONDITION, "the host is older");
#ifdef WRONG_VERSION
  library->version = 7;
#else
  library->version = BF_LIBRARY_VERSION;
#endif
  library->name = "sample";
  library->kernels = KERNELS;
  library->n_kernels = sizeof KERNELS / sizeof *KERNELS;
#ifdef REFUSES
  return host->error(BF_UNAVAILABLE, "not on Wednesdays");
#else
  return NULL;
#endif
}
