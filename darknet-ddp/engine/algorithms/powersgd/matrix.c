#include "algorithms/powersgd/matrix.h"

#include "base/simd.h"

#include <math.h>
#include <string.h>

/* Rows are added up ROWS at a time, so that a sum stays in a register that long. */
enum { LANES = 16, BLOCK = 128, ROWS = 4 };

/* In LANES sums side by side, which the compiler may make vectors of. */
DDP_ALWAYS_INLINE float dot(const float *a, const float *b, size_t count)
{
    float sums[LANES] = {0};
    size_t i = 0;

    for (; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums[k] += a[i + k] * b[i + k];
    for (size_t k = 0; i < count; i++, k++)
        sums[k] += a[i] * b[i];
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t k = 0; k < half; k++)
            sums[k] += sums[k + half];
    return sums[0];
}

DDP_TARGET_CLONES
void ddp_matrix_add_times(float *m, const float *e, const float *q, float *p, ddp_shape s)
{
    for (size_t i = 0; i < s.rows; i++) {
        float *row = m + i * s.columns;
        const float *more = e + i * s.columns;

        for (size_t j = 0; j < s.columns; j++)
            row[j] += more[j];
        for (size_t k = 0; k < s.rank; k++)
            p[k * s.rows + i] = dot(row, q + k * s.columns, s.columns);
    }
}

/* column += a row for each factor, in their order */
DDP_ALWAYS_INLINE void add_rows(float *column, const float *row, const float *factor, size_t rows,
                                size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        float sum = column[j];

        for (size_t r = 0; r < rows; r++)
            sum += factor[r] * row[r * columns + j];
        column[j] = sum;
    }
}

DDP_TARGET_CLONES
void ddp_matrix_transposed_times(const float *m, const float *p, float *q, ddp_shape s)
{
    size_t i = 0;

    memset(q, 0, s.rank * s.columns * sizeof *q);
    for (; i + ROWS <= s.rows; i += ROWS)
        for (size_t k = 0; k < s.rank; k++)
            add_rows(q + k * s.columns, m + i * s.columns, p + k * s.rows + i, ROWS, s.columns);
    for (; i < s.rows; i++)
        for (size_t k = 0; k < s.rank; k++)
            add_rows(q + k * s.columns, m + i * s.columns, p + k * s.rows + i, 1, s.columns);
}

/* sums[j] = row i of P Q^T at columns from..from+count */
DDP_ALWAYS_INLINE void row_of_product(float *sums, const float *p, const float *q, size_t i,
                                      size_t from, size_t count, ddp_shape s)
{
    memset(sums, 0, count * sizeof *sums);
    for (size_t k = 0; k < s.rank; k++) {
        float factor = p[k * s.rows + i];
        const float *column = q + k * s.columns + from;

        for (size_t j = 0; j < count; j++)
            sums[j] += factor * column[j];
    }
}

DDP_TARGET_CLONES
void ddp_matrix_approximate(float *m, float *e, const float *p, const float *q, float share,
                            ddp_shape s)
{
    float sums[BLOCK];

    for (size_t i = 0; i < s.rows; i++)
        for (size_t from = 0; from < s.columns; from += BLOCK) {
            size_t count = s.columns - from < BLOCK ? s.columns - from : BLOCK;
            float *row = m + i * s.columns + from, *left = e + i * s.columns + from;

            row_of_product(sums, p, q, i, from, count, s);
            for (size_t j = 0; j < count; j++) {
                left[j] = row[j] - share * sums[j];
                row[j] = sums[j];
            }
        }
}

static double product(const float *a, const float *b, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* a -= factor * b */
static void take_off(float *a, const float *b, double factor, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] = (float)((double)a[i] - factor * (double)b[i]);
}

void ddp_matrix_orthogonalize(float *columns, size_t length, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        float *column = columns + k * length;
        double before = sqrt(product(column, column, length)), left;

        for (size_t j = 0; j < k; j++)
            take_off(column, columns + j * length, product(columns + j * length, column, length),
                     length);
        left = sqrt(product(column, column, length));
        if (left <= DDP_MATRIX_LEAST_LEFT * before)
            memset(column, 0, length * sizeof *column);
        else
            for (size_t i = 0; i < length; i++)
                column[i] = (float)((double)column[i] / left);
    }
}

static int is_zero(const float *x, size_t count)
{
    size_t i = 0;

    while (i < count && fpclassify(x[i]) == FP_ZERO)
        i++;
    return i == count;
}

void ddp_matrix_renew_q(float *q, const float *drawn, ddp_shape s)
{
    int lost = 0;

    ddp_matrix_orthogonalize(q, s.columns, s.rank);
    for (size_t k = 0; k < s.rank; k++)
        if (is_zero(q + k * s.columns, s.columns)) {
            memcpy(q + k * s.columns, drawn + k * s.columns, s.columns * sizeof *q);
            lost = 1;
        }
    if (lost)
        ddp_matrix_orthogonalize(q, s.columns, s.rank);
}
