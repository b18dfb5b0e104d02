#include "options/removed_options.h"

#include <stddef.h>
#include <string.h>

static const struct removed_option {
    const char *name, *instead;
} removed_options[] = {
    {"-ddp_autotune",
     "on no network did what it found beat the defaults; `darknet ddp bench CFG -ddp_bucket_mb "
     "MIB` "
     "measures a step with buckets of that size, and `darknet ddp plan CFG -profile FILE "
     "-ddp_bucket_mb MIB` predicts it"},
};

const char *ddp_removed_option(const char *name)
{
    for (size_t i = 0; i < sizeof removed_options / sizeof *removed_options; i++)
        if (strcmp(removed_options[i].name, name) == 0)
            return removed_options[i].instead;
    return NULL;
}
