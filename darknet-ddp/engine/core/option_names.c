#include "core/option_names.h"

const ddp_option_names ddp_plain_option_names = {
    .exact = "an exact run",
    .batch = "batch mode",
    .sync_every = "sync_every",
    .buffers = "broadcast_buffers",
    .find_unused = "find_unused",
};
