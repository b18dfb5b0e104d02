#include "inputs/same_cfg.h"

#include "base/file.h"
#include "core/agree.h"

#include <stdio.h>

ddp_status ddp_same_cfg(ddp_group *group, const char *cfg, ddp_error *err)
{
    ddp_file_checksum sum = {0};
    char text[64];

    if (ddp_file_checksum_of(cfg, &sum, err))
        return err->code;
    (void)snprintf(text, sizeof text, "contents of the cfg: hash %016llx",
                   (unsigned long long)sum.hash);
    return ddp_agree(group, text, err);
}
