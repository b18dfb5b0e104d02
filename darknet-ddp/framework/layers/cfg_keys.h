#ifndef CFG_KEYS_H
#define CFG_KEYS_H
#include "darknet.h"

/* The contents that a cfg may have: sections, the keys of each, and the ranges of their numbers. */

typedef struct {
    const char *names; /* with its brackets; several names separated by blanks */
    LAYER_TYPE type;
    int v4;           /* the section, or a key, is of the later forks' mathematics: see cfg_is_v4 */
    const char *keys; /* keys that the parser reads, separated by blanks */
    const char *v4_keys;
} cfg_section;

/* Null: no section of that name, which has its brackets. */
const cfg_section *cfg_find_section(const char *name);
/* Is the key of that section one that the parser reads? */
int cfg_reads_key(const cfg_section *s, const char *key);
/* Why the key with this value is ignored on purpose; null: it is not. */
const char *cfg_ignores_key(const cfg_section *s, const char *key, const char *value);
/* Is the key one of the forks' that nobody has built here? At 0 it is off, and ignored. */
int cfg_lacks_key(const cfg_section *s, const char *key);
/* Return the keys of a section, or all sections, with commas between, for an error. The string is
 * static: the next call changes it. */
const char *cfg_keys(const cfg_section *s);
const char *cfg_sections(void);
/* Return the hint about an unknown key, or if it is empty the section's first few keys: ", which
 * has batch, ... and 41 more". The string is static. */
const char *cfg_hint_or_keys(const cfg_section *s, const char *hint);
/* Did the key, or if it is null the section itself, come with the forks' mathematics? A cfg that
 * has one is trained by them. */
int cfg_is_v4(const cfg_section *s, const char *key, const char *value);
/* Return what is wrong with the value of a section's key, such as "must not be negative". The value
 * is one number, or several with commas between. Null: nothing is wrong, or the key has no range,
 * or the value is no number, which its parser says. Only values are refused with which nothing can
 * be learnt. */
const char *cfg_out_of_range(const cfg_section *s, const char *key, const char *value);

#endif
