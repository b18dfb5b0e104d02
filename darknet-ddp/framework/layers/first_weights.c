#include "layers/first_weights.h"
#include "utils.h"

static _Thread_local FIRST_WEIGHTS chosen = NORMAL_WEIGHTS;
static _Thread_local int skipped;

void choose_first_weights(FIRST_WEIGHTS kind)
{
    chosen = kind;
}

void skip_first_weights(int skips)
{
    skipped = skips;
}

void draw_first_weights(float *weights, int n, float scale)
{
    for (int i = 0; i < n && !skipped; ++i)
        weights[i] = scale * (chosen == UNIFORM_WEIGHTS ? rand_uniform(-1, 1) : rand_normal());
}
