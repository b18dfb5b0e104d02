#include "layers/winograd/tiles.h"

#include "blas.h"

/* The transforms evaluate polynomials at some points: 0, infinity, and 1 and -1 for m = 2, or A,
 * -A, B and -B for m = 4. With these A and B all factors of images are exact floats, and the error
 * is two thirds of that with 1 and 2. A line is a row or a column of a tile, with LANES channels or
 * filters of each pixel. */
#define ALWAYS static inline __attribute__((always_inline))
#define A .75f
#define B 1.5f
#define AA (A * A)
#define BB (B * B)

enum { SIDE = WINOGRAD_SIDE, OUT = WINOGRAD_MOST_OUT, LANES = WINOGRAD_LANES };

/* ---- weights ---- */

/* A row for each point p: 1, p and p * p, divided by the product of p's distances from the others.
 */
#define POINT(p, distances)                                                                        \
    {                                                                                              \
        1 / (distances), (p) / (distances), (p) * (p) / (distances)                                \
    }
#define A_DISTANCES (2. * AA * (AA - BB))
#define B_DISTANCES (2. * BB * (BB - AA))
static const double factors_2[4][3] = {POINT(0., -1.), POINT(1., 2.), POINT(-1., 2.), {0, 0, 1}};
static const double factors_4[6][3] = {POINT(0., (double)AA *BB), POINT(A, A_DISTANCES),
                                       POINT(-A, A_DISTANCES),    POINT(B, B_DISTANCES),
                                       POINT(-B, B_DISTANCES),    {0, 0, 1}};

/* Transform a line of three weights, `step` apart. */
ALWAYS void transform_three(int m, double (*from)[LANES], int step, double (*out)[LANES],
                            int out_step)
{
    for (int i = 0; i < m + 2; ++i) {
        const double *g = m == 2 ? factors_2[i] : factors_4[i];

        for (int k = 0; k < LANES; ++k)
            out[i * out_step][k] =
                g[0] * from[0][k] + g[1] * from[step][k] + g[2] * from[2 * step][k];
    }
}

ALWAYS void transform_weights(int m, const float *windows, size_t each, int is_turned, float *out,
                              size_t step)
{
    double w[9][LANES], rows[SIDE * 3][LANES], line[SIDE][LANES];

    for (int i = 0; i < 9; ++i)
        for (int k = 0; k < LANES; ++k)
            w[i][k] = (double)windows[(size_t)k * each + (size_t)(is_turned ? 8 - i : i)];
    for (int j = 0; j < 3; ++j)
        transform_three(m, w + j, 3, rows + j, 3);
    for (int i = 0; i < m + 2; ++i) {
        transform_three(m, rows + 3 * i, 1, line, 1);
        for (int j = 0; j < m + 2; ++j, out += step)
            for (int k = 0; k < LANES; ++k)
                out[k] = (float)line[j][k];
    }
}

VECTORIZE
void winograd_transform_weights(int m, const float *windows, size_t each, int is_turned, float *out,
                                size_t step)
{
    if (m == 2)
        transform_weights(2, windows, each, is_turned, out, step);
    else
        transform_weights(4, windows, each, is_turned, out, step);
}

/* Transform a line of m + 2 sums, `step` apart, to three weights: transform_three's transpose. */
ALWAYS void transform_sums(int m, double (*from)[LANES], int step, double (*out)[LANES],
                           int out_step)
{
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < LANES; ++k) {
            double sum = 0;

            for (int j = 0; j < m + 2; ++j)
                sum += (m == 2 ? factors_2 : factors_4)[j][i] * from[j * step][k];
            out[i * out_step][k] = sum;
        }
}

ALWAYS void add_windows(int m, const float *sums, size_t step, float *windows)
{
    const int n = m + 2;
    double s[SIDE * SIDE][LANES], rows[3 * SIDE][LANES], w[9][LANES];

    for (int i = 0; i < n * n; ++i)
        for (int k = 0; k < LANES; ++k)
            s[i][k] = (double)sums[(size_t)i * step + (size_t)k];
    for (int j = 0; j < n; ++j)
        transform_sums(m, s + j, n, rows + j, n);
    for (int i = 0; i < 3; ++i)
        transform_sums(m, rows + n * i, 1, w + 3 * i, 1);
    for (int k = 0; k < LANES; ++k)
        for (int i = 0; i < 9; ++i)
            windows[k * 9 + i] += (float)w[i][k];
}

VECTORIZE
void winograd_add_windows(int m, const float *sums, size_t step, float *windows)
{
    if (m == 2)
        add_windows(2, sums, step, windows);
    else
        add_windows(4, sums, step, windows);
}

/* ---- input ---- */

/* Transform a line of m + 2 pixels; the values of the result lie `step` floats apart. */
ALWAYS void transform_pixels(int m, const float *restrict d0, const float *restrict d1,
                             const float *restrict d2, const float *restrict d3,
                             const float *restrict d4, const float *restrict d5,
                             float *restrict out, size_t step)
{
    for (size_t k = 0; k < LANES; ++k) {
        if (m == 2) {
            out[k] = d2[k] - d0[k];
            out[step + k] = d2[k] + d1[k];
            out[2 * step + k] = d2[k] - d1[k];
            out[3 * step + k] = d3[k] - d1[k];
        } else {
            const float even_a = d4[k] - BB * d2[k], odd_a = A * (d3[k] - BB * d1[k]);
            const float even_b = d4[k] - AA * d2[k], odd_b = B * (d3[k] - AA * d1[k]);

            out[k] = AA * BB * d0[k] - (AA + BB) * d2[k] + d4[k];
            out[step + k] = even_a + odd_a;
            out[2 * step + k] = even_a - odd_a;
            out[3 * step + k] = even_b + odd_b;
            out[4 * step + k] = even_b - odd_b;
            out[5 * step + k] = AA * BB * d1[k] - (AA + BB) * d3[k] + d5[k];
        }
    }
}

ALWAYS void transform_input(int m, const float *pixels[SIDE][SIDE], int channels, float *out)
{
    const int n = m + 2;

    for (int c = 0; c < channels; c += LANES) {
        float t[SIDE][SIDE][LANES]; /* by column, then row */

        for (int j = 0; j < n; ++j)
            transform_pixels(m, pixels[0][j] + c, pixels[1][j] + c, pixels[2][j] + c,
                             pixels[3][j] + c, pixels[4][j] + c, pixels[5][j] + c, t[j][0], LANES);
        for (int i = 0; i < n; ++i)
            transform_pixels(m, t[0][i], t[1][i], t[2][i], t[3][i], t[4][i], t[5][i],
                             out + (size_t)(i * n) * (size_t)channels + c, (size_t)channels);
    }
}

VECTORIZE
void winograd_transform_input(int m, const float *pixels[SIDE][SIDE], int channels, float *out)
{
    if (m == 2)
        transform_input(2, pixels, channels, out);
    else
        transform_input(4, pixels, channels, out);
}

/* ---- dy ---- */

/* Transform a line of m pixels: transform_products' transpose. The values of the result lie `step`
 * floats apart. */
ALWAYS void transform_deltas(int m, const float *restrict d0, const float *restrict d1,
                             const float *restrict d2, const float *restrict d3,
                             float *restrict out, size_t step)
{
    for (size_t k = 0; k < LANES; ++k) {
        if (m == 2) {
            out[k] = d0[k];
            out[step + k] = d0[k] + d1[k];
            out[2 * step + k] = d0[k] - d1[k];
            out[3 * step + k] = d1[k];
        } else {
            const float even_a = d0[k] + AA * d2[k], odd_a = A * (d1[k] + AA * d3[k]);
            const float even_b = d0[k] + BB * d2[k], odd_b = B * (d1[k] + BB * d3[k]);

            out[k] = d0[k];
            out[step + k] = even_a + odd_a;
            out[2 * step + k] = even_a - odd_a;
            out[3 * step + k] = even_b + odd_b;
            out[4 * step + k] = even_b - odd_b;
            out[5 * step + k] = d3[k];
        }
    }
}

ALWAYS void transform_delta(int m, const float *pixels[OUT][OUT], int filters, float *out)
{
    const int n = m + 2;

    for (int f = 0; f < filters; f += LANES) {
        float t[SIDE][OUT][LANES]; /* by row of the products, then column of dy */

        for (int j = 0; j < m; ++j)
            transform_deltas(m, pixels[0][j] + f, pixels[1][j] + f, pixels[2][j] + f,
                             pixels[3][j] + f, t[0][j], OUT * LANES);
        for (int i = 0; i < n; ++i)
            transform_deltas(m, t[i][0], t[i][1], t[i][2], t[i][3],
                             out + (size_t)(i * n) * (size_t)filters + f, (size_t)filters);
    }
}

VECTORIZE
void winograd_transform_delta(int m, const float *pixels[OUT][OUT], int filters, float *out)
{
    if (m == 2)
        transform_delta(2, pixels, filters, out);
    else
        transform_delta(4, pixels, filters, out);
}

/* ---- output ---- */

/* Transform a line of m + 2 products, `step` floats apart, to m pixels, `out_step` floats apart. */
ALWAYS void transform_products(int m, const float *restrict p, size_t step, float *restrict out,
                               size_t out_step)
{
    for (size_t k = 0; k < LANES; ++k) {
        const float sum = p[step + k] + p[2 * step + k], rest = p[step + k] - p[2 * step + k];

        if (m == 2) {
            out[k] = p[k] + sum;
            out[out_step + k] = rest + p[3 * step + k];
        } else {
            const float sum_b = p[3 * step + k] + p[4 * step + k];
            const float rest_b = p[3 * step + k] - p[4 * step + k];

            out[k] = p[k] + sum + sum_b;
            out[out_step + k] = A * rest + B * rest_b;
            out[2 * out_step + k] = AA * sum + BB * sum_b;
            out[3 * out_step + k] = A * AA * rest + B * BB * rest_b + p[5 * step + k];
        }
    }
}

ALWAYS void transform_output(int m, float *products, int filters)
{
    const int n = m + 2;
    const size_t step = (size_t)filters;

    for (int f = 0; f < filters; f += LANES) {
        float t[4][SIDE][LANES]; /* by row of the output, then column of the products */

        for (int j = 0; j < n; ++j)
            transform_products(m, products + (size_t)j * step + f, (size_t)n * step, t[0][j],
                               SIDE * LANES);
        for (int i = 0; i < m; ++i)
            transform_products(m, t[i][0], LANES, products + (size_t)(i * m) * step + f, step);
    }
}

VECTORIZE
void winograd_transform_output(int m, float *products, int filters)
{
    if (m == 2)
        transform_output(2, products, filters);
    else
        transform_output(4, products, filters);
}
