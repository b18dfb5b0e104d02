#include "glue/bf16.h"

#include "base/is_finite.h"

#include <darknet.h>
#include <layers/bf16/backend.h>
#include <layers/onednn/convolution.h>
#include <malloc.h>
#include <stdlib.h>

int ddp_bf16_runs(const struct layer *l)
{
    return bf16_runs(*l);
}

int ddp_bf16_finite(const struct layer *l, ddp_bf16_what what)
{
    size_t count = (size_t)l->outputs * (size_t)l->batch;
    float *copy = malloc(count * sizeof *copy);
    int finite = 1;

    if (copy) {
        if (what == DDP_BF16_OUTPUT)
            bf16_pull_output(*l, copy);
        else
            bf16_pull_delta(*l, copy);
        finite = ddp_all_finite(copy, count);
    }
    free(copy);
    return finite;
}

int ddp_bf16_count(const network *net, int *all)
{
    int count = 0;

    *all = net->n;
    for (int i = 0; i < net->n; i++)
        count += ddp_bf16_runs(&net->layers[i]);
    return count;
}

void ddp_bf16_use(int on)
{
    /* Large arrays get pages of their own, and leave no holes when a resize replaces them. glibc's
     * own threshold would rise when layers free their float arrays. load_data sets another one
     * later, when the arrays of the largest size have been taken. */
    if (on)
        (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
    bf16_wanted = on;
}

int ddp_bf16_is_used(void)
{
    return bf16_wanted;
}

const char *ddp_bf16_missing(int on_host)
{
#ifdef CUDNN
    if (!on_host)
        return bf16_cuda.missing();
#endif
    return on_host ? bf16_host.missing() : "a build with cuDNN";
}

int ddp_bf16_is_faster(int on_host)
{
    return !ddp_bf16_missing(on_host) && (!on_host || convolution_has_fast_bf16());
}

const char *ddp_bf16_name(void)
{
    return bf16_backend_here()->name();
}
