#include "glue/position.h"

#include <darknet.h>

ddp_position ddp_position_of(const network *net)
{
    size_t images = *net->seen;
    size_t batch = (size_t)net->batch * (size_t)net->subdivisions;

    return (ddp_position){
        .images = images,
        .step = images / batch,
        .last_step = net->max_batches > 0 ? (size_t)net->max_batches : 0,
        .learnt = images % (batch * (size_t)net->accumulate) == 0,
    };
}
