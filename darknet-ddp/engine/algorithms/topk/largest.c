/* The two halves of top-k compression on the host, and the choice between these and a GPU's
 * (largest.h). */
#include "algorithms/topk/largest.h"

#include "algorithms/compression.h"

static void encode(ddp_device *d, const ddp_matrix *m, float *scratch)
{
    (void)scratch;
    ddp_device_add(d, m->gradient, m->error, m->count);
    ddp_top_k_select(ddp_matrix_payload_of(m, m->rank), m->gradient, m->count, m->value);
}

/* NaN, of a sum that is not finite, is no zero. */
static int ran_nowhere(const float *ran)
{
    return *ran <= 0;
}

static void decode(ddp_device *d, const ddp_matrix *m, const float *ran)
{
    if (!ran_nowhere(ran)) {
        ddp_device_copy(d, m->error, m->gradient, m->count);
        ddp_top_k_clear(m->error, ddp_matrix_payload_of(m, m->rank), m->count, m->value);
    }
    ddp_device_zero(d, m->gradient, m->count);
    for (int rank = 0; rank < m->ranks && !ran_nowhere(ran); rank++)
        ddp_top_k_add(m->gradient, ddp_matrix_payload_of(m, rank), m->count, m->value);
}

static const ddp_largest_ops on_host = {.encode = encode, .decode = decode};

static const ddp_largest_ops *ops_of(const ddp_device *d)
{
    return ddp_device_is_host(d) ? &on_host : ddp_largest_on_gpu;
}

void ddp_largest_encode(ddp_device *d, const ddp_matrix *m, float *scratch)
{
    ops_of(d)->encode(d, m, scratch);
}

void ddp_largest_decode(ddp_device *d, const ddp_matrix *m, const float *ran)
{
    ops_of(d)->decode(d, m, ran);
}
