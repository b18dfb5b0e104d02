/* samples/bad_samples.h: pictures and labels that cannot be read in mid-run, and the samples
 * trained in their place.
 *
 * A line of the training list that cannot be read is bad from then on. If it is drawn, another line
 * is loaded, by a rule that knows the seed and the line alone. So every rank finds the same line,
 * also one that has not met the bad line before, and so does a resumed run. A rank counts its
 * replaced samples. A sample that ends the run needs no other line: it is blank, no pixel set and
 * no object, and nothing is learnt from it.
 *
 *  1. A loader thread that cannot read a sample calls unreadable (load_sample in data.c), which
 *     comes to ddp_bad_samples_found. It loads the sample again: choose then gives another line.
 *  2. The number of a step's samples that end the run is summed over ranks during the step's first
 *     forward pass. All ranks end before its first backward pass, with the network as it was
 *     (trainer/trainer_bad_samples.c). If one unreadable sample ends the run, all such samples
 *     count; else only those for which no other can be read.
 *  3. If a run may replace samples, the count of replaced ones travels with the loss
 * (judge_replaced in trainer/plugin.c).
 *
 * Any thread may call found, instead and loaded; the training thread calls the others. */
#ifndef DDP_SAMPLES_BAD_SAMPLES_H
#define DDP_SAMPLES_BAD_SAMPLES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_bad_samples ddp_bad_samples;

/* Make an empty record. seed: the run's, until ddp_bad_samples_begin sets another. one_ends: 1 if
 * the first sample that cannot be read ends the run. *out is set on success. Fails with
 * DDP_ERR_NOMEM. */
ddp_status ddp_bad_samples_open(ddp_bad_samples **out, uint64_t seed, int one_ends,
                                ddp_error *err) DDP_MUST_CHECK;
void ddp_bad_samples_close(ddp_bad_samples *b); /* frees b; NULL is allowed */

/* Set the run's seed, by which lines are drawn in place of bad ones. Call before samples are
 * loaded. */
void ddp_bad_samples_begin(ddp_bad_samples *b, uint64_t seed);
/* Set the n lines (paths of pictures) of the training list. Array and strings must outlive b. */
void ddp_bad_samples_list(ddp_bad_samples *b, char *const *paths, size_t n);

/* Set the path of the training list, which sentences name. The string must outlive b. */
void ddp_bad_samples_file(ddp_bad_samples *b, const char *file);

/* Return the line to load if `line` (0 to n - 1) was drawn: `line` itself or, if it is bad,
 * another. n: how many lines the list has. If this is not the n of ddp_bad_samples_list, returns
 * `line`. */
size_t ddp_bad_samples_instead(ddp_bad_samples *b, size_t line, size_t n);

/* Actions of a thread that cannot read a sample: end the program; load the sample again, which
 * gives another line; take a blank sample. Values of darknet.h's train_plugin.unreadable. */
enum { DDP_BAD_SAMPLE_END, DDP_BAD_SAMPLE_AGAIN, DDP_BAD_SAMPLE_BLANK };

/* Note that the calling thread cannot read a line's picture or labels, and why. path: the list's
 * own pointer to the line. *next becomes BLANK if can_be_blank is 1 and the sample ends the run;
 * else AGAIN if another line may be loaded, and END if none may. None may if all lines are bad, 64
 * in a row could not be read, or memory is short. The sample ends the run in these cases, and
 * always with one_ends. If path is not of the list, *next becomes END. Returns a sentence to print,
 * which the caller frees. NULL: the line was known as bad, path is not of the list, or memory is
 * short. */
char *ddp_bad_samples_found(ddp_bad_samples *b, const char *path, const char *why, int can_be_blank,
                            int *next);

/* Note that the calling thread has loaded sample number `sample`. The sample is counted if another
 * line was loaded for it, or it is blank. Any thread. */
void ddp_bad_samples_loaded(ddp_bad_samples *b, size_t sample);

/* Return how many samples of this rank with numbers below `images` end the run. */
size_t ddp_bad_samples_ending(ddp_bad_samples *b, size_t images);

/* Return how many samples of this rank with numbers below `images` are replaced, and forget these.
 * Samples that were loaded ahead stay. */
size_t ddp_bad_samples_count(ddp_bad_samples *b, size_t images);

/* Return sentences about the bad lines that this rank has met, a newline behind each, in the list's
 * order. The caller frees the text. NULL: no memory. */
char *ddp_bad_samples_describe(ddp_bad_samples *b);

#endif
