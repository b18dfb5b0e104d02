/* bench/bench.h: times steps on random data, in three kinds that take turns, so that a machine
 * which slows down slows all of them:
 *
 *   local    forward, backward and update, no communication
 *   wire     a step's communication and nothing else
 *   step     all of it, as training does it
 *
 * and the CPU time of communication, taken while a rank sleeps between polls instead of spinning.
 */
#ifndef DDP_BENCH_BENCH_H
#define DDP_BENCH_BENCH_H

#include "base/status.h"
#include "comm/group.h"
#include "glue/network.h"
#include "trainer/trainer.h"

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

/* What is timed. */
typedef struct ddp_bench_config {
    ddp_group *group;
    ddp_trainer *trainer; /* attached to net, whose learning rate becomes 0 */
    network *net;
    ddp_network_shape shape; /* of net */
    const char *cfg;         /* its name */
    int batches;             /* that make one update */
    int steps;               /* at least 1 */
    const char *devices;     /* "CPU", "GPU NVIDIA H200" */
    int fp32;                /* GPUs compute without TF32 */
    int bf16;                /* ... in bf16 what can */
    int exact, deterministic, overlap;
    const char *wire;   /* how gradients travel, for people; NULL: as float32 */
    const char *replay; /* the profile by which layers sleep; NULL: they compute */
    FILE *trace;        /* of rank 0, for one step of all ranks (core/trace.h); NULL: none */
    int draw;           /* the same on all ranks: run a step for it */
} ddp_bench_config;

typedef struct ddp_bench_result {
    const ddp_bench_config *config;
    const char *transport;
    const char *precision; /* of convolutions: "fp32", "TF32" or "bf16" */
    int on_host;           /* computed on CPUs */
    int ranks;
    int batch; /* images of an update, all ranks together */
    double gradient_mb;
    double summed_mb; /* of that, or in its place: what sums have, 4 bytes a number */
    size_t buckets;
    size_t hidden; /* buckets of the step that was drawn whose sums had ended when backward did */
    ddp_sample *samples;
    size_t sample_count;
    int counted;          /* the next two are known: not of NCCL */
    uint64_t messages;    /* that a step's sums send, of the rank that sends most */
    double inter_host_mb; /* that leave a host in a step, of the one that most leave */
    double cpu_s;         /* CPU time that communication alone takes on this rank */
    double limit_s; /* max(local step, communication alone); on CPUs with cpu_s on the first */
    double step_s;  /* median step with communication */
    double local_s; /* and without */
} ddp_bench_result;

/* Time steps; every rank calls it, and blocks. config must outlive *out, which is set in any case;
 * release it. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_bench_run(ddp_bench_result *out, const ddp_bench_config *config,
                         ddp_error *err) DDP_MUST_CHECK;
void ddp_bench_release(ddp_bench_result *r);

void ddp_bench_print(FILE *out, const ddp_bench_result *r);
void ddp_bench_print_json(FILE *out, const ddp_bench_result *r);

#endif
