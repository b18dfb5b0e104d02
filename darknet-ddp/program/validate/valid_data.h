/* validate/valid_data.h: the pictures that a run validates on, from the .data file's valid=, and
 * their classes. */
#ifndef DDP_VALIDATE_VALID_DATA_H
#define DDP_VALIDATE_VALID_DATA_H

#include "glue/validate.h"
#include "inputs/text_file.h"

#include <stdint.h>

typedef struct ddp_valid_data {
    ddp_sections data;      /* the .data file */
    ddp_lines list;         /* lines of valid= */
    ddp_lines names;        /* names of classes: a classifier's labels=, a detector's names= */
    ddp_validation_set set; /* the pictures; it points into data and list */
    int *class_of; /* class of each of a classifier's pictures, from 0; NULL for a detector */
} ddp_valid_data;

/* Read the .data file at path `data`. If it has valid=, read the list and the names, too; else
 * d->set.list stays NULL. *d must be all zero before. Release it also after an error. Fails with
 * DDP_ERR_FORMAT if a file has a byte 0, the list is empty, or classes= is less than 1. So it does
 * if a classifier's labels= is missing, or does not fit its pictures. Fails also with DDP_ERR_IO,
 * DDP_ERR_NOMEM. The program ends if a detector's map= cannot be read (ddp_map_read). */
ddp_status ddp_valid_data_read(ddp_valid_data *d, const char *data, int is_classifier,
                               ddp_error *err) DDP_MUST_CHECK;
void ddp_valid_data_release(ddp_valid_data *d);

/* Return a hash of the pictures' paths, in their order. */
uint64_t ddp_valid_data_hash_paths(const ddp_valid_data *d);

/* Return a hash of the pictures' names, without folders, and their labels or classes. The order of
 * pictures does not count. Reads all labels; a label file that cannot be read is no error. */
uint64_t ddp_valid_data_hash_contents(const ddp_valid_data *d);

#endif
