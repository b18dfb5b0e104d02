/* A network whose gradients are compressed (algorithms/compression.h), and the definition of what
 * must come of it, computed for all ranks in one place, in double and word by word. A compression's
 * own test has its definition, in a struct compressed_net, and checks it by compressed_checks.h.
 *
 * A rank is a thread of a unit test or a process of a test on a GPU: struct rank has its group, and
 * the device may be either. */
#ifndef DDP_TESTS_UNIT_COMPRESSED_H
#define DDP_TESTS_UNIT_COMPRESSED_H

#include "algorithms/compressor.h"
#include "core/reducer.h"
#include "options/options.h"
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

struct compressed;
struct compressed_model;

/* What is trained. */
struct compressed_net {
    ddp_options options;
    int layers;
    size_t params;
    struct compressed_shape shapes[COMPRESSED_PARAMS];
    int unused; /* this layer runs in no even step */
    int whole;  /* gradients are whole numbers, so that there are equal ones and sums are exact */
    double tolerance;
    /* What the model begins with besides zero; NULL: nothing. Of a step, what becomes of parameter
     * p, which is compressed: the sum, and errors. */
    void (*begin)(struct compressed_model *m, const struct compressed *c);
    void (*define)(struct compressed_model *m, const struct compressed_net *net, int step,
                   size_t p);
};

/* So many reducers' configs, without a plug, that must make no difference. */
enum { COMPRESSED_CONFIGS = 4 };
extern const ddp_reducer_config compressed_configs[COMPRESSED_CONFIGS];

size_t compressed_count(const struct compressed_net *net, size_t p);
int compressed_runs(const struct compressed_net *net, int layer, int step);

/* What a rank adds to element i of parameter p in a step. */
float compressed_gradient(const struct compressed_net *net, int rank, int step, size_t p, size_t i);

/* ---- a rank's ---- */

struct compressed {
    const struct compressed_net *net;
    ddp_param_table table;
    ddp_param params[COMPRESSED_PARAMS];
    float value;
    float *gradients[COMPRESSED_PARAMS]; /* where they are now, of the device */
    float *memory[COMPRESSED_PARAMS], *source[COMPRESSED_PARAMS];
    ddp_state *state;
    void *self;           /* of ddp_algorithm_compressor */
    ddp_reducer *reducer; /* NULL at first */
};

/* What the algorithm keeps of a parameter, in host memory: this rank's error, and what is the same
 * on all ranks; NULL: nothing. */
struct compressed_memory {
    float *error, *q;
};

struct compressed_memory compressed_memory(const struct compressed *c, size_t p);

/* Its array of that kind, by the number that core/state.h has; below 0: none. */
int compressed_array(const struct compressed *c, ddp_state_kind kind);

/* The table and the algorithm, which is not attached. Returns 0, with a note of what is wrong, and
 * with nothing to close. */
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

/* Host memory of what is kept is as of now; results[0..COMPRESSED_RESULTS) has, at
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

/* Element i of a rank's M of parameter p: its gradient and its error. */
double compressed_m(const struct compressed_model *m, const struct compressed_net *net, int rank,
                    int step, size_t p, size_t i);

/* Steps of a run that begins anew, each compared with the definition. results as of
 * compressed_keep, after the last one. */
void compressed_take_steps(struct rank *me, const struct compressed_net *net, ddp_device *d,
                           const ddp_reducer_config *config, int leave_out,
                           struct compressed_model *model, float *results);

#endif
