/* cli/bench.h: timing one network on the ranks of a session. */
#ifndef DDP_CLI_BENCH_H
#define DDP_CLI_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Seconds of one quantity over the timed steps. */
typedef struct ddp_sample {
    const char *name;
    const char *meaning;
    double *seconds; /* count of them, sorted by ddp_sample_sort */
    size_t count;
} ddp_sample;

void ddp_sample_sort(ddp_sample *s);
/* Quantile q, 0 to 1, of a sorted sample. */
double ddp_sample_quantile(const ddp_sample *s, double q);

typedef struct ddp_bench_result {
    const char *cfg;
    const char *transport;
    const char *devices;   /* "CPU", "GPU NVIDIA H200" */
    const char *precision; /* of convolutions: "fp32" or "TF32" */
    int on_host;           /* computed on CPUs */
    int exact;             /* -ddp_exact */
    int deterministic;     /* on GPUs: only deterministic algorithms */
    int overlap;           /* -ddp_overlap */
    int ranks;
    int batch; /* images a step, all ranks together */
    int width, height;
    double gradient_mb;
    size_t buckets;
    const ddp_sample *samples;
    size_t sample_count;
    double cpu_s;   /* CPU time that communication alone takes on this rank */
    double limit_s; /* max(local step, communication alone); on CPUs with cpu_s on the first */
    double step_s;  /* median step with communication */
    double local_s; /* and without */
} ddp_bench_result;

void ddp_bench_print(FILE *out, const ddp_bench_result *r);
void ddp_bench_print_json(FILE *out, const ddp_bench_result *r);

#endif
