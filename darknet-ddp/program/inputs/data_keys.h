/* inputs/data_keys.h: checks the keys of a .data file, and the values of those that are numbers.
 * `path` is that of the .data file, for errors. */
#ifndef DDP_INPUTS_DATA_KEYS_H
#define DDP_INPUTS_DATA_KEYS_H

#include "base/status.h"
#include "inputs/text_file.h"

/* Return 1 if word is a key of .data files. */
int ddp_data_is_key(const char *word);

/* Fail with DDP_ERR_USAGE if an option has a key that nobody reads, and name what may have been
 * meant. Looks from *at on, an index of data->cfg.lines, and sets *at behind that option, so that
 * the next call finds the next one. */
ddp_status ddp_data_check_keys(const ddp_sections *data, const char *path, size_t *at,
                               ddp_error *err) DDP_MUST_CHECK;

/* Fail with DDP_ERR_USAGE if a key stands in two lines; the text names both. */
ddp_status ddp_data_check_twice(const ddp_sections *data, const char *path,
                                ddp_error *err) DDP_MUST_CHECK;

/* Return an option whose value must be a number and is none, or is out of range; *wrong becomes a
 * constant that says what is wrong. Return NULL, with *wrong undefined, if all are right. */
const ddp_cfg_line *ddp_data_bad_number(const ddp_sections *data, const char **wrong);

/* Fail with DDP_ERR_USAGE if an option's value is no number that fits (ddp_data_bad_number). */
ddp_status ddp_data_check_numbers(const ddp_sections *data, const char *path,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
