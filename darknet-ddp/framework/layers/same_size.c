#include "layers/same_size.h"

#include "activations.h"
#include "cuda.h"

void resize_layer_output(layer *l, size_t n)
{
    l->output = resize_cpu_array(l->output, n);
    l->delta = resize_cpu_array(l->delta, n);
#ifdef GPU
    l->output_gpu = cuda_resize_array(l->output_gpu, n);
    l->delta_gpu = cuda_resize_array(l->delta_gpu, n);
#endif
}

/* Resize what a layer of this type keeps for each of the n values, besides output and delta. */
static void resize_kept(layer *l, size_t n)
{
    if (l->type == BATCHNORM)
        l->x = resize_cpu_array(l->x, n);
    if (l->type == L2NORM)
        l->scales = resize_cpu_array(l->scales, n);
    if (l->type == LOGXENT)
        l->loss = resize_cpu_array(l->loss, n);
#ifdef GPU
    if (l->type == BATCHNORM)
        l->x_gpu = cuda_resize_array(l->x_gpu, n);
    if (l->type == L2NORM)
        l->scales_gpu = cuda_resize_array(l->scales_gpu, n);
    if (l->type == LOGXENT)
        l->loss_gpu = cuda_resize_array(l->loss_gpu, n);
#endif
}

static int is_same_size(const layer *l)
{
    int takes_image = l->out_w * l->out_h * l->out_c == l->inputs;

    return takes_image
           && (l->type == ACTIVE || l->type == BATCHNORM || l->type == L2NORM
               || l->type == LOGXENT);
}

int resize_same_size_layer(layer *l, int w, int h)
{
    size_t n;

    if (!is_same_size(l))
        return 0;
    l->w = l->out_w = w;
    l->h = l->out_h = h;
    l->inputs = l->outputs = w * h * l->out_c;
    n = (size_t)l->outputs * (size_t)l->batch;
    resize_layer_output(l, n);
    resize_kept(l, n);
    if (l->type == ACTIVE)
        make_activation_input(l);
    return 1;
}
