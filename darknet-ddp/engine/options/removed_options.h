/* options/removed_options.h: options that older builds had. To a user who still gives one, an error
 * says what became of it, not that it is unknown. */
#ifndef DDP_OPTIONS_REMOVED_OPTIONS_H
#define DDP_OPTIONS_REMOVED_OPTIONS_H

/* Return the end of the sentence "-NAME is gone: ...", which says what to use in place of a removed
 * option. NULL if there never was such an option. name: with its dash. */
const char *ddp_removed_option(const char *name);

#endif
