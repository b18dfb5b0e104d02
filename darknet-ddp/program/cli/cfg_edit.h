/* cli/cfg_edit.h: reads and changes values in a cfg's text. All other lines stay as they are. */
#ifndef DDP_CLI_CFG_EDIT_H
#define DDP_CLI_CFG_EDIT_H

#include <stddef.h>

typedef struct ddp_cfg_edit {
    const char *section; /* title of the sections to edit, such as "yolo"; "net": [network], too */
    const char *key;     /* key to edit, such as "batch" */
    const char *value;   /* new value of the key; NULL: the old one stays */
} ddp_cfg_edit;

/* Return a copy of the text with the values of edits[0..count). A section without the key gets a
 * new line after its title. The caller frees the result; NULL: no memory. */
char *ddp_cfg_edited(const char *text, const ddp_cfg_edit *edits, size_t count);

/* Write to value[0..size) the value of `key` in the first section of this title ("net" for [net]),
 * without blanks. Returns 1. If there is no such section or key, returns 0 and leaves `value` as it
 * was. */
int ddp_cfg_value_of(const char *text, const char *section, const char *key, char *value,
                     size_t size);

/* Return the whole number that is the value of `key` in the first section with the title `section`.
 * Returns `otherwise` if there is no such key, or its value is no whole number. */
int ddp_cfg_number_of(const char *text, const char *section, const char *key, int otherwise);

/* Return a copy of the text for `classes` classes. It has new values of classes= in each [yolo] and
 * [region], and of filters= in the [convolutional] just before. Keys that are missing are not
 * added. Set *heads to the number of [yolo] and [region]. The caller frees the result; NULL: no
 * memory. */
char *ddp_cfg_with_classes(const char *text, int classes, int *heads);

#endif
