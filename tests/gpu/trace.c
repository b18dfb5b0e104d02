/* Loaded into a program by CUDA itself (CUDA_INJECTION64_PATH): writes the name, stream, start and
 * end of every kernel that ran on the GPU, in nanoseconds, to the file $GPU_TRACE and the rank's
 * number, a line each. */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 4 << 20 };

int InitializeInjection(void);

static FILE *out;

static void must(CUptiResult status, const char *call)
{
    if (status == CUPTI_SUCCESS)
        return;
    (void)fprintf(stderr, "%s failed with status %d\n", call, (int)status);
    exit(1);
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid)
{
    CUpti_Activity *record = NULL;

    (void)context;
    (void)stream;
    (void)size;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        const CUpti_ActivityKernel10 *k = (const void *)record;

        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            (void)fprintf(out, "%u %llu %llu %s\n", k->streamId, (unsigned long long)k->start,
                          (unsigned long long)k->end, k->name);
    }
    free(buffer);
}

static void finish(void)
{
    (void)cuptiActivityFlushAll(1);
    (void)fclose(out);
}

int InitializeInjection(void)
{
    const char *path = getenv("GPU_TRACE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    char name[4096];

    (void)snprintf(name, sizeof name, "%s%s", path ? path : "gpu-trace.", rank ? rank : "0");
    out = fopen(name, "w");
    if (!out)
        return 0;
    must(cuptiActivityRegisterCallbacks(give_buffer, take_buffer),
         "cuptiActivityRegisterCallbacks");
    must(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
    return atexit(finish) == 0;
}
