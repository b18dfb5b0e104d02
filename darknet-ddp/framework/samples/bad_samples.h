/* samples/bad_samples.h: pictures and labels that cannot be read in mid-run, and what is trained
 * with in their place.
 *
 * A line of the training list that cannot be read is known as bad from then on. Where it was drawn,
 * another line is loaded, by a rule that knows the seed and the line alone: so every rank finds the
 * same, whether it has met that line before or not, and so does a run that is resumed. A rank
 * counts the samples that have something else in their place. A sample that ends the run needs no
 * other line: it is blank, no pixel set and no object, and nothing is learnt from it.
 *
 * Threads that load call found, instead and loaded; the training thread the others.
 *
 * A loader thread that cannot read a sample comes back to unreadable (load_sample in data.c), which
 * notes the line in samples/bad_samples.c, and loads the sample again: choose then gives another
 * line. The number of a step's samples that end the run is summed over ranks during the step's
 * first forward pass, and all ranks end before its first backward pass, with the network as it was
 * (trainer/trainer_bad_samples.c): all that cannot be read where the run is to end for one, and
 * those for which no other can be read, either. Where some are allowed, their count travels with
 * the loss (judge_replaced in trainer/plugin.c).
 */
#ifndef DDP_SAMPLES_BAD_SAMPLES_H
#define DDP_SAMPLES_BAD_SAMPLES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_bad_samples ddp_bad_samples;

/* *out is set on success. one_ends: the first sample that cannot be read ends the run. Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_bad_samples_open(ddp_bad_samples **out, uint64_t seed, int one_ends,
                                ddp_error *err) DDP_MUST_CHECK;
void ddp_bad_samples_close(ddp_bad_samples *b); /* NULL is allowed */

/* The run's seed, once it is known, and its training list of n lines, which must outlive b. */
void ddp_bad_samples_begin(ddp_bad_samples *b, uint64_t seed);
void ddp_bad_samples_list(ddp_bad_samples *b, char *const *paths, size_t n);

/* The file that the list is read from, which must outlive b: sentences name it. */
void ddp_bad_samples_file(ddp_bad_samples *b, const char *file);

/* The line to load where this one of n was drawn: mostly itself. Any thread. */
size_t ddp_bad_samples_instead(ddp_bad_samples *b, size_t line, size_t n);

/* What a thread does where it cannot read a sample: end the program, load the sample again, or take
 * a blank one. As train_plugin.unreadable in darknet.h has it. */
enum { DDP_BAD_SAMPLE_END, DDP_BAD_SAMPLE_AGAIN, DDP_BAD_SAMPLE_BLANK };

/* The calling thread cannot read this line's picture, or its labels, because of that. Returns a
 * sentence to say if it was not known before, for the caller to free. *next: one of the above; to
 * end where path is none of the list, or can_be_blank is 0 and no line is left, or many in a row
 * could not be read. Any thread. */
char *ddp_bad_samples_found(ddp_bad_samples *b, const char *path, const char *why, int can_be_blank,
                            int *next);

/* The calling thread has loaded this sample. Any thread. */
void ddp_bad_samples_loaded(ddp_bad_samples *b, size_t sample);

/* How many samples of this rank with numbers below `images` end the run. */
size_t ddp_bad_samples_ending(ddp_bad_samples *b, size_t images);

/* How many samples of this rank with numbers below `images` have something in their place. They are
 * then forgotten; others, which were loaded ahead, are not. */
size_t ddp_bad_samples_count(ddp_bad_samples *b, size_t images);

/* Sentences about the bad lines that this rank has met, a newline behind each, in the order of the
 * list; cut at size. Returns how many there are. */
size_t ddp_bad_samples_describe(ddp_bad_samples *b, char *out, size_t size);

#endif
