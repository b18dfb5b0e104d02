#include "state/weights_hash.h"

#include "glue/param_table.h"

#include <darknet.h>
#include <xxhash.h>

ddp_status ddp_weights_hash(uint64_t *hash, network *net, ddp_error *err)
{
    ddp_param_table table;

    if (ddp_param_table_init(&table, net, ddp_device_host(), err))
        return err->code;
    *hash = XXH3_64bits_withSeed(net->seen, sizeof *net->seen, ddp_param_table_hash(&table));
    ddp_param_table_release(&table);
    return DDP_OK;
}
