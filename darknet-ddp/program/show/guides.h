/* show/guides.h: where the guides are that messages name. */
#ifndef DDP_SHOW_GUIDES_H
#define DDP_SHOW_GUIDES_H

#include <limits.h>

/* The folder that has them as NAME.md: of a program that was installed, its own, in room; else
 * "darknet-ddp/docs" of the source. */
const char *ddp_guides_folder(char room[PATH_MAX]);

#endif
