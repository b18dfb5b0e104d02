/* inputs/data_keys.h: the keys of a .data file, and the values of those that are numbers. */
#ifndef DDP_INPUTS_DATA_KEYS_H
#define DDP_INPUTS_DATA_KEYS_H

#include "base/status.h"
#include "inputs/text_file.h"

int ddp_data_is_key(const char *word);

/* DDP_ERR_USAGE: of the options from line *at on (an index of data->cfg.lines) one has a key that
 * nobody reads; the text names it, and what may have been meant. *at: the line behind it. */
ddp_status ddp_data_check_keys(const ddp_sections *data, const char *path, size_t *at,
                               ddp_error *err) DDP_MUST_CHECK;

/* DDP_ERR_USAGE: a key stands in two lines; the text names both. */
ddp_status ddp_data_check_twice(const ddp_sections *data, const char *path,
                                ddp_error *err) DDP_MUST_CHECK;

/* The first option that is a number, and whose value is none or cannot be; *wrong: what is wrong, a
 * constant. NULL: there is none. */
const ddp_cfg_line *ddp_data_bad_number(const ddp_sections *data, const char **wrong);

/* DDP_ERR_USAGE: there is one. */
ddp_status ddp_data_check_numbers(const ddp_sections *data, const char *path,
                                  ddp_error *err) DDP_MUST_CHECK;

#endif
