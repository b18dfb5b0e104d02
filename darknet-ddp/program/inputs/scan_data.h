/* inputs/scan_data.h: looking for what is wrong with training data: what `darknet ddp check` and
 * the look before a run share. */
#ifndef DDP_INPUTS_SCAN_DATA_H
#define DDP_INPUTS_SCAN_DATA_H

#include "check/data.h"
#include "check/model.h"
#include "inputs/text_file.h"
#include "options/options.h"

typedef struct ddp_scan_data {
    const char *data_path, *cfg_path;
    const ddp_net_value *values; /* of [net], in place of the cfg's; NULL: none */
    ddp_sections data, cfg;
    ddp_lines list, valid, names; /* valid is empty where the .data file has none */
    const char *list_path, *valid_path;
    int classes; /* 0: the .data file does not say */
    ddp_heads heads;
    ddp_faults faults;
    ddp_tally tally;
    uint64_t *by_class;
    ddp_box_sample sample;
    int by_names;         /* pictures of a classifier, whose classes stand in their paths */
    int missing_is_error; /* a picture without a label file */
    int unread;           /* the .data file lacks train=, or a file that it names cannot be read */
    int unknown;          /* the cfg has a section that nobody knows, so may be of any kind */
    int (*decode)(const char *picture, char *note, size_t size);
} ddp_scan_data;

/* Read what c->data_path and c->cfg_path name, all else but c->values being zero, and compare them
 * with each other. A list that cannot be read is empty, and c->unread is set; one that cannot even
 * be opened is no fault here (see ddp_arguments_each_fault). Release it in any case. Fails with
 * DDP_ERR_IO, DDP_ERR_FORMAT, DDP_ERR_NOMEM. */
ddp_status ddp_scan_data_open(ddp_scan_data *c, ddp_error *err) DDP_MUST_CHECK;
void ddp_scan_data_release(ddp_scan_data *c);

/* What is wrong with eval=, and with the names of classes: how many they are, and which stand
 * twice. Found by ddp_scan_data_open, too. */
void ddp_scan_data_keys(const ddp_scan_data *c, ddp_faults *f);

/* Look at some pictures of train=, and at some of valid=, where more is a fault: validation ends at
 * what training puts right. */
void ddp_scan_data_train(ddp_scan_data *c, size_t first, size_t count);
void ddp_scan_data_valid(ddp_scan_data *c, size_t first, size_t count);

/* Lines that stand twice in a list, and pictures that stand in both. */
void ddp_scan_data_lists(ddp_scan_data *c);

/* Has no picture of train= that was looked at, of a detector, a label file? *why is then a
 * sentence. */
int ddp_scan_data_has_no_labels(const ddp_scan_data *c, ddp_error *why);

/* Do so many of the boxes that were looked at reach beyond their pictures that x and y of the
 * labels are hardly their middles? *why is then a sentence. */
int ddp_scan_data_has_corners(const ddp_scan_data *c, ddp_error *why);

#endif
