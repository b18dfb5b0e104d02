/* samples/sample_choice.h: which line of the training list a sample of the run is
 * (samples/sampler.h), and what stands in for a line that cannot be read (samples/bad_samples.h).
 */
#ifndef DDP_SAMPLES_SAMPLE_CHOICE_H
#define DDP_SAMPLES_SAMPLE_CHOICE_H

#include "samples/bad_samples.h"

typedef struct ddp_sample_choice {
    uint64_t seed; /* of the run */
    int replace;   /* draw with replacement */
    ddp_bad_samples *bad_data;
    char *const *paths; /* the list's lines, path_count of them; NULL: there is no list */
    size_t path_count;
} ddp_sample_choice;

/* The line of a list of n that this sample is. Any thread. */
size_t ddp_sample_choice_line(const ddp_sample_choice *c, size_t sample, size_t n);

/* Its path in c->paths, and *line, from 1. NULL where there is no list. */
const char *ddp_sample_choice_path(const ddp_sample_choice *c, size_t sample, size_t *line);

#endif
