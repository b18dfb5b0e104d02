#include "check/rate.h"

#include <stdlib.h>
#include <string.h>

/* steps= without its policy changes nothing, one that is less than the one before comes with it,
 * and none that the run does not reach comes at all. */
static void check_steps(ddp_faults *f, const char *path, const ddp_cfg_section *net)
{
    const ddp_cfg_line *steps = ddp_cfg_find(net, "steps"), *policy = ddp_cfg_find(net, "policy"),
                       *length = ddp_cfg_find(net, "max_batches");
    double before = -1;

    if (!steps)
        return;
    if (!policy || strcmp(policy->value, "steps") != 0) {
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, steps->number,
                      "steps=%s: counts with policy=steps alone, and policy is %s", steps->value,
                      policy ? policy->value : "constant");
        return;
    }
    for (const char *at = steps->value; at; at = strchr(at, ',')) {
        double step = strtod(at += *at == ',', NULL);

        if (step < before)
            ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, steps->number,
                          "steps=%s: %g comes after %g", steps->value, step, before);
        if (length && before < atoi(length->value) && step >= atoi(length->value))
            ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, steps->number,
                          "steps=%s: max_batches=%s ends the run before %g, at which the rate "
                          "would change",
                          steps->value, length->value, step);
        before = step;
    }
}

void ddp_check_rate(ddp_faults *f, const char *path, const ddp_cfg_text *cfg)
{
    const ddp_cfg_line *rate, *burn_in, *length;
    ddp_cfg_section net;
    size_t at = 0;

    if (!ddp_cfg_next_section(cfg, &at, &net))
        return;
    rate = ddp_cfg_find(&net, "learning_rate");
    burn_in = ddp_cfg_find(&net, "burn_in");
    length = ddp_cfg_find(&net, "max_batches");
    if (rate && strtod(rate->value, NULL) == 0)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, rate->number,
                      "learning_rate=%s: nothing would be learnt", rate->value);
    if (burn_in && length && atoi(burn_in->value) >= atoi(length->value))
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-rate", path, burn_in->number,
                      "burn_in=%s: with max_batches=%s the rate never rises to learning_rate",
                      burn_in->value, length->value);
    check_steps(f, path, &net);
}

void ddp_check_batch_of_one(ddp_faults *f, const char *path, const ddp_cfg_text *cfg)
{
    const ddp_cfg_line *batch;
    ddp_cfg_section net;
    size_t at = 0;

    if (!ddp_cfg_next_section(cfg, &at, &net))
        return;
    batch = ddp_cfg_find(&net, "batch");
    if (!batch)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-batch", path, 0,
                      "[net] has no batch=, so the weights change after each picture");
    else if (atoi(batch->value) == 1)
        ddp_fault_add(f, DDP_FAULT_WARNING, "cfg-batch", path, batch->number,
                      "batch=1: the weights change after each picture");
}
