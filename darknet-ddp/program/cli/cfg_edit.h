/* cli/cfg_edit.h: changes values in a cfg's text. */
#ifndef DDP_CLI_CFG_EDIT_H
#define DDP_CLI_CFG_EDIT_H

#include <stddef.h>

typedef struct ddp_cfg_edit {
    const char *section; /* title of the sections to edit: "yolo"; "net" is [network], too */
    const char *key;     /* key to edit, such as "batch" */
    const char *value;   /* new value of the key; NULL: the old one stays */
} ddp_cfg_edit;

/* Return the text with the values of edits[0..count). A value replaces the key's own; if the
 * section has no such key, a line is added behind its title. All else stays, comments too. The
 * caller frees the result; NULL: no memory. */
char *ddp_cfg_edited(const char *text, const ddp_cfg_edit *edits, size_t count);

/* Write to value[0..size) the value of `key` in the first section of this title, without blanks,
 * and return 1. Returns 0, with `value` as it was, if there is none. */
int ddp_cfg_value_of(const char *text, const char *section, const char *key, char *value,
                     size_t size);

/* Return the whole number that `key` has in the first section of this title. Returns `otherwise` if
 * the key is not there, or its value is no whole number. */
int ddp_cfg_number_of(const char *text, const char *section, const char *key, int otherwise);

/* Return the text with `classes` classes in each [yolo] and [region], and the number of filters
 * that they need in the [convolutional] before each. *heads: how many [yolo] and [region] there
 * are. The caller frees the result; NULL: no memory. */
char *ddp_cfg_with_classes(const char *text, int classes, int *heads);

#endif
