/* The emulated device: CUDA's runtime, cuBLAS, cuRAND, cuDNN and NCCL, as far as Darknet and this
 * project call them, on the CPU (README.md: what it is for, what it checks, its environment).
 *
 * This header is the emulator's own; programs include those of include/. */
#ifndef EMULATED_H
#define EMULATED_H

#include "cuda_runtime_api.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace emulated
{

/* ---- fail.cpp ---- */

/* Count a call of that name; shall this one fail? */
bool fails(const char *call);
/* So many bytes cross between host and device, counted as BytesToDevice or BytesToHost. */
void count_bytes(bool to_device, size_t bytes);
/* The rank that mpirun gave to this process, or 0. */
int process_rank();

/* ---- noise.cpp ---- */

/* What events say of a time: with noise, other than it was, on each rank and for each seed. */
float measured_ms(float ms);
/* EMULATED_NOISE is set; what follows is for that case. */
bool has_noise();
/* Another number at each call, and in each process. */
uint64_t other_each_time();
/* Change the last bit of one element in four, but of zero; which ones depends on `how`. */
void disturb(float *x, size_t count, uint64_t how);
void disturb(uint16_t *bf16, size_t count, uint64_t how);
/* The 10 bits of mantissa that tensor cores read of a float. */
void round_to_tf32(float *to, const float *x, size_t count);

/* ---- memory.cpp ---- */

/* For as long as one lives the calling thread may use device memory. */
struct open_memory {
    open_memory();
    ~open_memory();
    open_memory(const open_memory &) = delete;
    open_memory &operator=(const open_memory &) = delete;
};

void *allocate(size_t bytes); /* NULL: no memory */
bool release(void *x);        /* false: not allocated */
/* Is all of x[0..bytes) in one piece of device memory? */
bool on_device(const void *x, size_t bytes);
bool pinned(const void *x, size_t bytes);

/* ---- runtime.cpp ---- */

int devices();
int current_device();
/* Keep a failure for cudaGetLastError; returns it. */
cudaError_t report(cudaError_t error);

/* ---- kernel.cpp ---- */

/* Nothing that is queued is to be done (emulated_launches.h). */
bool only_launches();

/* ---- queue.cpp ---- */

/* The end of a piece of queued work; NULL counts as past. */
struct end_of_work;
using work_end = std::shared_ptr<end_of_work>;

/* Queue work on a stream; NULL is the default stream of the current device. */
work_end enqueue(cudaStream_t stream, std::function<void()> work);
/* Work that may not be ready: it is tried until it returns true. */
work_end enqueue_attempt(cudaStream_t stream, std::function<bool()> attempt);
/* Work that does not touch device memory. */
work_end enqueue_host(cudaStream_t stream, std::function<void()> work);
/* Nothing but an end, behind what is queued and behind `after`. */
work_end enqueue_nothing(cudaStream_t stream, const work_end &after);

/* Let streams run as EMULATED_ORDER says. */
void let_run();
/* Wait for an end, for all that is queued on a stream, or anywhere. */
void wait(const work_end &end);
void wait_stream(cudaStream_t stream);
void wait_everything();
/* Is it past? ask lets a step toward it be made where it is not. */
bool is_done(const work_end &end);
bool ask(const work_end &end);
double ms_between(const work_end &start, const work_end &end);
/* 0 to n - 1, by EMULATED_ORDER's seed; 0 if the order is not random. */
unsigned chance(unsigned n);

cudaStream_t make_stream(bool blocking);
/* What is queued still runs. False: no such stream. */
bool close_stream(cudaStream_t stream);
/* Of what was queued latest. */
work_end end_of_stream(cudaStream_t stream);

/* ---- gemm.cpp ---- */

/* C = alpha op(A) op(B) + beta C, column by column; C is not read with beta 0. At once, on the
 * calling thread. */
void gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *a, int lda,
          const float *b, int ldb, float beta, float *c, int ldc);

} // namespace emulated

#endif
