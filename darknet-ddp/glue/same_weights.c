#include "glue/same_weights.h"

#include "core/agree.h"
#include "glue/table.h"

#include <darknet.h>
#include <xxhash.h>

ddp_status ddp_find_other_weights(ddp_group *group, network *net, int *odd, ddp_error *err)
{
    uint64_t hash;
    ddp_table table;

    *odd = 0;
    if (ddp_table_init(&table, net, ddp_device_host(), err))
        return err->code;
    hash = XXH3_64bits_withSeed(net->seen, sizeof *net->seen, ddp_table_hash(&table));
    ddp_table_release(&table);
    return ddp_find_odd_rank(group, hash, odd, err);
}
