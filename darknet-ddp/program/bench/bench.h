/* bench/bench.h: times of steps on random data. Three kinds take turns, so that a machine which
 * slows down slows all of them:
 *
 *   local    forward, backward and update, no communication
 *   wire     a step's communication and nothing else
 *   step     all of it, as training does it
 *
 * The CPU time of communication is measured while a rank sleeps between polls instead of spinning.
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
/* Return quantile q, 0 to 1, of a sorted sample; 0 if it is empty. */
double ddp_sample_quantile(const ddp_sample *s, double q);

/* The network to time, and how. */
typedef struct ddp_bench_config {
    ddp_group *group;
    ddp_trainer *trainer; /* attached to net, whose learning rate becomes 0 */
    network *net;
    ddp_network_shape shape; /* shape of net */
    const char *cfg;         /* its name */
    int batches;             /* batches of the cfg that make one update */
    int steps;               /* at least 1 */
    const char *devices;     /* "CPU", "GPU NVIDIA H200" */
    int fp32;                /* 1: GPUs compute without TF32 */
    int bf16;                /* 1: GPUs compute in bf16 what they can */
    int exact, deterministic, overlap;
    const char *wire;   /* how gradients travel, for people; NULL: as float32 */
    const char *replay; /* name of the profile by which layers sleep; NULL: they compute */
    FILE *trace; /* gets a trace of one step of all ranks (core/trace.h), on rank 0; NULL elsewhere,
                    or none */
    int draw;    /* 1: run a step for the trace; the same on all ranks */
} ddp_bench_config;

typedef struct ddp_bench_result {
    const ddp_bench_config *config;
    const char *transport;
    const char *precision; /* precision of convolutions: "fp32", "TF32" or "bf16" */
    int on_host;           /* 1: computed on CPUs */
    int ranks;
    int batch; /* images of an update, all ranks together */
    double gradient_mb;
    double summed_mb; /* MB that sums have, of the gradients or in their place, 4 bytes a number */
    size_t buckets;
    size_t hidden; /* buckets of the traced step whose sums had ended when backward did */
    ddp_sample *samples;
    size_t sample_count;
    int counted;          /* 1: the next two are known; not with NCCL */
    uint64_t messages;    /* messages that a step's sums send, of the rank that sends most */
    double inter_host_mb; /* MB that leave a host in a step, of the host that most leave */
    double cpu_s;         /* CPU time that communication alone takes on this rank */
    double
        limit_s;   /* max(local step, communication alone); on CPUs the local step includes cpu_s */
    double step_s; /* median step with communication */
    double local_s; /* median step without communication */
} ddp_bench_result;

/* Time steps. Every rank calls it, and blocks. config must outlive *out, which is set in any case;
 * release it. Fails with DDP_ERR_NOMEM, DDP_ERR_COMM. */
ddp_status ddp_bench_run(ddp_bench_result *out, const ddp_bench_config *config,
                         ddp_error *err) DDP_MUST_CHECK;
void ddp_bench_release(ddp_bench_result *r);

void ddp_bench_print(FILE *out, const ddp_bench_result *r);
void ddp_bench_print_json(FILE *out, const ddp_bench_result *r);

#endif
