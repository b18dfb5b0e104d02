/* check/faults.h: what is wrong with training data, as a list that ranks can put together. */
#ifndef DDP_CHECK_FAULTS_H
#define DDP_CHECK_FAULTS_H

#include "base/status.h"

#include <stddef.h>
#include <stdio.h>

/* Said behind its name of a text file that has bytes of 0 and begins so: an editor has saved it as
 * UTF-16, or a disk has left that of it. */
const char *ddp_has_zeros(const char *begin, size_t bytes);

typedef enum ddp_fault_level {
    DDP_FAULT_WARNING, /* training goes on, and is what was meant or nearly so */
    DDP_FAULT_ERROR    /* training would end, or learn something else than was meant */
} ddp_fault_level;

typedef struct ddp_fault {
    ddp_fault_level level;
    int line;         /* of the file, from 1; 0: the whole file */
    const char *kind; /* short and fixed, for programs: "label-columns" */
    const char *file;
    const char *text; /* a sentence, without file and line */
} ddp_fault;

typedef struct ddp_faults {
    char *text; /* of all: five words and a newline each, tabs between them */
    size_t bytes, room;
    int lost; /* some are missing: there was no memory for them */
} ddp_faults;

/* Add one. Tabs and newlines in file and text become blanks. */
void ddp_fault_add(ddp_faults *f, ddp_fault_level level, const char *kind, const char *file,
                   int line, const char *fmt, ...) DDP_PRINTF(6, 7);

/* Add a warning where a text file begins with a byte-order mark, which is skipped. */
void ddp_check_bom(ddp_faults *f, const char *file, int has_mark);

/* Append what another rank found: its text[0..bytes). */
void ddp_faults_append(ddp_faults *f, const char *text, size_t bytes);

/* Leave out what was found twice, as in a picture that two lists have: the same fault at the same
 * place, of a picture with another place in a list, too. */
void ddp_faults_unique(ddp_faults *f);

/* Is there one of this kind, or of one that begins so? */
int ddp_faults_have(const ddp_faults *f, const char *kind);

void ddp_faults_release(ddp_faults *f); /* all zero is allowed */

/* Call each with every fault in turn; the strings are valid until it returns. The list is spent:
 * only release it afterwards. */
void ddp_faults_each(ddp_faults *f, void (*each)(void *ctx, const ddp_fault *fault), void *ctx);

#endif
