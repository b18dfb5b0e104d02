/* show/output_file.h: files that a command writes because its command line names them. If one
 * cannot be written, the functions end the program with a message and exit status 1. */
#ifndef DDP_SHOW_OUTPUT_FILE_H
#define DDP_SHOW_OUTPUT_FILE_H

#include <stdio.h>

/* Open the file at path for writing. Returns NULL if path is NULL. */
FILE *ddp_output_file_open(const char *path);

/* Close the file. If some of it could not be written, remove it, if it is a regular file, and end
 * the program. file NULL is allowed. */
void ddp_output_file_close(FILE *file, const char *path);

#endif
