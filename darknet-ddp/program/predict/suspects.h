/* predict/suspects.h: what `darknet ddp suspects` writes of the ranking of labels
 * (eval/suspects.h). */
#ifndef DDP_PREDICT_SUSPECTS_H
#define DDP_PREDICT_SUSPECTS_H

#include "eval/suspects.h"
#include "predict/sinks.h"

#include <stdio.h>

enum { DDP_SUSPECT_TEXT = 512, DDP_SUSPECT_WHERE = 4200 };

typedef struct ddp_suspect_list {
    const ddp_sink_config *config;
    ddp_suspects ranking;
    size_t shown; /* how many of the ranking the page and the label files have */
} ddp_suspect_list;

/* Paths of files; NULL: the file is not written, or no losses are known. */
typedef struct ddp_suspects_files {
    const char *page, *json;
    const char *review; /* folder of label files */
    const char *losses; /* file to read (eval/loss_file.h); it may be missing */
} ddp_suspects_files;

/* Set *s to an open sink that ranks the labels of its predictions. It prints and writes the ranking
 * when it is closed. The predictions should have all boxes of a score above about 0.05. config and
 * the names in *files must outlive it. Fails with DDP_ERR_NOMEM, DDP_ERR_IO. */
ddp_status ddp_suspects_sink_open(ddp_sink *s, const ddp_sink_config *config,
                                  const ddp_suspects_files *files, ddp_error *err) DDP_MUST_CHECK;

/* Write to text what is wrong with a suspect: "RBC is not found". */
void ddp_suspect_tell(const ddp_suspect_list *all, const ddp_suspect *s,
                      char text[DDP_SUSPECT_TEXT]);

/* Write to place the path of a suspect's label file, with ":LINE" if it has a label. */
void ddp_suspect_place(const ddp_suspect_list *all, const ddp_suspect *s,
                       char place[DDP_SUSPECT_WHERE]);

/* Write a page of the first all->shown suspects to f, each with the part of its picture. */
void ddp_suspects_put_page(FILE *f, const ddp_suspect_list *all);

/* Write a label file into the folder for each picture of the first all->shown suspects: its labels
 * with the suspects put right. The folder is made if it is not there. Fails with DDP_ERR_IO, also
 * if a file is there already; DDP_ERR_NOMEM. */
ddp_status ddp_suspects_write_labels(const ddp_suspect_list *all, const char *folder,
                                     ddp_error *err) DDP_MUST_CHECK;

#endif
