/* show/guides.h: finds the folder of the guides that messages name. */
#ifndef DDP_SHOW_GUIDES_H
#define DDP_SHOW_GUIDES_H

#include <limits.h>

/* Return the folder with the guides, files NAME.md: the installed one, written to `room`; without
 * it "darknet-ddp/docs", as in the source. */
const char *ddp_guides_folder(char room[PATH_MAX]);

#endif
