/* cli/cfg_edit.h: a cfg's text with other values. */
#ifndef DDP_CLI_CFG_EDIT_H
#define DDP_CLI_CFG_EDIT_H

#include <stddef.h>

typedef struct ddp_cfg_edit {
    const char *section; /* "net", "yolo": every section of that title */
    const char *key;
    const char *value; /* NULL: nothing is done */
} ddp_cfg_edit;

/* The text with these values, in their places, or behind the section's title where it has no such
 * key. All else stays, comments too. The caller frees it; NULL: no memory. */
char *ddp_cfg_edited(const char *text, const ddp_cfg_edit *edits, size_t count);

/* The value of the first such key in the first such section, up to its line's end, into value; 0:
 * there is none. */
int ddp_cfg_value_of(const char *text, const char *section, const char *key, char *value,
                     size_t size);

/* The text with so many classes in each [yolo] and [region], and with the filters that they want in
 * the [convolutional] before each. *heads: how many there are. The caller frees it; NULL: no
 * memory. */
char *ddp_cfg_with_classes(const char *text, int classes, int *heads);

#endif
