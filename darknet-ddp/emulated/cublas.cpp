/* The calls of cuBLAS and cuRAND on the emulated device. Matrix products (gemm.cpp) and random
 * numbers are queued on a stream, and computed on the CPU. */
#include "emulated.h"

#include "cublas_v2.h"
#include "curand.h"

struct emulated_cublas {
    cudaStream_t stream = nullptr;
};

struct emulated_curand {
    cudaStream_t stream = nullptr;
    uint64_t seed = 0, next = 0;
};

namespace
{

/* Return number n of a seed, in (0, 1]. */
float uniform(uint64_t seed, uint64_t n)
{
    return static_cast<float>((emulated::mix(emulated::mix(seed) + n) >> 40) + 1) / 16777216.0f;
}

bool fits(int rows, int ld, int least_rows)
{
    return rows >= 0 && ld >= (least_rows > 1 ? least_rows : 1);
}

} // namespace

using namespace emulated;

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    if (!devices() || fails("cublasCreate"))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new emulated_cublas;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    wait_everything();
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "the library was not initialized";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "the GPU program failed to execute";
    }
    return "unknown status";
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta,
                                         cublasOperation_t tb, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int count)
{
    float by = *alpha, keep = *beta;

    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!fits(m, lda, ta ? k : m) || !fits(k, ldb, tb ? n : k) || !fits(n, ldc, m))
        return CUBLAS_STATUS_INVALID_VALUE;
    (void)enqueue(handle->stream, [=] {
        for (int i = 0; i < count; i++)
            gemm(ta, tb, m, n, k, by, a + i * stride_a, lda, b + i * stride_b, ldb, keep,
                 c + i * stride_c, ldc);
    });
    run_ready();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                           int n, int k, const float *alpha, const float *a, int lda,
                           const float *b, int ldb, const float *beta, float *c, int ldc)
{
    if (fails("cublasSgemm"))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return cublasSgemmStridedBatched(handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c,
                                     ldc, 0, 1);
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t)
{
    if (!devices() || fails("curandCreateGenerator"))
        return CURAND_STATUS_NOT_INITIALIZED;
    *generator = new emulated_curand;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    delete generator;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed)
{
    generator->seed = seed;
    generator->next = 0;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    generator->next = offset;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *x, size_t count)
{
    uint64_t seed = generator->seed, first = generator->next;

    if (fails("curandGenerateUniform"))
        return CURAND_STATUS_LAUNCH_FAILURE;
    generator->next += count;
    (void)enqueue(generator->stream, [=] {
        for (size_t i = 0; i < count; i++)
            x[i] = uniform(seed, first + i);
    });
    run_ready();
    return CURAND_STATUS_SUCCESS;
}

} // extern "C"
