/* samples/bad_samples.h: this rank's record of pictures and labels that could not be read while
 * training, and of the samples that were replaced.
 *
 * A line of the training list that cannot be read once is bad from then on. If it is drawn, another
 * line is loaded in its place: the first that is not bad, in an order that follows from the seed
 * and the bad line. So ranks and resumed runs that cannot read the same lines load the same ones.
 * No other line can be loaded if all are bad, 64 in a row could not be read, or memory is short.
 *
 * With one_ends (ddp_bad_samples_open) the run must end if a sample cannot be read; without it, if
 * no other line can be loaded in its place. If the run must end, the loader may load a blank
 * sample, with no pixel set and no object; the run ends before it learns from it.
 *
 *  1. A loader thread that cannot read a sample calls ddp_bad_samples_note_unreadable
 *     (load_sample in data.c). To load it again, it gets a line by ddp_bad_samples_line_to_load.
 *  2. During a step's first forward pass ranks sum ddp_bad_samples_count_ending. If the sum is not
 *     0, all end before the first backward pass (trainer/trainer_bad_samples.c).
 *  3. Ranks sum ddp_bad_samples_take_replaced with the loss. A run that may replace samples ends if
 *     there are too many (judge_replaced in trainer/plugin.c).
 *
 * Any thread may call functions that say so; the training thread calls the others. */
#ifndef DDP_SAMPLES_BAD_SAMPLES_H
#define DDP_SAMPLES_BAD_SAMPLES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ddp_bad_samples ddp_bad_samples;

/* Open an empty record. one_ends: 1: each sample that cannot be read ends the run; 0: only one for
 * which no other can be loaded. *out is set on success. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_bad_samples_open(ddp_bad_samples **out, int one_ends, ddp_error *err) DDP_MUST_CHECK;
void ddp_bad_samples_close(ddp_bad_samples *b); /* frees b; NULL is allowed */

/* Set the run's seed, by which lines are drawn in place of bad ones. Call before samples load. */
void ddp_bad_samples_set_seed(ddp_bad_samples *b, uint64_t seed);

/* Set the training list: paths[0..n), which must outlive b. Call before samples load. */
void ddp_bad_samples_set_list(ddp_bad_samples *b, char *const *paths, size_t n);

/* Set the path of the training list's file, for messages about bad lines. The string must outlive
 * b. */
void ddp_bad_samples_set_file(ddp_bad_samples *b, const char *file);

/* Return the line to load if `line` (0 to n - 1) of n lines was drawn. It is `line` itself or, if
 * that is bad, one that is not; if all are bad, `line`. If `line` is bad,
 * ddp_bad_samples_note_loaded on this thread counts the sample as replaced. Returns `line` if n is
 * not that of ddp_bad_samples_set_list. Any thread. */
size_t ddp_bad_samples_line_to_load(ddp_bad_samples *b, size_t line, size_t n);

/* Actions of a thread that cannot read a sample; values of darknet.h's train_plugin.unreadable. */
enum {
    DDP_BAD_SAMPLE_END,   /* end the program */
    DDP_BAD_SAMPLE_AGAIN, /* load the sample again, from another line */
    DDP_BAD_SAMPLE_BLANK  /* take a blank sample; the run ends before it learns from it */
};

/* Note that the calling thread cannot read the picture or labels of a line. Returns a sentence to
 * print, which the caller frees; NULL if there is none: the line was bad already, path is another
 * pointer, or memory is short. Any thread.
 *   path           the list's own pointer to the line
 *   why            the reason, for the sentence
 *   can_be_blank   1: the thread can take a blank sample
 *   next           becomes the first of these actions that fits:
 *                    END     if path is another pointer
 *                    BLANK   if the run must end, and can_be_blank is 1
 *                    AGAIN   if another line can be loaded, and fewer than 64 were tried
 *                    END     else */
char *ddp_bad_samples_note_unreadable(ddp_bad_samples *b, const char *path, const char *why,
                                      int can_be_blank, int *next);

/* Note that the calling thread has loaded sample number `sample` of the run. Counts the sample,
 * once, if another line was loaded for it, or if it is blank. Any thread. */
void ddp_bad_samples_note_loaded(ddp_bad_samples *b, size_t sample);

/* Return how many samples with numbers below `images` must end the run, of those that
 * ddp_bad_samples_note_loaded has counted. */
size_t ddp_bad_samples_count_ending(ddp_bad_samples *b, size_t images);

/* Return how many samples of this rank, with numbers below `images`, were replaced, and forget
 * them. Samples of later steps, which are loaded ahead, stay counted. */
size_t ddp_bad_samples_take_replaced(ddp_bad_samples *b, size_t images);

/* Return the sentences about all bad lines that this rank has met, each with a newline, in the
 * order of the list. The caller frees the text. NULL: no memory. */
char *ddp_bad_samples_describe(ddp_bad_samples *b);

#endif
