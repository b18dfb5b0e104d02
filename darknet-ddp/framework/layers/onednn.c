#include "layers/onednn.h"

#include <stdio.h>

#ifdef DNNL
#include <dnnl.h>

#include "utils.h"

void onednn_describe(char *out, size_t size)
{
    const dnnl_version_t *v = dnnl_version();

    (void)snprintf(out, size, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
}

int onednn_instructions(void)
{
    return (int)dnnl_get_effective_cpu_isa();
}

static void multiply(int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                     const float *a, int lda, const float *b, int ldb, float beta, float *c,
                     int ldc)
{
    dnnl_status_t status = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k,
                                      alpha, a, lda, b, ldb, beta, c, ldc);

    if (status != dnnl_success) {
        (void)fprintf(stderr, "gemm: oneDNN failed on %d x %d x %d with status %d\n", m, n, k,
                      (int)status);
        error("gemm");
    }
}

/* Let one thread compute each tile of the result, all K products of it, so that the order of
 * additions is fixed. */
static void multiply_by_tiles(int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                              const float *a, int lda, const float *b, int ldb, float beta,
                              float *c, int ldc)
{
    const int rows = 256, columns = 512;
    const int across = (n - 1) / columns + 1;
    const int tiles = ((m - 1) / rows + 1) * across;

#ifdef _OPENMP /* the emulated device's build has one thread a rank */
#pragma omp parallel for
#endif
    for (int t = 0; t < tiles; ++t) {
        const int i = t / across * rows, j = t % across * columns;
        const size_t row = (size_t)i, column = (size_t)j;

        multiply(transpose_a, transpose_b, m - i < rows ? m - i : rows,
                 n - j < columns ? n - j : columns, k, alpha,
                 transpose_a ? a + row : a + row * (size_t)lda, lda,
                 transpose_b ? b + column * (size_t)ldb : b + column, ldb, beta,
                 c + row * (size_t)ldc + column, ldc);
    }
}

void onednn_gemm(int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                 int lda, const float *b, int ldb, float beta, float *c, int ldc, int any_threads)
{
    (any_threads ? multiply_by_tiles : multiply)(transpose_a, transpose_b, m, n, k, alpha, a, lda,
                                                 b, ldb, beta, c, ldc);
}
#else
void onednn_describe(char *out, size_t size)
{
    (void)snprintf(out, size, "%s", "");
}

int onednn_instructions(void)
{
    return 0;
}
#endif
