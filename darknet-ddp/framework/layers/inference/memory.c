#include "layers/inference/step.h"

#include "layers/graph.h"
#include "utils.h"

#include <stdlib.h>

/* Return 1 if layer `reader` reads the tensor of layer i when it is computed. */
static int reads_tensor(const inference_plan *p, int reader, int i)
{
    int k, source;

    if (p->steps[reader].kind != STEP_PLANNED && p->steps[reader].kind != STEP_DONE)
        return 0;
    for (k = 0; (source = layer_source(p->net, reader, k)) != NO_SOURCE; ++k)
        if (inference_origin(p, source) == i)
            return 1;
    return 0;
}

/* Return the last layer that reads the tensor of layer i; i if there is none. */
static int last_reader(const inference_plan *p, int i)
{
    int j, last = i;

    for (j = i + 1; j < p->net->n; ++j)
        if (reads_tensor(p, j, i))
            last = j;
    return last;
}

/* Return a slot that is free before layer i, of as many bytes if there is one. */
static int find_slot(const inference_plan *p, const int *used_until, int i, size_t bytes)
{
    int k, best = -1;

    for (k = 0; k < p->slot_count; ++k) {
        if (used_until[k] >= i)
            continue;
        if (best < 0
            || (p->slot_bytes[best] < bytes
                    ? p->slot_bytes[k] > p->slot_bytes[best]
                    : p->slot_bytes[k] >= bytes && p->slot_bytes[k] < p->slot_bytes[best]))
            best = k;
    }
    return best;
}

/* The slots are chosen first and allocated when their sizes are known. */
static int choose_slot(inference_plan *p, int *used_until, int i, int until, size_t bytes)
{
    int k = find_slot(p, used_until, i, bytes);

    if (k < 0)
        k = p->slot_count++;
    if (p->slot_bytes[k] < bytes)
        p->slot_bytes[k] = bytes;
    used_until[k] = until;
    return k;
}

/* Return the layer in whose tensor layer i, done by the convolution before it, can be computed: the
 * one that it adds, if the convolution and later layers do not read that. */
static int in_place_of(const inference_plan *p, int i)
{
    const int added = p->steps[i].kind == STEP_DONE ? p->steps[i - 1].adds : NO_SOURCE;

    if (added < 0 || last_reader(p, added) != i || reads_tensor(p, i - 1, added))
        return NO_SOURCE;
    return added;
}

static int is_kept(const inference_step *s)
{
    return s->kind == STEP_PLANNED || s->kind == STEP_DONE || s->is_read;
}

void inference_share_memory(inference_plan *p)
{
    const int n = p->net->n;
    int *slot_of = calloc((size_t)n + 1, sizeof *slot_of);
    int *used_until = calloc((size_t)n + 1, sizeof *used_until);
    int i, k;

    p->slots = calloc((size_t)n + 1, sizeof *p->slots);
    p->slot_bytes = calloc((size_t)n + 1, sizeof *p->slot_bytes);
    if (p->input_is_read)
        slot_of[n] = choose_slot(p, used_until, -1, last_reader(p, NETWORK_INPUT),
                                 inference_tensor_bytes(p, &p->input));
    for (i = 0; i < n; ++i) {
        const inference_step *s = &p->steps[i];
        const int place = in_place_of(p, i);
        /* A convolution writes the tensor of a [shortcut] behind it when it runs itself. */
        const int begin = s->kind == STEP_DONE ? i - 1 : i;

        if (!is_kept(s) || s->writes != i)
            continue;
        slot_of[i] = place != NO_SOURCE ? slot_of[place]
                                        : choose_slot(p, used_until, begin, last_reader(p, i),
                                                      inference_tensor_bytes(p, &s->out));
        if (place != NO_SOURCE)
            used_until[slot_of[i]] = last_reader(p, i);
    }
    for (k = 0; k < p->slot_count; ++k)
        p->slots[k] = inference_allocate(p->slot_bytes[k]);
    if (p->input_is_read)
        p->input.values = p->slots[slot_of[n]];
    for (i = 0; i < n; ++i)
        if (is_kept(&p->steps[i]) && p->steps[i].writes == i)
            p->steps[i].out.values = p->slots[slot_of[i]];
    free(slot_of);
    free(used_until);
}
