/* eval/loss_file.h: NAME.losses, the mean loss that each label had while a run trained.
 *
 * It has a line for each label, in the order of the training list. The line has the mean, to 9
 * digits, and how often the label was trained. Then come the label's line in its file, and the
 * picture's path as the list has it. Lines that begin with # are comments. */
#ifndef DDP_EVAL_LOSS_FILE_H
#define DDP_EVAL_LOSS_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef struct ddp_loss_line {
    const char *picture; /* path as the training list has it */
    double mean;
    uint64_t count; /* times that the label was trained */
    unsigned line;  /* number of the label's line in its file, from 1 */
} ddp_loss_line;

/* A file that was read. All zero: there is none, so no loss is known. */
typedef struct ddp_loss_file {
    void *text;
    ddp_loss_line *lines; /* by picture, then by line */
    size_t count;
    struct timespec written; /* when the file was written */
} ddp_loss_file;

/* Write the comment at the head of a file; write a line of it. */
void ddp_loss_file_put_head(FILE *f);
void ddp_loss_file_put(FILE *f, const ddp_loss_line *line);

/* Read the file at path, without lines that are none of it; if there is no file, *f becomes all
 * zero. Release *f in any case. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_loss_file_read(ddp_loss_file *f, const char *path, ddp_error *err) DDP_MUST_CHECK;

/* Return the lines of a picture's labels, by number, and set *count to how many there are. Return
 * NULL, and set 0, if no loss is known. labels: path of the picture's label file. If that is
 * missing, or younger than the losses, none counts as known. *f owns the lines. */
const ddp_loss_line *ddp_loss_file_of(const ddp_loss_file *f, const char *picture,
                                      const char *labels, size_t *count);

/* Free what *f holds, and make it all zero. */
void ddp_loss_file_release(ddp_loss_file *f);

#endif
