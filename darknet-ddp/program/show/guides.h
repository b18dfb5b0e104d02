/* show/guides.h: finds the folder of the guides (docs) that messages name. */
#ifndef DDP_SHOW_GUIDES_H
#define DDP_SHOW_GUIDES_H

#include <limits.h>

/* Return the path of the installed folder with the guides, written to `room`. If none is installed,
 * return "darknet-ddp/docs", as in the source. */
const char *ddp_guides_folder(char room[PATH_MAX]);

#endif
