/* inputs/scan_data.h: finds what is wrong with training data, for `darknet ddp check` and for the
 * check before a run (inputs/preflight.h). Functions add what they find to ddp_scan_data.faults,
 * or to a parameter f if they have it. */
#ifndef DDP_INPUTS_SCAN_DATA_H
#define DDP_INPUTS_SCAN_DATA_H

#include "check/data.h"
#include "check/model.h"
#include "inputs/text_file.h"
#include "options/options.h"

typedef struct ddp_scan_data {
    const char *data_path, *cfg_path;
    const ddp_net_value *values; /* new values of [net] (inputs/overrides.h); NULL: none */
    ddp_sections data, cfg;      /* contents of the files at data_path and cfg_path */
    /* lines of the file of train= (list), of valid= (valid), and of names= or labels= (names);
     * empty also if there is no key, or the file cannot be read */
    ddp_lines list, valid, names;
    /* values of train= and valid=; NULL: the .data file lacks the key */
    const char *list_path, *valid_path;
    int classes;        /* classes= of the .data file; 0: none, or a wrong one */
    ddp_heads heads;    /* the cfg's [yolo], [region] and [detection] layers; none if `unknown` */
    ddp_faults faults;  /* faults found so far */
    ddp_tally tally;    /* counts of pictures and boxes of train= that were looked at */
    uint64_t *by_class; /* by class: number of boxes without fault, or of a classifier's pictures */
    ddp_box_sample sample; /* sizes of some boxes without fault */
    int by_names;          /* 1: a classifier's data, where a picture's path tells its class */
    int missing_is_error;  /* 1: a picture without a label file is an error */
    int unread;            /* 1: train=, valid= or the file of names cannot be read */
    int unknown;           /* 1: the cfg has an unknown section, so its kind is not known */
    /* Decodes a picture, with the parameters and result of ddp_decode_picture. NULL: no picture is
     * decoded. */
    int (*decode)(const char *picture, char *note, size_t size);
} ddp_scan_data;

/* Read the files at c->data_path and c->cfg_path, and the lists that they name. The caller sets
 * these paths, c->values, `decode` and missing_is_error; all else must be zero. A list that cannot
 * be read becomes empty, and c->unread 1. Release c also on failure. Fails with DDP_ERR_IO,
 * DDP_ERR_FORMAT, DDP_ERR_NOMEM. The paths and c->values must outlive c. */
ddp_status ddp_scan_data_open(ddp_scan_data *c, ddp_error *err) DDP_MUST_CHECK;
void ddp_scan_data_release(ddp_scan_data *c); /* frees what *c holds; it may be all zero */

/* Add to f the faults of eval=, and of the names of classes, such as too few, or one that stands
 * twice. ddp_scan_data_open calls this for c->faults. */
void ddp_scan_data_check_names(const ddp_scan_data *c, ddp_faults *f);

/* Check `count` pictures of train=, from index `first` on, and their labels. Adds faults to
 * c->faults, and counts in tally, by_class and sample. */
void ddp_scan_data_check_train(ddp_scan_data *c, size_t first, size_t count);
/* Check `count` pictures of valid=, from index `first` on, and their labels. Adds faults to
 * c->faults, but counts nothing. */
void ddp_scan_data_check_valid(ddp_scan_data *c, size_t first, size_t count);

/* Find lines that stand twice in a list, and pictures that are twice in a list or in both, even
 * under different names. */
void ddp_scan_data_check_lists(ddp_scan_data *c);

/* Return 1, with a sentence in *why, if pictures of a detector's train= were checked and none has a
 * label file that can be opened; else 0. */
int ddp_scan_data_has_no_labels(const ddp_scan_data *c, ddp_error *why);

/* Add a warning to f if pictures of a detector's train= were checked and none has a box, unless
 * c->faults has faults of labels. Add another if so many boxes reach beyond their pictures that
 * labels seem to give corners, not centres. */
void ddp_scan_data_check_boxes(const ddp_scan_data *c, ddp_faults *f);

#endif
