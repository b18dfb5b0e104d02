#include "layers/images/pinned_batch.h"
#include "cuda.h"
#include "utils.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, LINE = 64 };

typedef struct piece {
    float *x;
    size_t room; // floats
    int taken;
    struct piece *next;
} piece;

static piece *pieces = 0;
static pthread_mutex_t pieces_mutex = PTHREAD_MUTEX_INITIALIZER;

struct gathered {
    pthread_mutex_t mutex; // of X and y, which stay once they are there
    int rows;
    float *X, *y;
};

static void make_room(piece *p, size_t n)
{
    void *x = 0;
#ifdef GPU
    if (gpu_index >= 0)
        check_error(cudaSetDevice(gpu_index)); // a thread begins with the first one
    cuda_unpin_array(p->x);
#endif
    free(p->x);
    if (posix_memalign(&x, PAGE, n * sizeof(float)))
        malloc_error();
    p->x = x;
    p->room = n;
#ifdef GPU
    cuda_pin_array(p->x, n);
#endif
}

// With room, or else any that is free.
static piece *free_piece(size_t n)
{
    piece *p, *found = 0;
    for (p = pieces; p; p = p->next) {
        if (!p->taken && (!found || p->room >= n))
            found = p;
    }
    if (found)
        return found;
    p = calloc(1, sizeof(piece));
    p->next = pieces;
    pieces = p;
    return p;
}

static float *take_batch_memory(size_t n)
{
    pthread_mutex_lock(&pieces_mutex);
    piece *p = free_piece(n);
    p->taken = 1;
    if (p->room < n)
        make_room(p, n);
    pthread_mutex_unlock(&pieces_mutex);
    return p->x;
}

void give_batch_memory(float *memory)
{
    piece *p;
    pthread_mutex_lock(&pieces_mutex);
    for (p = pieces; p; p = p->next) {
        if (p->x && p->x == memory)
            p->taken = 0;
    }
    pthread_mutex_unlock(&pieces_mutex);
}

gathered *gather_begin(int rows)
{
    gathered *g = calloc(1, sizeof(gathered));
    pthread_mutex_init(&g->mutex, 0);
    g->rows = rows;
    return g;
}

static void move_rows(matrix m, float *to)
{
    int i;
    for (i = 0; i < m.rows; ++i) {
        float *place = to + (size_t)i * (size_t)m.cols;
        memcpy(place, m.vals[i], (size_t)m.cols * sizeof(float));
        free(m.vals[i]);
        m.vals[i] = place;
    }
}

static size_t whole_lines(size_t n)
{
    size_t line = LINE / sizeof(float);
    return (n + line - 1) / line * line;
}

void gather_rows(gathered *g, int first, data d)
{
    if (!d.X.rows)
        return;
    pthread_mutex_lock(&g->mutex);
    if (!g->X) {
        size_t rows = (size_t)g->rows, pictures = whole_lines(rows * (size_t)d.X.cols);
        g->X = take_batch_memory(pictures + rows * (size_t)d.y.cols);
        g->y = g->X + pictures;
    }
    pthread_mutex_unlock(&g->mutex);
    move_rows(d.X, g->X + (size_t)first * (size_t)d.X.cols);
    move_rows(d.y, g->y + (size_t)first * (size_t)d.y.cols);
}

void gather_end(gathered *g, data *d)
{
    d->shallow = 1; // its rows are not freed one by one
    d->memory = g->X;
    pthread_mutex_destroy(&g->mutex);
    free(g);
}

float *batch_rows(matrix m, int first, int n, float *copy)
{
    int i;
    float *x = m.vals[first];
    int in_place = (uintptr_t)x % LINE == 0;
    for (i = 1; i < n && in_place; ++i)
        in_place = m.vals[first + i] == x + (size_t)i * (size_t)m.cols;
    if (in_place)
        return x;
    for (i = 0; i < n; ++i)
        memcpy(copy + (size_t)i * (size_t)m.cols, m.vals[first + i],
               (size_t)m.cols * sizeof(float));
    return copy;
}
