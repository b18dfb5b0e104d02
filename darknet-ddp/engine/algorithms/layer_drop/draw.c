#include "algorithms/layer_drop/draw.h"

#include "base/random.h"

/* exp(-x), x from 0, to some 13 digits. By products: exp may differ between the C libraries of two
 * hosts, and ranks that draw by other probabilities would train other networks. */
static double decay(double x)
{
    double term = 1, sum = 1;
    int halvings = 0;

    if (x > 700)
        return 0;
    for (; x > 1.0 / 16; x /= 2)
        halvings++;
    for (int n = 1; n < 12; n++) {
        term *= -x / n;
        sum += term;
    }
    for (; halvings > 0; halvings--)
        sum *= sum;
    return sum;
}

double ddp_layer_drop_keep_probability(const ddp_layer_drop *d, int block, size_t step)
{
    double dropped = d->most * (1 - decay(100 * (double)step / (double)d->steps));

    return 1 - (block + 1) / (double)d->blocks * dropped;
}

int ddp_layer_drop_drops_block(const ddp_layer_drop *d, int block, size_t step)
{
    uint32_t bits[4];

    ddp_random_block(d->seed, ddp_random_topic(DDP_PURPOSE_LAYER_DROP, block), step, 0, bits);
    return bits[0] / 4294967296.0 >= ddp_layer_drop_keep_probability(d, block, step);
}
