#include "core/sync_batchnorm.h"

#include "comm/collectives.h"

#include <stdlib.h>
#include <string.h>

struct ddp_sync_batchnorm {
    ddp_group *group;
    size_t room;     /* channels that fit into the arrays */
    float *mine;     /* two floats a channel: all of the first, then all of the second */
    float *of_ranks; /* the same of each rank, one after the other */
};

ddp_status ddp_sync_batchnorm_open(ddp_sync_batchnorm **out, ddp_group *group, ddp_error *err)
{
    ddp_sync_batchnorm *j = calloc(1, sizeof *j);

    *out = j;
    if (!j)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for BatchNorm over all ranks");
    j->group = group;
    return DDP_OK;
}

void ddp_sync_batchnorm_close(ddp_sync_batchnorm *j)
{
    if (!j)
        return;
    free(j->mine);
    free(j->of_ranks);
    free(j);
}

static ddp_status make_room(ddp_sync_batchnorm *j, size_t channels, ddp_error *err)
{
    size_t bytes = 2 * channels * sizeof(float);

    if (channels <= j->room)
        return DDP_OK;
    free(j->mine);
    free(j->of_ranks);
    j->mine = malloc(bytes);
    j->of_ranks = malloc((size_t)ddp_group_size(j->group) * bytes);
    j->room = j->mine && j->of_ranks ? channels : 0;
    return j->room ? DDP_OK
                   : ddp_fail(err, DDP_ERR_NOMEM,
                              "no memory for BatchNorm of %zu channels over "
                              "all ranks",
                              channels);
}

static ddp_status gather(ddp_sync_batchnorm *j, size_t channels, const float *a, const float *b,
                         ddp_error *err)
{
    size_t bytes = channels * sizeof(float);

    if (make_room(j, channels, err))
        return err->code;
    memcpy(j->mine, a, bytes);
    memcpy(j->mine + channels, b, bytes);
    return ddp_allgather(j->group, j->mine, j->of_ranks, 2 * bytes, err)
               ? ddp_wrap(err, "BatchNorm over all ranks")
               : DDP_OK;
}

ddp_status ddp_sync_batchnorm_join(ddp_sync_batchnorm *j, size_t channels, double count,
                                   float *means, float *squares, ddp_error *err)
{
    int ranks = ddp_group_size(j->group);

    if (gather(j, channels, means, squares, err))
        return err->code;
    for (size_t c = 0; c < channels; c++) {
        double mean = 0, all = 0;

        for (int r = 0; r < ranks; r++)
            mean += j->of_ranks[2 * channels * (size_t)r + c];
        mean /= ranks;
        for (int r = 0; r < ranks; r++) {
            const float *rank = j->of_ranks + 2 * channels * (size_t)r;
            double distance = rank[c] - mean;

            all += rank[channels + c] + count * distance * distance;
        }
        means[c] = (float)mean;
        squares[c] = (float)all;
    }
    return DDP_OK;
}

ddp_status ddp_sync_batchnorm_average(ddp_sync_batchnorm *j, size_t channels, float *a, float *b,
                                      ddp_error *err)
{
    int ranks = ddp_group_size(j->group);

    if (gather(j, channels, a, b, err))
        return err->code;
    for (size_t c = 0; c < channels; c++) {
        double sum_a = 0, sum_b = 0;

        for (int r = 0; r < ranks; r++) {
            const float *rank = j->of_ranks + 2 * channels * (size_t)r;

            sum_a += rank[c];
            sum_b += rank[channels + c];
        }
        a[c] = (float)(sum_a / ranks);
        b[c] = (float)(sum_b / ranks);
    }
    return DDP_OK;
}
