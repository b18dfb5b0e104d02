/* show/output_file.h: opens and closes files that a command's options name for output. If one
 * cannot be written, the functions print a message and end every rank, with exit status 1. */
#ifndef DDP_SHOW_OUTPUT_FILE_H
#define DDP_SHOW_OUTPUT_FILE_H

#include <stdio.h>

/* Open the file at path to write; if that fails, end every rank. Returns NULL if path is NULL. */
FILE *ddp_output_file_open(const char *path);

/* Close the file. If not all of it could be written, remove it (only a regular file), and end
 * every rank. file may be NULL. */
void ddp_output_file_close(FILE *file, const char *path);

#endif
