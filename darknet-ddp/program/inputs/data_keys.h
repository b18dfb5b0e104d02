/* inputs/data_keys.h: checks the keys of a .data file, and the values that must be numbers. The
 * parameter `path` is the path of the .data file, for errors. */
#ifndef DDP_INPUTS_DATA_KEYS_H
#define DDP_INPUTS_DATA_KEYS_H

#include "base/status.h"
#include "inputs/text_file.h"

/* Return 1 if word is a key of .data files. */
int ddp_data_is_key(const char *word);

/* Fail with DDP_ERR_USAGE at the first key that nobody reads, from data->cfg.lines[*at] on; the
 * error names a similar key, if any. *at becomes the index after that key, so that another call
 * finds the next one. */
ddp_status ddp_data_check_keys(const ddp_sections *data, const char *path, size_t *at,
                               ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_USAGE if a key stands in two lines; the error names both. */
ddp_status ddp_data_check_twice(const ddp_sections *data, const char *path,
                                ddp_error *err) DDP_MUST_CHECK;

/* Return a line of classes=, top= or tag= whose value is no whole number, or is out of range.
 * *wrong becomes a constant that says what is wrong. Returns NULL if all are right. */
const ddp_cfg_line *ddp_data_bad_number(const ddp_sections *data, const char **wrong);

/* Fail with DDP_ERR_USAGE if ddp_data_bad_number returns a line. */
ddp_status ddp_data_check_numbers(const ddp_sections *data, const char *path,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
