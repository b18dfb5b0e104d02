#include "algorithms/claims.h"

#include "algorithms/algorithm.h"

#include <string.h>

/* ---- options that are no algorithm ---- */

static int is_exact(const ddp_options *o)
{
    return o->exact;
}

static int rounds_on_the_wire(const ddp_options *o)
{
    return ddp_compress_choice_wire(&o->compress) != DDP_WIRE_FP32;
}

static int joins_statistics(const ddp_options *o)
{
    return o->sync_bn;
}

static int keeps_statistics(const ddp_options *o)
{
    return o->broadcast_buffers != DDP_BUFFERS_STEP;
}

static int accumulates(const ddp_options *o)
{
    return o->sync_every > 1;
}

static int has_batch_of_rank(const ddp_options *o)
{
    return o->batch == DDP_BATCH_RANK;
}

static int drops_steps(const ddp_options *o)
{
    return o->on_nan > 0;
}

static int computes_in_bf16(const ddp_options *o)
{
    return o->bf16;
}

static int computes_in_fp32(const ddp_options *o)
{
    return o->fp32;
}

static const ddp_claimant others[] = {
    {"-ddp_exact", {.relies = DDP_GUARANTEE_EXACT}, is_exact},
    {"-ddp_compress bf16", {.breaks = DDP_GUARANTEE_EXACT}, rounds_on_the_wire},
    /* mini-batches grow with the ranks, which meet in each layer */
    {"-ddp_sync_bn 1",
     {.breaks = DDP_GUARANTEE_EXACT, .relies = DDP_GUARANTEE_SUMS},
     joins_statistics},
    {"-ddp_broadcast_buffers save", {.controls = DDP_CONTROLS_STATISTICS}, keeps_statistics},
    {"-ddp_sync_every 2", {.controls = DDP_CONTROLS_STEPS}, accumulates},
    /* the learning rate is that of all ranks' batches together */
    {"-ddp_batch rank", {.relies = DDP_GUARANTEE_SUMS}, has_batch_of_rank},
    {"-ddp_on_nan skip 2", {.relies = DDP_GUARANTEE_DROP}, drops_steps},
    {"-ddp_bf16 1", {.breaks = DDP_GUARANTEE_FP32}, computes_in_bf16},
    {"-ddp_fp32 1", {.relies = DDP_GUARANTEE_FP32}, computes_in_fp32},
};

enum { OTHERS = sizeof others / sizeof others[0] };

int ddp_claimant_at(size_t i, ddp_claimant *out)
{
    const ddp_algorithm *a;

    if (i < OTHERS) {
        *out = others[i];
        return 1;
    }
    a = ddp_algorithms[i - OTHERS]; /* i counts up from 0, and ends here */
    if (a)
        *out = (ddp_claimant){a->example, a->claims, a->is_on};
    return a != NULL;
}

/* ---- pairs ---- */

typedef struct claim_bit {
    const char *name, *why;
} claim_bit;

static const claim_bit controls[] = {
    {"sum", ": both decide how gradients are summed"},
    {"update", ": both decide who updates what"},
    {"order", ": both decide in which order sums start"},
    {"steps", ": both decide which steps sum gradients"},
    {"layers", ": both decide which layers a step has"},
    {"statistics", ": both decide how ranks get the same statistics of BatchNorm"},
};

/* The guarantees by bit: the name, and what an error says of the option that breaks it. */
static const claim_bit guarantees[] = {
    {"exact", ", whose result depends on the number of ranks"},
    {"drop", ", which cannot take back a step whose updates have begun"},
    {"sums", ", whose ranks update with their own gradients"},
    {"plain", ""},
    {"fp32", ", which computes in less than float32"},
};

enum {
    CONTROLS = sizeof controls / sizeof controls[0],
    GUARANTEES = sizeof guarantees / sizeof guarantees[0]
};

const char *ddp_controls_name(size_t bit)
{
    return bit < CONTROLS ? controls[bit].name : NULL;
}

const char *ddp_guarantee_name(size_t bit)
{
    return bit < GUARANTEES ? guarantees[bit].name : NULL;
}

/* The first one of a set that is not empty. */
static size_t first_of(unsigned set)
{
    size_t i = 0;

    while (!(set >> i & 1U))
        i++;
    return i;
}

/* Return why a and b exclude each other: the end of the sentence "A does not go with B", in which A
 * is a or, with *reversed 1, b. NULL: they go together. */
static const char *why_excluded(const ddp_claims *a, const ddp_claims *b, int *reversed)
{
    unsigned decided = a->controls & b->controls, broken = a->breaks & b->relies;
    unsigned relied = a->relies & b->breaks;

    *reversed = !relied && broken;
    if (relied | broken)
        return guarantees[first_of(relied ? relied : broken)].why;
    return decided ? controls[first_of(decided)].why : NULL;
}

int ddp_claims_exclude(const ddp_claims *a, const ddp_claims *b)
{
    int reversed;

    return why_excluded(a, b, &reversed) != NULL;
}

static ddp_status check_pair(const ddp_options *o, const ddp_claimant *a, const ddp_claimant *b,
                             ddp_error *err)
{
    char first[DDP_OPTION_TEXT_SIZE], second[DDP_OPTION_TEXT_SIZE];
    int reversed;
    const char *why = why_excluded(&a->claims, &b->claims, &reversed);

    if (!why)
        return DDP_OK;
    ddp_options_write_one(o, reversed ? b->example : a->example, first, sizeof first);
    ddp_options_write_one(o, reversed ? a->example : b->example, second, sizeof second);
    return ddp_fail(err, DDP_ERR_USAGE, "%s does not go with %s%s; leave one of them out", first,
                    second, why);
}

static ddp_status check_pairs(const ddp_options *o, ddp_error *err)
{
    ddp_claimant a, b;

    for (size_t i = 0; ddp_claimant_at(i, &a); i++)
        for (size_t k = 0; a.is_on(o) && k < i && ddp_claimant_at(k, &b); k++)
            if (b.is_on(o) && check_pair(o, &a, &b, err))
                return err->code;
    return DDP_OK;
}

static ddp_status check_command(const ddp_options *o, ddp_error *err)
{
    ddp_claimant a;

    for (size_t i = 0; ddp_claimant_at(i, &a); i++)
        if ((a.claims.breaks & DDP_GUARANTEE_PLAIN) && a.is_on(o))
            return ddp_fail(err, DDP_ERR_USAGE,
                            "%.*s is for training: `darknet ddp` knows only plain steps",
                            (int)strcspn(a.example, " "), a.example);
    return DDP_OK;
}

ddp_status ddp_claims_check(const ddp_options *o, int is_ddp_command, ddp_error *err)
{
    for (size_t i = 0; ddp_algorithms[i]; i++)
        if (ddp_algorithms[i]->check && ddp_algorithms[i]->check(o, err))
            return err->code;
    if (is_ddp_command && check_command(o, err))
        return err->code;
    return check_pairs(o, err);
}
