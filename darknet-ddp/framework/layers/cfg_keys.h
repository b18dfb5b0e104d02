/* layers/cfg_keys.h: what a cfg may contain: sections, the keys of each, the ranges of their
 * numbers. "v4" names what came with the later forks' mathematics (those that have YOLOv4): a cfg
 * that uses any of it is trained by that mathematics. Section s is never null. Names of sections
 * include their brackets. */
#ifndef CFG_KEYS_H
#define CFG_KEYS_H
#include "darknet.h"

typedef struct {
    const char *names; /* the section's names, such as "[shortcut]", separated by blanks */
    LAYER_TYPE type;
    int v4;              /* 1: the section itself came with the later forks' mathematics */
    const char *keys;    /* keys of Darknet that the parser reads, separated by blanks */
    const char *v4_keys; /* keys of the later forks' mathematics that the parser reads */
} cfg_section;

/* Return the section with this name, which includes its brackets; null if there is none. */
const cfg_section *cfg_find_section(const char *name);
/* Return 1 if the parser reads this key in section s. */
int cfg_reads_key(const cfg_section *s, const char *key);
/* Return a static phrase on why this key with this value is ignored on purpose; null if the key is
 * not ignored. */
const char *cfg_ignores_key(const cfg_section *s, const char *key, const char *value);
/* Return 1 if the key is one of the forks' that is not implemented here. Such a key may stand in a
 * cfg with the value 0, which is ignored. */
int cfg_lacks_key(const cfg_section *s, const char *key);
/* Return the keys of section s, or the names of all sections, with commas between, for an error
 * message. Each function has one static string, which its next call changes; cfg_hint_or_keys
 * changes that of cfg_keys, too. */
const char *cfg_keys(const cfg_section *s);
const char *cfg_sections(void);
/* Return `hint`, what is known about an unknown key. If hint is "", return a static string with the
 * section's first five keys: ", which has batch, ... and 41 more". The next call changes it. */
const char *cfg_hint_or_keys(const cfg_section *s, const char *hint);
/* Return 1 if the key with this value came with the later forks' mathematics. With a null key,
 * return 1 if the section itself did; value is not read then. */
int cfg_is_v4(const cfg_section *s, const char *key, const char *value);
/* Return what is wrong with the value of a section's key, such as "must not be negative"; null if
 * nothing is. The value is one number, or several with commas between. A key without a range
 * passes, and so does a value that is no number, which its parser refuses. A range refuses only
 * values with which nothing can be learnt. */
const char *cfg_out_of_range(const cfg_section *s, const char *key, const char *value);

#endif
