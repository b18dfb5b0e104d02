#include "layers/onednn/convolution.h"

#ifdef DNNL
#include "layers/onednn/handle.h"
#include "utils.h"

#include <stdlib.h>
#include <string.h>

/* All handles of the process. A shape that oneDNN lacks has one, too, without a forward pass. */
static convolution *handles;
static pthread_mutex_t handles_mutex = PTHREAD_MUTEX_INITIALIZER;

static int is_same(const convolution_shape *a, const convolution_shape *b)
{
    return a->images == b->images && a->channels == b->channels && a->height == b->height
           && a->width == b->width && a->filters == b->filters && a->size == b->size
           && a->stride_x == b->stride_x && a->stride_y == b->stride_y && a->pad == b->pad
           && a->dilation == b->dilation && a->groups == b->groups && a->bf16 == b->bf16
           && a->has_bias == b->has_bias && a->activation == b->activation && a->sum == b->sum;
}

static convolution *find(const convolution_shape *shape)
{
    convolution *c;

    for (c = handles; c && !is_same(&c->shape, shape); c = c->next)
        ;
    return c;
}

static convolution *make(const convolution_shape *shape)
{
    void *memory = NULL;
    convolution *c;

    /* Not by malloc: what that gives is freed if a model is refused (library/guard.h). */
    if (posix_memalign(&memory, 64, sizeof *c))
        malloc_error();
    c = memset(memory, 0, sizeof *c);
    if (pthread_mutex_init(&c->mutex, NULL))
        malloc_error();
    c->shape = *shape;
    (void)onednn_make_pass(c, CONVOLUTION_FORWARD, &c->forward);
    c->next = handles;
    handles = c;
    return c;
}

convolution *convolution_of(const convolution_shape *shape)
{
    convolution *c;

    if (shape->bf16 && !convolution_has_bf16())
        return NULL;
    (void)pthread_mutex_lock(&handles_mutex);
    c = find(shape);
    if (!c)
        c = make(shape);
    (void)pthread_mutex_unlock(&handles_mutex);
    return c->forward.primitive ? c : NULL;
}
#else
convolution *convolution_of(const convolution_shape *shape)
{
    (void)shape;
    return NULL;
}
#endif
