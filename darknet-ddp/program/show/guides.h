/* show/guides.h: finds the folder of the guides that messages name. */
#ifndef DDP_SHOW_GUIDES_H
#define DDP_SHOW_GUIDES_H

#include <limits.h>

/* Return the folder with the guides, as NAME.md: an installed program's own, written to `room`;
 * else "darknet-ddp/docs" of the source. */
const char *ddp_guides_folder(char room[PATH_MAX]);

#endif
