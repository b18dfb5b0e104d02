/* options/removed_options.h: options that older builds had, so that a user who still gives one
 * reads what became of it, and not that it is unknown. */
#ifndef DDP_OPTIONS_REMOVED_OPTIONS_H
#define DDP_OPTIONS_REMOVED_OPTIONS_H

/* What to use in its place, behind "NAME is gone: "; NULL: there never was such an option. */
const char *ddp_removed_option(const char *name);

#endif
