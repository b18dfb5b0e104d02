/* A network whose gradients are compressed (algorithms/compression.h), and a definition of what
 * must come of it. The definition is computed for all ranks in one place, in double and word by
 * word. A compression's own test has its definition, in a struct compressed_net, and checks it by
 * compressed_checks.h.
 *
 * A rank is a thread of a unit test or a process of a test on a GPU. struct rank has its group, and
 * the device may be either.
 */
#ifndef DDP_TESTS_UNIT_COMPRESSED_H
#define DDP_TESTS_UNIT_COMPRESSED_H

#include "algorithms/compressor.h"
#include "core/reducer.h"
#include "options/options.h"
#include "ranks.h"

enum {
    COMPRESSED_RANKS = 4, /* largest numbers: of ranks, of parameters, of elements of a parameter */
    COMPRESSED_PARAMS = 7,
    COMPRESSED_LARGEST = 40 * 100,
    COMPRESSED_KINDS = 3, /* results of a run: gradients, errors, Q */
    COMPRESSED_RESULTS = COMPRESSED_KINDS * COMPRESSED_PARAMS * COMPRESSED_LARGEST
};

/* A parameter of a layer: a matrix of rows x columns or, if rows is 0, a vector. */
struct compressed_shape {
    int layer;
    size_t rows, columns;
    int is_compressed; /* 1: the compression must take this parameter */
};

struct compressed;
struct compressed_model;

/* The network, and the definition of its compression. */
struct compressed_net {
    ddp_options options;
    int layers;
    size_t params;
    struct compressed_shape shapes[COMPRESSED_PARAMS];
    int unused; /* index of a layer that does not run in even steps */
    int whole;  /* 1: gradients are whole numbers: some are equal, and their sums are exact */
    double tolerance;
    /* begin: set values of the model that are not zero at first; NULL: all are. define: compute the
     * sum and the ranks' errors of parameter p, which is compressed, in a step. */
    void (*begin)(struct compressed_model *m, const struct compressed *c);
    void (*define)(struct compressed_model *m, const struct compressed_net *net, int step,
                   size_t p);
};

/* Configs of reducers, with which all results must be the same; the plug is not set yet. */
enum { COMPRESSED_CONFIGS = 4 };
extern const ddp_reducer_config compressed_configs[COMPRESSED_CONFIGS];

size_t compressed_count(const struct compressed_net *net, size_t p);
int compressed_runs(const struct compressed_net *net, int layer, int step);

/* Return what a rank adds to element i of parameter p in a step. */
float compressed_gradient(const struct compressed_net *net, int rank, int step, size_t p, size_t i);

/* ---- the network of one rank ---- */

struct compressed {
    const struct compressed_net *net;
    ddp_param_table table;
    ddp_param params[COMPRESSED_PARAMS];
    float value;
    float *gradients[COMPRESSED_PARAMS]; /* present places of gradients, in the device's memory */
    float *memory[COMPRESSED_PARAMS], *source[COMPRESSED_PARAMS];
    ddp_state *state;
    void *self;           /* the compression's state, from ddp_algorithm_compressor */
    ddp_reducer *reducer; /* NULL: none is open */
};

/* Host copies of what the algorithm keeps for a parameter: this rank's error, and Q, the same on
 * all ranks. NULL: it keeps none. */
struct compressed_memory {
    float *error, *q;
};

struct compressed_memory compressed_memory(const struct compressed *c, size_t p);

/* Return c's array of that kind, by its number in core/state.h; below 0: none. */
int compressed_array(const struct compressed *c, ddp_state_kind kind);

/* Open the table and the algorithm, which is not attached. Returns 0, with a note of what is wrong,
 * and with nothing to close. */
int compressed_open(struct compressed *c, const struct compressed_net *net, ddp_device *d,
                    struct rank *me);

/* Open the table, the algorithm and a reducer. Returns 0 as compressed_open does. */
int compressed_open_reducer(struct compressed *c, const struct compressed_net *net, ddp_device *d,
                            const ddp_reducer_config *config, struct rank *me);
void compressed_close(struct compressed *c);

/* Run a syncing pass of the step. drop: 1 if ranks know which layer does not run. */
void compressed_backward(struct compressed *c, struct rank *me, int step, int drop);

/* Wait for every layer's sums, and check which layers ran. */
void compressed_wait(struct compressed *c, struct rank *me, int step);

/* Set gradients to zero, as an update does. */
void compressed_clear(struct compressed *c);

/* Bring what the algorithm keeps to host memory, and write the rank's results to
 * results[0..COMPRESSED_RESULTS), each at compressed_result(kind, p). */
void compressed_keep(struct compressed *c, float *results);
size_t compressed_result(int kind, size_t p);

/* ---- the definition of the compression ---- */

struct compressed_model {
    int size; /* number of ranks */
    double error[COMPRESSED_RANKS][COMPRESSED_PARAMS][COMPRESSED_LARGEST];
    double q[COMPRESSED_PARAMS]
            [COMPRESSED_LARGEST]; /* row j, column k: q[j * rank + k]; orthonormal */
    double sum[COMPRESSED_PARAMS][COMPRESSED_LARGEST];
};

/* Return element i of a rank's M (algorithms/compression.h) of parameter p: its gradient plus its
 * error. */
double compressed_m(const struct compressed_model *m, const struct compressed_net *net, int rank,
                    int step, size_t p, size_t i);

/* Run steps from a new beginning, each compared with the definition. results: as of
 * compressed_keep, after the last one. */
void compressed_take_steps(struct rank *me, const struct compressed_net *net, ddp_device *d,
                           const ddp_reducer_config *config, int drop,
                           struct compressed_model *model, float *results);

#endif
