/* eval/loss_file.h: reads and writes NAME.losses: mean losses of labels in a training run.
 *
 * The file has a line for each label with losses, in the order of the training list. Each line has
 * their mean (9 digits), their number, the label's line number in its label file, and the picture's
 * path in the list. Lines that begin with # are comments. */
#ifndef DDP_EVAL_LOSS_FILE_H
#define DDP_EVAL_LOSS_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef struct ddp_loss_line {
    const char *picture; /* path of the picture, as the training list has it */
    double mean;         /* mean loss of the label, without the first 30 % of the run's steps */
    uint64_t count;      /* how many losses the mean is of */
    unsigned line;       /* number of the label's line in its file, from 1 */
} ddp_loss_line;

/* A file that was read. All zero: there is none, so no loss is known. */
typedef struct ddp_loss_file {
    void *text;
    ddp_loss_line *lines; /* lines of all labels, sorted by picture, then by `line` */
    size_t count;
    struct timespec written; /* when the file was written */
} ddp_loss_file;

/* Write the comment at the head of a file. */
void ddp_loss_file_put_head(FILE *f);
/* Write the line of a label. */
void ddp_loss_file_put(FILE *f, const ddp_loss_line *line);

/* Read the file at path; lines that are no label's are left out. If there is no file, *f becomes
 * all zero. Release *f in any case. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_loss_file_read(ddp_loss_file *f, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Return the lines of a picture's labels, by line number, and set *count to how many there are. *f
 * owns the lines. Returns NULL, with *count 0, if *f has none. So it does if `labels`, the
 * picture's label file, is missing or younger than the losses. */
const ddp_loss_line *ddp_loss_file_of(const ddp_loss_file *f, const char *picture,
                                      const char *labels, size_t *count);

/* Free what *f holds, and make it all zero. */
void ddp_loss_file_release(ddp_loss_file *f);

#endif
