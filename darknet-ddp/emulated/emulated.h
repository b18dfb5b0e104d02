/* emulated/emulated.h: internal functions of the emulated device, which is CUDA's runtime, cuBLAS,
 * cuRAND, cuDNN and NCCL on the CPU. README.md says what it is for, what it checks, and its
 * environment variables. Programs include the headers of include/, not this one. */
#ifndef EMULATED_H
#define EMULATED_H

#include "cuda_runtime_api.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace emulated
{

/* ---- fail.cpp ---- */

/* Count a call of the name `call` (README.md), from any thread. Return true if it must fail
 * (EMULATED_FAIL). */
bool fails(const char *call);
/* Count bytes that are copied to the device, or from it, for EMULATED_CALLS (README.md). */
void count_bytes(bool to_device, size_t bytes);
/* Return the rank that Open MPI's mpirun gave this process; 0 without it. */
int process_rank();

/* ---- noise.cpp ---- */

/* Return a hash of x (splitmix64). */
uint64_t mix(uint64_t x);
/* Return the time that events report for `ms` milliseconds. With noise it is a random 0.1 to 1.1
 * times ms, which depends on rank and seed; else it is ms. */
float measured_ms(float ms);
/* Return true if EMULATED_NOISE is set. Only then use the rest of noise.cpp. */
bool has_noise();
/* Return another number at each call, and in each process. */
uint64_t unique_number();
/* Change the last bit of about a quarter of the elements, which `seed` chooses. Zeros, denormals,
 * infinities and NaN stay. */
void flip_last_bits(float *x, size_t count, uint64_t seed);
void flip_last_bits(uint16_t *bf16, size_t count, uint64_t seed);
/* Round x[0..count) to TF32 (10 bits of mantissa, as tensor cores read), and write it to `to`. */
void round_to_tf32(float *to, const float *x, size_t count);

/* ---- memory.cpp ---- */

/* A guard: while it lives, its thread may access device memory. An access without a guard crashes:
 * with protection keys always, without them sometimes (memory.cpp). */
struct open_memory {
    open_memory();
    ~open_memory();
    open_memory(const open_memory &) = delete;
    open_memory &operator=(const open_memory &) = delete;
};

void *allocate(size_t bytes); /* allocate device memory; NULL: none is left */
bool release(void *x);        /* free device memory, without waiting; false: none begins at x */
/* Return true if x[0..bytes) lies in one array of device memory. */
bool on_device(const void *x, size_t bytes);
/* Return true if x[0..bytes) lies in one array of pinned memory. */
bool pinned(const void *x, size_t bytes);

/* ---- runtime.cpp ---- */

int devices();
int current_device();
/* Return `error`, and keep a failure for cudaGetLastError. */
cudaError_t report(cudaError_t error);

/* ---- kernel.cpp ---- */

/* Return true if kernels and copies do nothing, since a test only counts launches
 * (emulated_launches.h). */
bool only_launches();

/* ---- queue.cpp ---- */

/* The state of a piece of queued work: done or not. A `completion` points to it: functions return
 * one for the work that they queue. A null completion counts as done. */
struct completion_state;
using completion = std::shared_ptr<completion_state>;

/* Queue work that may access device memory on a stream (NULL: the default stream of the current
 * device), to run later, on any thread. Returns its completion. Nothing runs if only_launches(). */
completion enqueue(cudaStream_t stream, std::function<void()> work);
/* Queue work that may access device memory, and may have to wait: attempt() is called until it
 * returns true. Returns its completion. */
completion enqueue_attempt(cudaStream_t stream, std::function<bool()> attempt);
/* Queue work that does not access device memory. Returns its completion. */
completion enqueue_host(cudaStream_t stream, std::function<void()> work);
/* Queue a marker without work. Returns its completion: it is done when everything queued on the
 * stream before is done, and `after`, too, if it is not null. */
completion enqueue_marker(cudaStream_t stream, const completion &after);

/* Run the queued work that EMULATED_ORDER lets run now. Does not wait for more. */
void run_ready();
/* Run queued work until `end` is done. */
void wait(const completion &end);
/* Run queued work until all that the stream has now is done. */
void wait_stream(cudaStream_t stream);
/* Run queued work until all that the streams have now is done. */
void wait_everything();
/* Return true if the work is done. Does not wait. */
bool is_done(const completion &end);
/* Return true if the work is done. Else run one piece of work that it needs, if one is ready, and
 * return false. With EMULATED_ORDER eager or random, run_ready() comes first. */
bool try_finish(const completion &end);
/* Return how many milliseconds lie between the ends of two pieces of work, which must be done. */
double ms_between(const completion &start, const completion &end);
/* Return a random number from 0 to n - 1 with EMULATED_ORDER=random; else 0. */
unsigned random_below(unsigned n);

/* Make a stream. blocking: its work is ordered with that of the default stream. */
cudaStream_t make_stream(bool blocking);
/* Close a stream; work that is queued on it still runs. Returns false if it was closed, or is a
 * default stream. */
bool close_stream(cudaStream_t stream);
/* Return the completion of the work queued last on a stream; null if there was none. */
completion last_completion(cudaStream_t stream);

/* ---- gemm.cpp ---- */

/* Compute C = alpha op(A) op(B) + beta C on the calling thread. op(A) is m x k, op(B) k x n.
 * Matrices are stored column by column. With beta 0, C is not read. */
void gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *a, int lda,
          const float *b, int ldb, float beta, float *c, int ldc);

} // namespace emulated

#endif
