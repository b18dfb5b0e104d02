/* A folder with pairs of the toy checkpoint, and notes of what finding one says. */
#ifndef DDP_TESTS_UNIT_PAIR_FOLDER_H
#define DDP_TESTS_UNIT_PAIR_FOLDER_H

#include "checkpoint/find.h"
#include "checkpoint/pair.h"
#include "folder.h"

/* Setup and teardown of a test. */
int pair_folder_open(void **state);
int pair_folder_close(void **state);

extern struct folder pair_folder;

/* Save the checkpoint of that number as the pair `name`; returns 1; 0 if there was no space. Fails
 * the test for any other error. */
int pair_save(const char *name, int number);

/* Find a pair, and return its number, which all its parts must have; 0: there is none. want_name:
 * the name that it must have; NULL: any. */
int pair_find(const char *want_name);

/* A listener that notes what a search for pairs says, with file names in place of paths. */
extern const ddp_pair_listener pair_listener;

/* Fail unless these are the notes since the last call. */
void pair_expect_notes(const char *want);
void pair_forget_notes(void);

/* Fail unless these are the files in the folder. */
void pair_expect_names(const char *want);

#endif
