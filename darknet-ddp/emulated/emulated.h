/* emulated/emulated.h: the emulated device: CUDA's runtime, cuBLAS, cuRAND, cuDNN and NCCL on the
 * CPU, as far as Darknet and this project call them. README.md says what it is for, what it checks
 * and its environment. Programs include headers of include/, not this one. */
#ifndef EMULATED_H
#define EMULATED_H

#include "cuda_runtime_api.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace emulated
{

/* ---- fail.cpp ---- */

/* Count a call of the function named `call`, from any thread. Returns true if it is to fail
 * (README.md). */
bool fails(const char *call);
/* Count bytes that are copied to the device (BytesToDevice) or from it (BytesToHost). */
void count_bytes(bool to_device, size_t bytes);
/* Return the rank that mpirun gave to this process, or 0. */
int process_rank();

/* ---- noise.cpp ---- */

/* Return the bits of x mixed: splitmix64. */
uint64_t mix(uint64_t x);
/* Return the time that events report for a measured time, both in ms. With noise it is 0.1 to 1.1
 * times the measured time; the factor is random, and depends on rank and seed. */
float measured_ms(float ms);
/* Return true if EMULATED_NOISE is set; the functions below are for that case. */
bool has_noise();
/* Return another number at each call, and in each process. */
uint64_t other_each_time();
/* Change the last bit of a quarter of the elements; `how` decides which. Zeros, denormals,
 * infinities and NaN stay. */
void disturb(float *x, size_t count, uint64_t how);
void disturb(uint16_t *bf16, size_t count, uint64_t how);
/* Round x[0..count) to the 10 bits of mantissa that tensor cores read, and write it to `to`. */
void round_to_tf32(float *to, const float *x, size_t count);

/* ---- memory.cpp ---- */

/* A guard: while one lives, the calling thread may use device memory. */
struct open_memory {
    open_memory();
    ~open_memory();
    open_memory(const open_memory &) = delete;
    open_memory &operator=(const open_memory &) = delete;
};

void *allocate(size_t bytes); /* device memory; NULL: no memory */
bool release(void *x);        /* free it; false: x was not allocated */
/* Return true if x[0..bytes) lies in one array: on_device, of device memory; pinned, of pinned host
 * memory. */
bool on_device(const void *x, size_t bytes);
bool pinned(const void *x, size_t bytes);

/* ---- runtime.cpp ---- */

int devices();
int current_device();
/* Keep a failure for cudaGetLastError, and return it. */
cudaError_t report(cudaError_t error);

/* ---- kernel.cpp ---- */

/* Return true if queued work is left out, for a test that only counts launches
 * (emulated_launches.h). */
bool only_launches();

/* ---- queue.cpp ---- */

/* Tells when a piece of queued work has run: its end is "past" then. A work_end that is null counts
 * as past. */
struct end_of_work;
using work_end = std::shared_ptr<end_of_work>;

/* Queue work that may touch device memory on a stream (NULL: the default stream of the current
 * device). Returns its end. If only_launches(), the work is left out. */
work_end enqueue(cudaStream_t stream, std::function<void()> work);
/* Queue work that may touch device memory and may not be ready: attempt() is called until it
 * returns true. Returns its end. */
work_end enqueue_attempt(cudaStream_t stream, std::function<bool()> attempt);
/* Queue work that does not touch device memory. Returns its end. */
work_end enqueue_host(cudaStream_t stream, std::function<void()> work);
/* Queue an end that has no work of its own, and return it. It is past when all that was queued on
 * the stream before is past, and `after`, too, unless that is null. */
work_end enqueue_nothing(cudaStream_t stream, const work_end &after);

/* Run as much queued work as EMULATED_ORDER lets run now; returns without waiting for more. */
void let_run();
/* Run queued work until `end` is past (wait), a stream is done (wait_stream), or all are
 * (wait_everything). */
void wait(const work_end &end);
void wait_stream(cudaStream_t stream);
void wait_everything();
/* Return true if an end is past, without waiting. If it is not, ask_for also runs queued work that
 * leads to it, if some is ready. */
bool is_done(const work_end &end);
bool ask_for(const work_end &end);
/* Return the milliseconds between two ends, both past. */
double ms_between(const work_end &start, const work_end &end);
/* Return a number from 0 to n - 1, drawn by EMULATED_ORDER's seed; 0 if the order is not random. */
unsigned chance(unsigned n);

/* Make a stream. blocking: true: its work is ordered with the default stream's. */
cudaStream_t make_stream(bool blocking);
/* Close a stream; what is queued on it still runs. Returns false if there is no such stream. */
bool close_stream(cudaStream_t stream);
/* Return the end of what was queued last on a stream; null: nothing was. */
work_end end_of_stream(cudaStream_t stream);

/* ---- gemm.cpp ---- */

/* Compute C = alpha op(A) op(B) + beta C at once, on the calling thread. op(A) is m x k, op(B) k x
 * n; matrices lie column by column. With beta 0, C is not read. */
void gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *a, int lda,
          const float *b, int ldb, float beta, float *c, int ldc);

} // namespace emulated

#endif
