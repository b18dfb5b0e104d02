/* The emulated device: CUDA's runtime, cuBLAS, cuRAND, cuDNN and NCCL on the CPU, as far as Darknet
 * and this project call them. What it is for, what it checks and its environment stand in
 * README.md.
 *
 * This header is the emulator's own; programs include those of include/.
 */
#ifndef EMULATED_H
#define EMULATED_H

#include "cuda_runtime_api.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace emulated
{

/* ---- fail.cpp ---- */

/* Count a call of that name. Returns true if it shall fail. */
bool fails(const char *call);
/* Count bytes that cross between host and device, as BytesToDevice or BytesToHost. */
void count_bytes(bool to_device, size_t bytes);
/* Return the rank that mpirun gave to this process, or 0. */
int process_rank();

/* ---- noise.cpp ---- */

/* Return the time that events report for ms. With noise it is another one, on each rank and for
 * each seed. */
float measured_ms(float ms);
/* Return true if EMULATED_NOISE is set; the functions below are for that case. */
bool has_noise();
/* Return another number at each call, and in each process. */
uint64_t other_each_time();
/* Change the last bit of one element in four, but of zero. Which ones depends on `how`. */
void disturb(float *x, size_t count, uint64_t how);
void disturb(uint16_t *bf16, size_t count, uint64_t how);
/* Round floats to the 10 bits of mantissa that tensor cores read. */
void round_to_tf32(float *to, const float *x, size_t count);

/* ---- memory.cpp ---- */

/* While one lives, the calling thread may use device memory. */
struct open_memory {
    open_memory();
    ~open_memory();
    open_memory(const open_memory &) = delete;
    open_memory &operator=(const open_memory &) = delete;
};

void *allocate(size_t bytes); /* NULL: no memory */
bool release(void *x);        /* false: not allocated */
/* Return true if x[0..bytes) lies in one array of device memory, or of pinned memory. */
bool on_device(const void *x, size_t bytes);
bool pinned(const void *x, size_t bytes);

/* ---- runtime.cpp ---- */

int devices();
int current_device();
/* Keep a failure for cudaGetLastError. Returns it. */
cudaError_t report(cudaError_t error);

/* ---- kernel.cpp ---- */

/* Return true if queued work is not done (emulated_launches.h). */
bool only_launches();

/* ---- queue.cpp ---- */

/* The end of a piece of queued work; NULL counts as past. */
struct end_of_work;
using work_end = std::shared_ptr<end_of_work>;

/* Queue work that may touch device memory on a stream (NULL: the default stream of the current
 * device). Returns its end. If only_launches(), the work is left out. */
work_end enqueue(cudaStream_t stream, std::function<void()> work);
/* Queue work that may not be ready: it is tried until it returns true. */
work_end enqueue_attempt(cudaStream_t stream, std::function<bool()> attempt);
/* Queue work that does not touch device memory. */
work_end enqueue_host(cudaStream_t stream, std::function<void()> work);
/* Queue nothing but an end on a stream, behind what is queued there and behind `after`, if that is
 * not NULL. */
work_end enqueue_nothing(cudaStream_t stream, const work_end &after);

/* Let streams run as EMULATED_ORDER says. */
void let_run();
/* Wait for an end, for all that is queued on a stream, or anywhere. */
void wait(const work_end &end);
void wait_stream(cudaStream_t stream);
void wait_everything();
/* Return true if an end is past, without waiting. If it is not, ask_for also runs a task toward it,
 * where one can run. */
bool is_done(const work_end &end);
bool ask_for(const work_end &end);
double ms_between(const work_end &start, const work_end &end);
/* Return 0 to n - 1, by EMULATED_ORDER's seed; 0 if the order is not random. */
unsigned chance(unsigned n);

cudaStream_t make_stream(bool blocking);
/* Close a stream; what is queued on it still runs. Returns false if there is no such stream. */
bool close_stream(cudaStream_t stream);
/* Return the end of what was queued last on a stream. */
work_end end_of_stream(cudaStream_t stream);

/* ---- gemm.cpp ---- */

/* Compute C = alpha op(A) op(B) + beta C, column by column; C is not read with beta 0. Done at
 * once, on the calling thread. */
void gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *a, int lda,
          const float *b, int ldb, float beta, float *c, int ldc);

} // namespace emulated

#endif
