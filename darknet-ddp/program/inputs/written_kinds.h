/* inputs/written_kinds.h: tells the kinds of files that commands write from each other, by their
 * first bytes. A command overwrites a file only if it is empty or of the kind to be written. */
#ifndef DDP_INPUTS_WRITTEN_KINDS_H
#define DDP_INPUTS_WRITTEN_KINDS_H

typedef enum ddp_written_kind {
    DDP_WRITTEN_CHECK, /* CHECK, MAP, PREDICTIONS, SUSPECTS, OPTIONS, BENCH: JSON of a command's
                          -json */
    DDP_WRITTEN_MAP,
    DDP_WRITTEN_PREDICTIONS,
    DDP_WRITTEN_SUSPECTS,
    DDP_WRITTEN_OPTIONS,
    DDP_WRITTEN_BENCH,
    DDP_WRITTEN_TRACE,
    DDP_WRITTEN_PROFILE,
    DDP_WRITTEN_CFG,
    DDP_WRITTEN_ONNX,
    DDP_WRITTEN_WEIGHTS,
    DDP_WRITTEN_JPEG,
    DDP_WRITTEN_PAGE, /* pages of `ddp suspects` and of `ddp check -report` */
    DDP_WRITTEN_VOC,  /* VOC to IMAGENET: a detector's results, in the format of the name */
    DDP_WRITTEN_COCO,
    DDP_WRITTEN_IMAGENET
} ddp_written_kind;

/* Return the name of the kind, such as "weights file". */
const char *ddp_written_name(ddp_written_kind kind);

/* Return 1 for a cfg, which people edit, and for weights: commands that do not train overwrite
 * neither, unless the file is empty. Else return 0. */
int ddp_written_is_kept(ddp_written_kind kind);

/* Return 1 if the file at path does not begin as files of this kind do. Return 0 if it does, is
 * empty, or cannot be read. */
int ddp_written_is_other(const char *path, ddp_written_kind kind);

#endif
