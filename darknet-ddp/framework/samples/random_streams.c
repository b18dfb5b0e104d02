#include "samples/random_streams.h"

#include "base/random.h"
#ifdef GPU
#include "samples/random_streams_cuda.h"
#endif

static uint64_t run_seed;
static _Thread_local ddp_random stream;
static _Thread_local int named;

void ddp_random_streams_open(uint64_t seed)
{
    run_seed = seed;
    named = 0;
}

void ddp_random_stream_use(draw_purpose purpose, int layer, size_t number)
{
    ddp_random_init(&stream, run_seed, ddp_random_topic((unsigned)purpose, layer), number);
    named = 1;
}

unsigned ddp_draw(void)
{
    if (!named) {
        ddp_random_init(&stream, run_seed, ddp_random_topic(DDP_PURPOSE_NONE, 0), 0);
        named = 1;
    }
    return ddp_random_next(&stream);
}

#ifdef GPU
void ddp_draw_gpu(float *x_gpu, size_t each, int samples, int layer, size_t first)
{
    cudaError_t rc = ddp_random_streams_cuda(x_gpu, each, (size_t)samples, run_seed,
                                             ddp_random_topic((unsigned)DRAW_LAYER, layer), first);

    if (rc != cudaSuccess)
        fatal("CUDA: random numbers for layer %d failed: %s (%d)", layer, cudaGetErrorString(rc),
              (int)rc);
}
#endif
