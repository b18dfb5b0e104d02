/* options/columns.h: defines the words of options.def's column `columns` (AGREE, USUAL, PLAN and so
 * on), for .c files that include options.def. The names are short, so include it in no header. */
#ifndef DDP_OPTIONS_COLUMNS_H
#define DDP_OPTIONS_COLUMNS_H

#include "options/ddp_commands.h"
#include "options/table.h"

enum {
    AGREE = DDP_OPTION_AGREE,
    RESULTS = DDP_OPTION_RESULTS,
    ROUNDING = DDP_OPTION_ROUNDING,
    BY_RANKS = DDP_OPTION_BY_RANKS,
    ON_GPU = DDP_OPTION_ON_GPU,
    USUAL = DDP_OPTION_USUAL,
#define COMMAND(id, ...) id = DDP_OPTION_READ_BY(DDP_COMMAND_##id),
#include "options/ddp_commands.def"
#undef COMMAND
};

#endif
