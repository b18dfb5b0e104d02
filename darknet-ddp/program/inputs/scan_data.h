/* inputs/scan_data.h: finds what is wrong with training data, for `darknet ddp check` and for the
 * look before a run (inputs/preflight.h). */
#ifndef DDP_INPUTS_SCAN_DATA_H
#define DDP_INPUTS_SCAN_DATA_H

#include "check/data.h"
#include "check/model.h"
#include "inputs/text_file.h"
#include "options/options.h"

typedef struct ddp_scan_data {
    const char *data_path, *cfg_path;
    const ddp_net_value *values;  /* values of [net] in place of the cfg's; NULL: none */
    ddp_sections data, cfg;       /* contents of the files at data_path and cfg_path */
    ddp_lines list, valid, names; /* lines of train=, valid=, names= or labels=; empty: no key */
    const char *list_path, *valid_path; /* values of train= and valid=; NULL: no key */
    int classes;                        /* classes= of the .data file; 0: it has none */
    ddp_heads heads;                    /* the cfg's [yolo] and [region] layers */
    ddp_faults faults;                  /* faults found so far */
    ddp_tally tally;       /* counts of pictures and boxes of train= that were looked at */
    uint64_t *by_class;    /* by class: boxes without fault, or a classifier's pictures */
    ddp_box_sample sample; /* sizes of some boxes without fault */
    int by_names; /* 1: a classifier's data, where the paths of pictures tell their classes */
    int missing_is_error; /* 1: a picture without a label file is an error */
    int unread;  /* 1: the .data file lacks train=, or a file that it names cannot be read */
    int unknown; /* 1: the cfg has a section that nobody knows, so it may be of any kind */
    /* Decodes a picture (ddp_decode_picture); NULL: pictures are not decoded. */
    int (*decode)(const char *picture, char *note, size_t size);
} ddp_scan_data;

/* Read the files at c->data_path and c->cfg_path, and the lists that they name, and compare them.
 * The caller sets these paths and c->values; all else must be zero. A list that cannot be read is
 * empty, and c->unread is set; ddp_arguments_each_fault tells of it. Release c in any case. Fails
 * with DDP_ERR_IO, DDP_ERR_FORMAT, DDP_ERR_NOMEM. */
ddp_status ddp_scan_data_open(ddp_scan_data *c, ddp_error *err) DDP_MUST_CHECK;
void ddp_scan_data_release(ddp_scan_data *c); /* frees what *c holds; it may be all zero */

/* Add to f what is wrong with eval= and with the names of classes. Faults of names:
 * too many, too few, a blank one, a blank at an end, one twice. ddp_scan_data_open finds them, too.
 */
void ddp_scan_data_keys(const ddp_scan_data *c, ddp_faults *f);

/* Look at `count` pictures of train= or of valid=, as the function's name says, from index `first`
 * on, and add faults. Only ddp_scan_data_train adds to tally, by_class and sample. Some faults
 * count only in valid=, since validation ends at them and training puts them right. */
void ddp_scan_data_train(ddp_scan_data *c, size_t first, size_t count);
void ddp_scan_data_valid(ddp_scan_data *c, size_t first, size_t count);

/* Add faults for lines that stand twice in a list, and for pictures that are twice in a list, or in
 * both lists, under other names too. */
void ddp_scan_data_lists(ddp_scan_data *c);

/* Return 1, and a sentence in *why, if no picture of a detector's train= that was looked at has
 * labels; else 0. */
int ddp_scan_data_has_no_labels(const ddp_scan_data *c, ddp_error *why);

/* Add a warning to f if no picture of a detector's train= so far has a box. Add another one if so
 * many boxes reach beyond their pictures that the labels seem to have corners in place of middles.
 */
void ddp_scan_data_boxes(const ddp_scan_data *c, ddp_faults *f);

#endif
