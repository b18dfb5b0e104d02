#include "run/compress_run.h"

#include "base/text.h"
#include "device/wire.h"

/* Each number that a rank sends travels as two, value and place, and each rank receives those of
 * all others. */
ddp_status ddp_compress_run_check_ranks(const ddp_options *o, int ranks, ddp_error *err)
{
    double most = 100.0 / (2 * ranks);

    if (o->compress.word != DDP_CHOICE_topk || ranks == 1 || o->compress.value <= most)
        return DDP_OK;
    return ddp_fail(err, DDP_ERR_USAGE,
                    "-ddp_compress topk:%g on %d ranks sums more numbers than there are gradients: "
                    "at most topk:%.3g does not",
                    o->compress.value, ranks, most);
}

static double megabytes(size_t floats)
{
    return (double)floats * sizeof(float) / 1e6;
}

static void print_compressed(FILE *out, const ddp_options *o, const ddp_reducer *r)
{
    char text[DDP_COMPRESS_TEXT];

    if (!ddp_reducer_compresses(r)) {
        (void)fprintf(
            out,
            "DDP: -ddp_compress %s would make no matrix of this network smaller: gradients "
            "travel as they are\n",
            ddp_compress_choice_format(&o->compress, text));
        return;
    }
    (void)fprintf(out, "DDP: gradients travel by ");
    if (o->compress.word == DDP_CHOICE_topk)
        (void)fprintf(out, "the largest %g%% of each matrix", o->compress.value);
    else
        (void)fprintf(out, "PowerSGD of rank %g", o->compress.value);
    (void)fprintf(out, ": %.3f MB of %.3f, and ranks keep what that leaves out for later",
                  megabytes(ddp_reducer_count(r)), megabytes(ddp_reducer_plan(r)->count));
    if (o->compress_after > 0)
        (void)fprintf(out, ", from step %d on", o->compress_after + 1);
    (void)fputs("\n", out);
}

void ddp_compress_run_print(FILE *out, const ddp_options *o, const ddp_group *group,
                            const ddp_trainer *t)
{
    const ddp_reducer *r = ddp_trainer_reducer(t);

    if (ddp_group_size(group) == 1 || o->compress.word == DDP_CHOICE_NONE)
        return;
    if (!ddp_compress_choice_has_errors(&o->compress))
        (void)fprintf(out, "DDP: gradients travel as %s and are added in float32\n",
                      ddp_wire_name(ddp_compress_choice_wire(&o->compress)));
    else
        print_compressed(out, o, r);
}

void ddp_compress_run_print_resumed(const ddp_options *o, int was, int now)
{
    if (!ddp_compress_choice_has_errors(&o->compress) || was == now || was <= 1)
        return;
    if (now == 1)
        printf("DDP: what %d ranks have kept of compressed gradients is lost: a rank that is "
               "alone compresses nothing\n",
               was);
    else
        printf("DDP: what %d ranks have kept of compressed gradients is added up on %d\n", was,
               now);
}
