#include "layers/first_weights.h"
#include "utils.h"

static _Thread_local FIRST_WEIGHTS chosen = NORMAL_WEIGHTS;

void choose_first_weights(FIRST_WEIGHTS kind)
{
    chosen = kind;
}

void draw_first_weights(float *weights, int n, float scale)
{
    int i;
    for (i = 0; i < n; ++i)
        weights[i] = scale * (chosen == UNIFORM_WEIGHTS ? rand_uniform(-1, 1) : rand_normal());
}
