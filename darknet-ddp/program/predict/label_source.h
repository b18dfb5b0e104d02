/* predict/label_source.h: where a label comes from that `darknet ddp import` has made. */
#ifndef DDP_PREDICT_LABEL_SOURCE_H
#define DDP_PREDICT_LABEL_SOURCE_H

enum { DDP_LABEL_SOURCE_FILE = 4096, DDP_LABEL_SOURCE_OBJECT = 64 };

typedef struct ddp_label_source {
    char file[DDP_LABEL_SOURCE_FILE];     /* whole path of the annotation file */
    char object[DDP_LABEL_SOURCE_OBJECT]; /* which of its objects: "line 27"; "": not known */
} ddp_label_source;

/* Set *s to the source of a line of the label file at `labels`, and return 1: what import wrote to
 * sources/ beside the file's folder (import/write.h). Returns 0 if there is none. If the label file
 * is younger, its lines may have moved, and the object is not known.
 *   line   from 1; 0 for the whole file, whose annotation file is that of its first label */
int ddp_label_source_read(ddp_label_source *s, const char *labels, int line);

#endif
