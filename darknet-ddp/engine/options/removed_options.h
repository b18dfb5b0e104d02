/* options/removed_options.h: options that older builds had, so that a user who still gives one
 * reads what became of it, and not that it is unknown. */
#ifndef DDP_OPTIONS_REMOVED_OPTIONS_H
#define DDP_OPTIONS_REMOVED_OPTIONS_H

/* Return what to use in place of a removed option, as the end of "NAME is gone: "; NULL if there
 * never was such an option. */
const char *ddp_removed_option(const char *name);

#endif
