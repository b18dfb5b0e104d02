#include "layers/onednn/handle.h"

#ifdef DNNL
#include "utils.h"

#include <stdlib.h>
#include <time.h>

/* ---- how long each way takes ---- */

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double time_way(convolution *c, convolution_way way, const void *x, const void *dy,
                       float *gradients, void *scratch)
{
    double best = 0;

    for (int i = 0; i < 4; ++i) { /* the first one warms up */
        const double begin = seconds();

        onednn_compute_gradients(c, way, x, dy, gradients, scratch);
        if (i == 1 || (i > 1 && seconds() - begin < best))
            best = seconds() - begin;
    }
    return best;
}

static convolution_way faster_way(convolution *c, const void *x, const void *dy, void *scratch)
{
    const convolution_shape *s = &c->shape;
    float *gradients;
    double primitive, product;

    if (!onednn_product(c))
        return CONVOLUTION_PRIMITIVE;
    gradients =
        calloc((size_t)s->filters * (size_t)(s->channels * s->size * s->size), sizeof *gradients);
    primitive = time_way(c, CONVOLUTION_PRIMITIVE, x, dy, gradients, scratch);
    product = time_way(c, CONVOLUTION_PRODUCT, x, dy, gradients, scratch);
    free(gradients);
    return product < primitive ? CONVOLUTION_PRODUCT : CONVOLUTION_PRIMITIVE;
}

convolution_way convolution_measure_way(convolution *c, const void *x, const void *dy,
                                        void *scratch)
{
    convolution_way way;

    (void)pthread_mutex_lock(&c->mutex);
    way = c->way;
    (void)pthread_mutex_unlock(&c->mutex);
    if (way == CONVOLUTION_MEASURED) {
        way = faster_way(c, x, dy, scratch);
        convolution_set_way(c, way);
    }
    return way;
}

void convolution_set_way(convolution *c, convolution_way way)
{
    if (way == CONVOLUTION_PRODUCT && !onednn_product(c))
        way = CONVOLUTION_PRIMITIVE;
    (void)pthread_mutex_lock(&c->mutex);
    c->way = way;
    (void)pthread_mutex_unlock(&c->mutex);
}
#endif
