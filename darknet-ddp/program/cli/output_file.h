/* cli/output_file.h: files that a command writes because the line names them. A failure ends the
 * program with its sentence and exit status 1. */
#ifndef DDP_CLI_OUTPUT_FILE_H
#define DDP_CLI_OUTPUT_FILE_H

#include <stdio.h>

/* NULL for path NULL. */
FILE *ddp_output_file_open(const char *path);

/* All of it is written, or the file is removed, if it is a regular one. NULL is allowed. */
void ddp_output_file_close(FILE *file, const char *path);

#endif
