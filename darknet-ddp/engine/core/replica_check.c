#include "core/replica_check.h"

#include "comm/collectives.h"
#include "core/rank_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

struct ddp_replica_check {
    ddp_group *group;
    const ddp_param_table *table;
    const ddp_batchnorm_stats *statistics;
    uint64_t *sums;   /* of each parameter, and behind them of each buffer's statistics */
    size_t count;     /* of sums */
    size_t step;      /* when they were taken */
    size_t same_step; /* when ranks last had the same; 0: never looked */
};

ddp_status ddp_replica_check_open(ddp_replica_check **out, ddp_group *group,
                                  const ddp_param_table *table,
                                  const ddp_batchnorm_stats *statistics, ddp_error *err)
{
    ddp_replica_check *v = calloc(1, sizeof *v);

    *out = NULL;
    if (v) {
        *v = (ddp_replica_check){.group = group,
                                 .table = table,
                                 .statistics = statistics,
                                 .count = table->param_count + table->buffer_count};
        v->sums = calloc(v->count + 1, sizeof *v->sums);
    }
    if (!v || !v->sums) {
        ddp_replica_check_close(v);
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for checksums of parameters");
    }
    *out = v;
    return DDP_OK;
}

void ddp_replica_check_close(ddp_replica_check *v)
{
    if (!v)
        return;
    free(v->sums);
    free(v);
}

uint64_t ddp_replica_check_checksum(ddp_replica_check *v, size_t step)
{
    const ddp_param_table *table = v->table;
    const float *statistics = ddp_batchnorm_stats_agreed_values(v->statistics);
    uint64_t *sum = v->sums;

    for (size_t i = 0; i < table->param_count; i++)
        *sum++ = ddp_device_checksum(table->device, table->params[i].value, table->params[i].count);
    for (size_t i = 0; i < table->buffer_count && statistics; i++) {
        *sum++ = ddp_device_checksum(table->device, statistics, table->buffers[i].count);
        statistics += table->buffers[i].count;
    }
    v->step = step;
    return XXH3_64bits(v->sums, v->count * sizeof *v->sums);
}

void ddp_replica_check_note_equal(ddp_replica_check *v)
{
    v->same_step = v->step;
}

/* ---- where ranks differ ---- */

static void name_array(const ddp_replica_check *v, size_t i, char *out, size_t size)
{
    const ddp_param_table *t = v->table;

    if (i < t->param_count)
        (void)snprintf(out, size, "layer %d (%s) %s", t->params[i].layer, t->params[i].kind,
                       t->params[i].part);
    else
        (void)snprintf(out, size, "layer %d (%s) %s", t->buffers[i - t->param_count].layer,
                       t->buffers[i - t->param_count].kind, t->buffers[i - t->param_count].part);
}

/* Copy the checksums of array i, rank by rank. */
static void column(const ddp_replica_check *v, const uint64_t *all, size_t i, uint64_t *out)
{
    for (int r = 0; r < ddp_group_size(v->group); r++)
        out[r] = all[(size_t)r * v->count + i];
}

/* How many ranks have the hash of rank r? */
static int count_alike(const uint64_t *of_one, int ranks, int r)
{
    int count = 0;

    for (int k = 0; k < ranks; k++)
        count += of_one[k] == of_one[r];
    return count;
}

/* A rank of the largest side; -1: another side is as large, as with two ranks, or all differ. */
static int rank_of_majority(const uint64_t *of_one, int ranks)
{
    int found = 0, tie = 0;

    for (int r = 1; r < ranks; r++) {
        int here = count_alike(of_one, ranks, r), most = count_alike(of_one, ranks, found);

        tie = here == most ? tie || of_one[r] != of_one[found] : tie && here < most;
        found = here > most ? r : found;
    }
    return tie ? -1 : found;
}

/* Who has failed, of whom array i differs: "of rank 2 on b no longer have the bits of ranks 0, 1 on
 * a: ...". */
static ddp_status accuse(const ddp_replica_check *v, const uint64_t *of_one, char *out, size_t size,
                         ddp_error *err)
{
    int ranks = ddp_group_size(v->group), good = rank_of_majority(of_one, ranks);
    char *in = calloc((size_t)ranks, 1);
    char these[112], others[112];

    if (!in)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for %d ranks", ranks);
    for (int r = 0; r < ranks; r++)
        in[r] = (char)(of_one[r] != of_one[good < 0 ? 0 : good]);
    (void)ddp_rank_names(v->group, in, these, sizeof these);
    for (int r = 0; r < ranks; r++)
        in[r] = (char)!in[r];
    (void)ddp_rank_names(v->group, in, others, sizeof others);
    free(in);
    if (good >= 0)
        (void)snprintf(out, size,
                       "of %s no longer have the bits of %s, which are more: memory or a processor "
                       "has failed there",
                       these, others);
    else
        (void)snprintf(out, size,
                       "of %s and of %s no longer have the same bits: memory or a processor has "
                       "failed on one side, and it is undecided on which, for neither is larger",
                       others, these);
    return DDP_OK;
}

static ddp_status describe(const ddp_replica_check *v, const uint64_t *of_one, size_t first,
                           size_t arrays, ddp_error *err)
{
    char array[96], who[400], more[32] = "", since[64] = "";

    if (accuse(v, of_one, who, sizeof who, err))
        return err->code;
    name_array(v, first, array, sizeof array);
    if (arrays > 1)
        (void)snprintf(more, sizeof more, " and %zu more", arrays - 1);
    if (v->same_step > 0)
        (void)snprintf(since, sizeof since, "after step %zu they were still the same; ",
                       v->same_step);
    return ddp_fail(err, DDP_ERR_MISMATCH,
                    "step %zu: %s%s %s; %sweights that were saved since may be spoiled", v->step,
                    array, more, who, since);
}

static int differs(const uint64_t *of_one, int ranks)
{
    return count_alike(of_one, ranks, 0) < ranks;
}

/* all: the ranks' sums, one rank after the other; of_one: room for a number a rank. */
static ddp_status compare(const ddp_replica_check *v, const uint64_t *all, uint64_t *of_one,
                          ddp_error *err)
{
    size_t first = 0, arrays = 0;

    for (size_t i = v->count; i-- > 0;) {
        column(v, all, i, of_one);
        if (differs(of_one, ddp_group_size(v->group))) {
            first = i;
            arrays++;
        }
    }
    if (arrays == 0)
        return ddp_fail(
            err, DDP_ERR_MISMATCH,
            "step %zu: the sum that compares ranks went wrong, though all parameters are "
            "the same",
            v->step);
    column(v, all, first, of_one);
    return describe(v, of_one, first, arrays, err);
}

ddp_status ddp_replica_check_name_difference(ddp_replica_check *v, ddp_error *err)
{
    size_t ranks = (size_t)ddp_group_size(v->group);
    uint64_t *of_one = calloc(ranks, sizeof *of_one);
    uint64_t *all = ddp_allgather_new(v->group, v->sums, v->count * sizeof *v->sums, err);
    ddp_status st = DDP_OK;

    if (!of_one)
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory to compare %zu ranks", ranks);
    else
        st = all ? compare(v, all, of_one, err) : err->code;
    free(all);
    free(of_one);
    return st;
}
