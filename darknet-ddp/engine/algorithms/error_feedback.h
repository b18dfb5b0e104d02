/* algorithms/error_feedback.h: what all compressions have in common that keep what they do not send
 * (Karimireddy et al. 2019, "Error Feedback Fixes SignSGD and other Gradient Compression Schemes").
 *
 * Of each weight matrix that is compressed a rank keeps its own error, what its gradients had and
 * the others were not told, which is added to its next gradient: M = g + e. Parameters that are no
 * matrices, or of which compressing would not send less than half, are summed as they are. Errors
 * are saved, and on another number of ranks added up (core/state.h): gradients are sums over ranks,
 * so the sum of all errors is what counts, and it stays.
 *
 * The memory of gradients has M while sums travel. Nothing else changes before a parameter has
 * landed: a step that is dropped leaves errors as they were. A rank that is alone compresses
 * nothing, and keeps nothing. */
#ifndef DDP_ALGORITHMS_ERROR_FEEDBACK_H
#define DDP_ALGORITHMS_ERROR_FEEDBACK_H

#include "algorithms/algorithm.h"
#include "core/sum_plug.h"

/* Numbers that a rank sends of a matrix in round 0 or 1, as the options have it. */
typedef size_t ddp_matrix_numbers(const ddp_options *o, size_t rows, size_t columns, int round);

/* What a parameter is to compression. */
typedef struct ddp_matrix {
    size_t rows, columns; /* rows is 0 where it is summed as it is */
    size_t count;         /* elements */
    size_t numbers[DDP_SUM_ROUNDS];
} ddp_matrix;

/* The state of such an algorithm begins with this. */
typedef struct ddp_error_feedback {
    const ddp_options *options;
    ddp_group *group;
    ddp_state *state;
    size_t errors;           /* an array of state */
    const ddp_matrix *parts; /* of each parameter */
    size_t param_count;
    ddp_reducer *reducer; /* while attached */
} ddp_error_feedback;

/* Of a parameter, trained or not. */
ddp_matrix ddp_matrix_of(const ddp_options *o, const ddp_param *param, ddp_matrix_numbers *numbers);

/* Look at of->table, and declare errors. Fails with DDP_ERR_NOMEM; close it in any case. */
ddp_status ddp_error_feedback_open(ddp_error_feedback *f, const ddp_algorithm_of *of,
                                   ddp_matrix_numbers *numbers, ddp_error *err) DDP_MUST_CHECK;
void ddp_error_feedback_close(ddp_error_feedback *f);

/* This rank's error of a parameter that is compressed, of the device. */
float *ddp_error_feedback_error(const ddp_error_feedback *f, size_t param);

/* A member of ddp_sum_plug, of ddp_algorithm, and two of its words: self begins with *f. */
size_t ddp_error_feedback_count(const void *self, size_t param, int round);
ddp_status ddp_error_feedback_attach(void *self, const ddp_attached *a, ddp_error *err);
void ddp_error_feedback_print_resumed(int was, int now);

/* The line of the banner: gradients travel by `how`. */
void ddp_error_feedback_print(const ddp_error_feedback *f, FILE *out, const char *how);

#endif
