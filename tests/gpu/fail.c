/* Preloaded into a program, makes a call of CUDA, cuDNN, cuBLAS or NCCL fail:
 * EMULATED_FAIL=CALL:N[:RANK] as on the emulated device (darknet-ddp/emulated), for the calls
 * below. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <dlfcn.h>
#include <nccl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fails(const char *call, atomic_long *count)
{
    const char *wish = getenv("EMULATED_FAIL"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    size_t length = strlen(call);
    long number = 0;
    int only = -1;

    if (!wish || strncmp(wish, call, length) != 0
        || sscanf(wish + length, ":%ld:%d", &number, &only) < 1)
        return 0;
    return (only < 0 || only == (rank ? atoi(rank) : 0))
           && atomic_fetch_add(count, 1) + 1 == number;
}

/* A function of that name, which returns `failure` when it shall and else calls the library's. */
#define WRAP(result, failure, name, parameters, arguments)                                         \
    result name parameters                                                                         \
    {                                                                                              \
        static atomic_long calls;                                                                  \
        result(*real) parameters;                                                                  \
                                                                                                   \
        if (fails(#name, &calls))                                                                  \
            return failure;                                                                        \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        return real arguments;                                                                     \
    }

WRAP(cudaError_t, cudaErrorMemoryAllocation, cudaMalloc, (void **x, size_t bytes), (x, bytes))
WRAP(cudaError_t, cudaErrorInvalidValue, cudaMemcpyAsync,
     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
     (to, from, bytes, kind, stream))
WRAP(cudaError_t, cudaErrorInvalidResourceHandle, cudaEventRecord,
     (cudaEvent_t event, cudaStream_t stream), (event, stream))
WRAP(cudaError_t, cudaErrorInvalidResourceHandle, cudaStreamWaitEvent,
     (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
WRAP(cublasStatus_t, CUBLAS_STATUS_EXECUTION_FAILED, cublasSgemm_v2,
     (cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
      const float *alpha, const float *a, int lda, const float *b, int ldb, const float *beta,
      float *c, int ldc),
     (handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
WRAP(cudnnStatus_t, CUDNN_STATUS_EXECUTION_FAILED, cudnnConvolutionBackwardFilter,
     (cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xd, const void *x,
      const cudnnTensorDescriptor_t dyd, const void *dy, const cudnnConvolutionDescriptor_t conv,
      cudnnConvolutionBwdFilterAlgo_t algorithm, void *workspace, size_t bytes, const void *beta,
      const cudnnFilterDescriptor_t dwd, void *dw),
     (handle, alpha, xd, x, dyd, dy, conv, algorithm, workspace, bytes, beta, dwd, dw))
WRAP(ncclResult_t, ncclSystemError, ncclAllReduce,
     (const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op,
      ncclComm_t comm, cudaStream_t stream),
     (from, to, count, type, op, comm, stream))
WRAP(ncclResult_t, ncclSystemError, ncclCommInitRankConfig,
     (ncclComm_t * comm, int size, ncclUniqueId id, int rank, ncclConfig_t *config),
     (comm, size, id, rank, config))
