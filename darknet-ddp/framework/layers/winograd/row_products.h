/* layers/winograd/row_products.h: the matrix products of layers/winograd/rows.c. */
#ifndef LAYERS_WINOGRAD_ROW_PRODUCTS_H
#define LAYERS_WINOGRAD_ROW_PRODUCTS_H

#include <stddef.h>

enum { ROW_PRODUCT_TILES = 12 /* most tiles of a product */ };

/* The factors of a product: for each of three rows of the window, tiles x pairs of channels times
 * pairs x ROW_FILTERS filters. A pair has the bf16 numbers of two channels. */
typedef struct {
    const unsigned *x;       /* [tile][pair] */
    const unsigned *weights; /* [row of the window][pair][filter] */
    size_t row;              /* pairs of x from a row of the window to the next one */
    int tiles, pairs;        /* tiles: at most ROW_PRODUCT_TILES */
} row_product;

/* Write the product's sums over pairs and rows, floats [tile][filter]. In float32, or by the
 * instructions avx512_bf16. */
void row_product_plain(const row_product *p, float *sums);
void row_product_bf16(const row_product *p, float *sums);

#endif
