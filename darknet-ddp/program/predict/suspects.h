/* predict/suspects.h: prints and writes what `darknet ddp suspects` finds: labels that may be wrong
 * or missing (suspects), ranked by eval/suspects.h. */
#ifndef DDP_PREDICT_SUSPECTS_H
#define DDP_PREDICT_SUSPECTS_H

#include "eval/suspects.h"
#include "predict/sinks.h"

#include <stdio.h>

enum { DDP_SUSPECT_TEXT = 512, DDP_SUSPECT_WHERE = 4200 };

typedef struct ddp_suspect_list {
    const ddp_sink_config *config;
    ddp_suspects ranking;
    size_t counts[DDP_SUSPECT_KINDS]; /* by kind: number of suspects in the ranking */
    /* shown[0..shown_count): indices in ranking.list of the suspects to show, kind by kind, the
     * most doubtful first; of each kind `each` at most */
    size_t *shown, shown_count, each;
} ddp_suspect_list;

/* Paths of files; NULL: the file is not to be written or read. */
typedef struct ddp_suspects_files {
    const char *page, *json;
    const char *review; /* folder for label files with corrections */
    const char *losses; /* file NAME.losses to read (eval/loss_file.h); it may not exist */
} ddp_suspects_files;

/* Open a sink that compares its predictions with the labels, and prints and writes the ranking when
 * it is closed. It must get all boxes with a score above about 0.01. config and the strings in
 * *files but `losses` must outlive it. Fails, like its `close`, with DDP_ERR_NOMEM, DDP_ERR_IO. */
ddp_status ddp_suspects_sink_open(ddp_sink *s, const ddp_sink_config *config,
                                  const ddp_suspects_files *files, ddp_error *err) DDP_MUST_CHECK;

/* Write to text what is wrong with a suspect: "RBC is not found". */
void ddp_suspect_describe(const ddp_suspect_list *all, const ddp_suspect *s,
                          char text[DDP_SUSPECT_TEXT]);

/* Return 1 if the network finds fewer than half of the labels, and write to text that the ranking
 * is of little use. Else return 0. */
int ddp_suspects_warn(const ddp_suspect_list *all, char text[DDP_SUSPECT_TEXT]);

/* Write to place the path of a suspect's label file, with ":LINE" if the suspect has a label. */
void ddp_suspect_place(const ddp_suspect_list *all, const ddp_suspect *s,
                       char place[DDP_SUSPECT_WHERE]);

/* Write a page (HTML) of the suspects all->shown to f, each with its part of the picture. */
void ddp_suspects_put_page(FILE *f, const ddp_suspect_list *all);

/* Write a corrected label file for each picture of the suspects all->shown to the folder, which is
 * made if it does not exist. Lines with faults are left out. Prints how many files. Fails with
 * DDP_ERR_IO (a file exists, and stays as it is, or cannot be written), DDP_ERR_NOMEM. */
ddp_status ddp_suspects_write_labels(const ddp_suspect_list *all, const char *folder,
                                     ddp_error *err) DDP_MUST_CHECK;

#endif
