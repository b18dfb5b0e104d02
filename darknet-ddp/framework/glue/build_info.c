#include "glue/build_info.h"

#include "glue/sources.h"
#include "layers/images/decode.h"
#include "layers/onednn.h"

#include <stdio.h>

#ifdef DDP_WITH_CUDA
#include <cuda_runtime_api.h>
#include <cudnn.h>
#endif

static void describe_products(char *out, size_t size)
{
    char version[64];

    onednn_describe(version, sizeof version);
    (void)snprintf(out, size, "matrix products: %s",
                   version[0] ? version : "Darknet's own loops, no oneDNN");
}

#ifdef DDP_WITH_CUDA
static void describe_gpu_libraries(char *out, size_t size)
{
    int runtime = 0;

    (void)cudaRuntimeGetVersion(&runtime);
    (void)snprintf(out, size, "built for GPUs: CUDA %d, cuDNN %zu", runtime, cudnnGetVersion());
}
#else
static void describe_gpu_libraries(char *out, size_t size)
{
    (void)snprintf(out, size, "built for CPUs");
}
#endif

char *ddp_build_describe(void)
{
    char products[96], libraries[96], *text;

    describe_products(products, sizeof products);
    describe_gpu_libraries(libraries, sizeof libraries);
    if (asprintf(&text,
                 "darknet-ddp %s, source %s\n"
                 "Darknet's source with its patches: %s\n"
                 "compiler %s\n"
                 "%s\n"
                 "%s\n",
                 DDP_VERSION, ddp_source_checksum, ddp_darknet_checksum, ddp_compiler, products,
                 libraries)
        < 0)
        return NULL;
    return text;
}

/* List the CPU's instruction sets by which the C library's mathematics and oneDNN choose code. */
static void describe_instructions(char *out, size_t size)
{
    out[0] = '\0';
#if defined __x86_64__ || defined __i386__
    (void)snprintf(out, size, "%s%s%s%s", __builtin_cpu_supports("avx") ? " avx" : "",
                   __builtin_cpu_supports("fma") ? " fma" : "",
                   __builtin_cpu_supports("avx2") ? " avx2" : "",
                   __builtin_cpu_supports("avx512f") ? " avx512f" : "");
#else
    (void)size;
#endif
}

void ddp_build_describe_device(const char *device, char *out, size_t size)
{
    char instructions[64];

    describe_instructions(instructions, sizeof instructions);
    (void)snprintf(out, size,
                   "computes on %.200s; the processor's instructions:%s, oneDNN's choice %d\n"
                   "decodes pictures by %s\n",
                   device, instructions[0] ? instructions : " not known", onednn_instructions(),
                   decoders());
}
