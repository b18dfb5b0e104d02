#ifndef CFG_KEYS_H
#define CFG_KEYS_H
#include "darknet.h"

/* What a cfg may hold: sections, the keys of each, and between what their numbers must be. */

typedef struct {
    const char *names; /* with its brackets; several names separated by blanks */
    LAYER_TYPE type;
    int v4;           /* the section, or a key, is of the later forks' mathematics: see cfg_is_v4 */
    const char *keys; /* what the parser reads, separated by blanks */
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
/* What is known, for an error, with commas: the keys of a section; the sections. A static string.
 */
const char *cfg_keys(const cfg_section *s);
const char *cfg_sections(void);
/* What is said of an unknown key: the hint, or if it is empty the section's first few keys: ",
 * which has batch, ... and 41 more". A static string. */
const char *cfg_hint_or_keys(const cfg_section *s, const char *hint);
/* Did the key, or if it is null the section itself, come with the forks' mathematics? A cfg that
 * has one is trained by them. */
int cfg_is_v4(const cfg_section *s, const char *key, const char *value);
/* What is wrong with the value of a section's key, one number or several with commas between: "must
 * not be negative". Null: nothing, or it has no range, or it is no number, which its parser says.
 * Only values are refused with which nothing can be learnt. */
const char *cfg_out_of_range(const cfg_section *s, const char *key, const char *value);

#endif
