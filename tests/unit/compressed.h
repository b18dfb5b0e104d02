/* A network whose gradients are compressed (core/compressor.h), and the definition of what must
 * come of it, computed for all ranks in one place, in double and word by word.
 *
 * A rank is a thread of a unit test or a process of a test on a GPU: struct rank has its group, and
 * the device may be either. */
#ifndef DDP_TESTS_UNIT_COMPRESSED_H
#define DDP_TESTS_UNIT_COMPRESSED_H

#include "core/feedback.h"
#include "core/reducer.h"
#include "ranks.h"

enum {
    COMPRESSED_RANKS = 4, /* at most, and so on */
    COMPRESSED_PARAMS = 7,
    COMPRESSED_LARGEST = 40 * 100,
    COMPRESSED_KINDS = 3, /* what a run comes to: gradients, errors, Q */
    COMPRESSED_RESULTS = COMPRESSED_KINDS * COMPRESSED_PARAMS * COMPRESSED_LARGEST
};

/* A parameter. rows is 0 for a vector. */
struct compressed_shape {
    int layer;
    size_t rows, columns;
    int is_compressed; /* what must be found */
};

/* What is trained. */
struct compressed_net {
    ddp_compress_config config;
    int layers;
    size_t params;
    struct compressed_shape shapes[COMPRESSED_PARAMS];
    int unused; /* this layer runs in no even step */
    int whole;  /* gradients are whole numbers, so that there are equal ones and sums are exact */
    double tolerance;
};

extern const struct compressed_net compressed_powersgd, compressed_top_k;

/* So many reducers' configs, with feedback NULL, that must make no difference. */
enum { COMPRESSED_CONFIGS = 5 };
extern const ddp_reducer_config compressed_configs[COMPRESSED_CONFIGS];

size_t compressed_count(const struct compressed_net *net, size_t p);
int compressed_runs(const struct compressed_net *net, int layer, int step);

/* What a rank adds to element i of parameter p in a step. */
float compressed_gradient(const struct compressed_net *net, int rank, int step, size_t p, size_t i);

/* ---- a rank's ---- */

struct compressed {
    const struct compressed_net *net;
    ddp_table table;
    ddp_param params[COMPRESSED_PARAMS];
    float value;
    float *gradients[COMPRESSED_PARAMS]; /* where they are now, of the device */
    float *memory[COMPRESSED_PARAMS], *source[COMPRESSED_PARAMS];
    ddp_feedback *feedback;
    ddp_reducer *reducer; /* NULL at first */
};

/* The table and feedback. Returns 0, with a note of what is wrong, and with nothing to close. */
int compressed_open(struct compressed *c, const struct compressed_net *net, ddp_device *d,
                    struct rank *me);

/* The same with a reducer. */
int compressed_open_reducer(struct compressed *c, const struct compressed_net *net, ddp_device *d,
                            const ddp_reducer_config *config, struct rank *me);
void compressed_close(struct compressed *c);

/* A syncing pass of the step. leave_out: ranks know which layer does not run. */
void compressed_backward(struct compressed *c, struct rank *me, int step, int leave_out);

/* Wait for every layer's sums, and see which ran. */
void compressed_wait(struct compressed *c, struct rank *me, int step);

/* Gradients are zero, as behind an update. */
void compressed_clear(struct compressed *c);

/* Host memory of the feedback is as of now; results[0..COMPRESSED_RESULTS) has, at
 * compressed_result(kind, p), what the rank has come to. */
void compressed_keep(struct compressed *c, float *results);
size_t compressed_result(int kind, size_t p);

/* ---- the definition ---- */

struct compressed_model {
    int size; /* ranks */
    double error[COMPRESSED_RANKS][COMPRESSED_PARAMS][COMPRESSED_LARGEST];
    double q[COMPRESSED_PARAMS][COMPRESSED_LARGEST]; /* q[j * rank + k], orthonormal columns */
    double sum[COMPRESSED_PARAMS][COMPRESSED_LARGEST];
};

/* Steps of a run that begins anew, each compared with the definition. results as of
 * compressed_keep, after the last one. */
void compressed_take_steps(struct rank *me, const struct compressed_net *net, ddp_device *d,
                           const ddp_reducer_config *config, int leave_out,
                           struct compressed_model *model, float *results);

#endif
