/* options/removed_options.h: options that older builds had, for an error that tells a user what to
 * give in place of one. */
#ifndef DDP_OPTIONS_REMOVED_OPTIONS_H
#define DDP_OPTIONS_REMOVED_OPTIONS_H

/* Return what to give in place of a removed option, as the end of the sentence "-NAME is gone:
 * ...". NULL: no option of that name was removed. name: with its dash. */
const char *ddp_removed_option(const char *name);

#endif
