/* inputs/written_kinds.h: what a file becomes that a command is told to write, and whether the one
 * that is there already is an earlier one of that kind. */
#ifndef DDP_INPUTS_WRITTEN_KINDS_H
#define DDP_INPUTS_WRITTEN_KINDS_H

typedef enum ddp_written_kind {
    DDP_WRITTEN_CHECK, /* reports in JSON, each of its command */
    DDP_WRITTEN_MAP,
    DDP_WRITTEN_OPTIONS,
    DDP_WRITTEN_BENCH,
    DDP_WRITTEN_TRACE,
    DDP_WRITTEN_PROFILE,
    DDP_WRITTEN_WEIGHTS,
    DDP_WRITTEN_JPEG,
    DDP_WRITTEN_VOC, /* a detector's results, in each format of eval= */
    DDP_WRITTEN_COCO,
    DDP_WRITTEN_IMAGENET
} ddp_written_kind;

/* "weights file", behind "no". */
const char *ddp_written_name(ddp_written_kind kind);

/* Does what is in the file show that it is of another kind? Not where it is empty, or cannot be
 * read. */
int ddp_written_is_other(const char *path, ddp_written_kind kind);

#endif
