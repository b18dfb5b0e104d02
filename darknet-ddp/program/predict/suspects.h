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
    size_t counts[DDP_SUSPECT_KINDS]; /* by kind: how many suspects the ranking has */
    /* indices of the suspects that the page and the label files have: `each` of a kind, or all, the
     * most doubtful first, and then those of the next kind */
    size_t *shown, shown_count, each;
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

/* Write to text that the network finds too few labels for a ranking, and return 1. Returns 0 if it
 * finds half of them. */
int ddp_suspects_warn(const ddp_suspect_list *all, char text[DDP_SUSPECT_TEXT]);

/* Write to place the path of a suspect's label file, with ":LINE" if it has a label. */
void ddp_suspect_place(const ddp_suspect_list *all, const ddp_suspect *s,
                       char place[DDP_SUSPECT_WHERE]);

/* Write a page of the suspects all->shown to f, by kind, each with the part of its picture. */
void ddp_suspects_put_page(FILE *f, const ddp_suspect_list *all);

/* Write a label file into the folder for each picture of the suspects all->shown: its labels with
 * these suspects put right. The folder is made if it is not there. Fails with DDP_ERR_IO, also if a
 * file is there already; DDP_ERR_NOMEM. */
ddp_status ddp_suspects_write_labels(const ddp_suspect_list *all, const char *folder,
                                     ddp_error *err) DDP_MUST_CHECK;

#endif
