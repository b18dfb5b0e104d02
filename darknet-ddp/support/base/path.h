/* base/path.h: the parts of a path. */
#ifndef DDP_BASE_PATH_H
#define DDP_BASE_PATH_H

/* Return a pointer to what stands behind the last slash of a path; without a slash, return path. */
const char *ddp_path_name(const char *path);

/* Return the folder of a file, which the caller frees: "." for a bare name. NULL: no memory. */
char *ddp_path_folder(const char *path);

#endif
