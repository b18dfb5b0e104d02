/* predict/label_source.h: finds the annotation from which `darknet ddp import` has made a label. */
#ifndef DDP_PREDICT_LABEL_SOURCE_H
#define DDP_PREDICT_LABEL_SOURCE_H

enum { DDP_LABEL_SOURCE_FILE = 4096, DDP_LABEL_SOURCE_OBJECT = 64 };

typedef struct ddp_label_source {
    char file[DDP_LABEL_SOURCE_FILE];     /* absolute path of the annotation file */
    char object[DDP_LABEL_SOURCE_OBJECT]; /* object in that file: "line 27"; "": not known */
} ddp_label_source;

/* Set *s to the source of a label, as import wrote it to the folder sources/ (import/write.h).
 * Returns 1; 0 if there is none.
 *   labels   path of the label file
 *   line     number of the label's line, from 1; 0: the first label, without its object. Counts as
 *            0 if the label file was edited since, as its lines may have moved */
int ddp_label_source_read(ddp_label_source *s, const char *labels, int line);

#endif
