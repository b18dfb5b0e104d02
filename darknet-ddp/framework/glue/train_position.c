#include "glue/train_position.h"

#include <darknet.h>

ddp_train_position ddp_train_position_of(const network *net)
{
    size_t images = *net->seen;
    size_t batch = (size_t)net->batch * (size_t)net->subdivisions;
    size_t since_update = images % (batch * (size_t)net->accumulate);
    int each = net->subdivisions / net->world;
    int begun = (int)(images % batch / (size_t)net->batch) / net->world;

    return (ddp_train_position){
        .images = images,
        .step = images / batch,
        .last_step = net->max_batches > 0 ? (size_t)net->max_batches : 0,
        .learnt_step = (images - since_update) / batch,
        .begun = begun,
        .mini_batch = (begun + each - 1) % each,
        .step_ends = images % batch == 0,
        .update_ends = since_update == 0,
        .since_update = since_update,
    };
}

int ddp_train_position_mini_batches(const network *net)
{
    return net->subdivisions / net->world * net->accumulate;
}
