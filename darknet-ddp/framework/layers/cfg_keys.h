/* layers/cfg_keys.h: what a cfg may contain: its sections, the keys of each, and the ranges of some
 * numbers.
 *
 * Some sections, keys and values are "v4": a cfg that uses any of them is trained by the formulas
 * of Darknet's later forks, those that have YOLOv4. In the functions, s is a section from
 * cfg_find_section, and never null. */
#ifndef CFG_KEYS_H
#define CFG_KEYS_H
#include "darknet.h"

typedef struct {
    const char *names; /* names of the section, such as "[maxpool] [max]", separated by blanks */
    LAYER_TYPE type;
    int v4;              /* 1: the section itself is v4 */
    const char *keys;    /* keys that are neither v4 nor of all layers, separated by blanks */
    const char *v4_keys; /* v4 keys, separated by blanks */
} cfg_section;

/* Return the section with this name, such as "[maxpool]"; null if there is none. */
const cfg_section *cfg_find_section(const char *name);
/* Return 1 if the parser reads this key in section s. */
int cfg_reads_key(const cfg_section *s, const char *key);
/* Return why a key that the parser does not read is ignored with this value; null if it is not. */
const char *cfg_ignores_key(const cfg_section *s, const char *key, const char *value);
/* Return 1 if the key, which the parser does not read, is one of later forks. A cfg may have such a
 * key with value 0, which is ignored. */
int cfg_lacks_key(const cfg_section *s, const char *key);
/* Return the keys of section s, separated by commas, in a static string that the next call
 * changes. */
const char *cfg_keys(const cfg_section *s);
/* Return the names of all sections, separated by commas, in a static string. */
const char *cfg_sections(void);
/* Return the end of an error message about an unknown key: `hint` or, if that is "", the section's
 * first keys, such as ", which has batch, ... and 41 more". The text is valid until the next call.
 * The call also changes the string that cfg_keys has returned. */
const char *cfg_hint_or_keys(const cfg_section *s, const char *hint);
/* Return 1 if the key with this value is v4. */
int cfg_is_v4(const cfg_section *s, const char *key, const char *value);
/* Return what is wrong with a key's value, such as "must not be negative"; null if nothing is. Only
 * some keys are checked. value: numbers separated by commas; text that is no number is left to its
 * parser. */
const char *cfg_out_of_range(const cfg_section *s, const char *key, const char *value);

#endif
