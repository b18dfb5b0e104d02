/* The matrix product behind the emulated cuBLAS and cuDNN, on the CPU. It goes by tiles of 16 rows
 * and 4 columns, whose factors are packed in blocks of 256 inner indices. */
#include "emulated.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace
{

constexpr int tile_rows = 16, tile_columns = 4, depth = 256;

typedef float rows __attribute__((vector_size(tile_rows * sizeof(float))));

/* The view op(X)(row, column) of a matrix that is stored column by column. */
struct view {
    const float *x;
    size_t row_step, column_step;

    view(const float *data, bool transposed, int ld)
        : x(data), row_step(transposed ? static_cast<size_t>(ld) : 1),
          column_step(transposed ? 1 : static_cast<size_t>(ld))
    {
    }
    float at(int row, int column) const
    {
        return x[static_cast<size_t>(row) * row_step + static_cast<size_t>(column) * column_step];
    }
};

/* Set sum[column][row] to the sum over p of a[p][row] b[p][column]. */
#ifdef __x86_64__
__attribute__((target_clones("default", "avx2,fma", "avx512f")))
#endif
void multiply_tile(int k, const float *a, const float *b, float sum[tile_columns][tile_rows])
{
    rows s0 = {}, s1 = {}, s2 = {}, s3 = {}, x;

    for (int p = 0; p < k; p++, a += tile_rows, b += tile_columns) {
        std::memcpy(&x, a, sizeof x);
        s0 += x * b[0];
        s1 += x * b[1];
        s2 += x * b[2];
        s3 += x * b[3];
    }
    std::memcpy(sum[0], &s0, sizeof s0);
    std::memcpy(sum[1], &s1, sizeof s1);
    std::memcpy(sum[2], &s2, sizeof s2);
    std::memcpy(sum[3], &s3, sizeof s3);
}

void scale(int m, int n, float beta, float *c, int ldc)
{
    for (int j = 0; j < n; j++) {
        float *column = c + static_cast<size_t>(j) * static_cast<size_t>(ldc);

        if (beta == 0)
            std::fill(column, column + m, 0.0f);
        else if (beta != 1)
            for (int i = 0; i < m; i++)
                column[i] *= beta;
    }
}

/* Pack columns of op(B), four beside each other, with zeros where there are none. */
void pack_columns(const view &b, int n, int from, int k, std::vector<float> &packed)
{
    float *to = packed.data();

    for (int j0 = 0; j0 < n; j0 += tile_columns)
        for (int p = 0; p < k; p++)
            for (int j = j0; j < j0 + tile_columns; j++)
                *to++ = j < n ? b.at(from + p, j) : 0;
}

void pack_rows(const view &a, int m, int i0, int from, int k, float *to)
{
    for (int p = 0; p < k; p++)
        for (int i = i0; i < i0 + tile_rows; i++)
            *to++ = i < m ? a.at(i, from + p) : 0;
}

} // namespace

void emulated::gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *a, int lda,
                    const float *b, int ldb, float beta, float *c, int ldc)
{
    view va(a, ta, lda), vb(b, tb, ldb);
    size_t columns = static_cast<size_t>(n + tile_columns - 1) / tile_columns * tile_columns;
    std::vector<float> packed_b(columns * depth), packed_a(tile_rows * depth);
    float sum[tile_columns][tile_rows];

    scale(m, n, beta, c, ldc);
    for (int p = 0; p < k; p += depth) {
        int now = std::min(depth, k - p);

        pack_columns(vb, n, p, now, packed_b);
        for (int i0 = 0; i0 < m; i0 += tile_rows) {
            pack_rows(va, m, i0, p, now, packed_a.data());
            for (int j0 = 0; j0 < n; j0 += tile_columns) {
                multiply_tile(now, packed_a.data(), packed_b.data() + j0 * now, sum);
                for (int j = j0; j < std::min(n, j0 + tile_columns); j++)
                    for (int i = i0; i < std::min(m, i0 + tile_rows); i++)
                        c[static_cast<size_t>(j) * static_cast<size_t>(ldc)
                          + static_cast<size_t>(i)] += alpha * sum[j - j0][i - i0];
            }
        }
    }
}
