/* Measures how long the phases of training (forward, backward, update, between steps) take, and
 * communication. Other files share its functions to check a result or wait for sums. */
#include "comm/group_gpu.h"
#include "trainer/trainer_state.h"

#include "base/clock.h"

#include <string.h>

void ddp_trainer_check(const ddp_trainer *t, ddp_status st, const ddp_error *err)
{
    if (st)
        t->config.fail(err);
}

ddp_device *ddp_trainer_device(const ddp_trainer *t, const network *net)
{
    return net->gpu_index < 0 ? ddp_device_host() : ddp_group_device(t->group);
}

/* For a profiler. Between steps there is none. */
static void change_range(ddp_trainer_phase before, ddp_trainer_phase phase)
{
    static const char *const names[DDP_TRAINER_PHASES] = {[DDP_TRAINER_FORWARD] = "forward",
                                                          [DDP_TRAINER_BACKWARD] = "backward",
                                                          [DDP_TRAINER_UPDATE] = "update"};

    if (phase == before)
        return;
    if (before != DDP_TRAINER_OUTSIDE)
        ddp_device_range_pop();
    if (phase != DDP_TRAINER_OUTSIDE)
        ddp_device_range_push(names[phase]);
}

void ddp_trainer_enter_phase(ddp_trainer *t, ddp_trainer_phase phase)
{
    int64_t now = ddp_clock_ns();
    int64_t communication_ns = ddp_trainer_communication_ns(t);

    t->spent_ns[t->phase] +=
        now - t->phase_began_ns - (communication_ns - t->phase_communication_ns);
    change_range(t->phase, phase);
    t->phase = phase;
    t->phase_began_ns = now;
    t->phase_communication_ns = communication_ns;
}

void ddp_trainer_begin_times(ddp_trainer *t)
{
    t->phase = DDP_TRAINER_OUTSIDE;
    t->phase_began_ns = ddp_clock_ns();
    t->phase_communication_ns = ddp_trainer_communication_ns(t);
    memset(t->spent_ns, 0, sizeof t->spent_ns);
}

void ddp_trainer_wait_for_sums(ddp_trainer *t)
{
    ddp_error err;

    ddp_trainer_check(t, ddp_group_synchronize(t->group, &err), &err);
}

/* ---- asked about ---- */

int64_t ddp_trainer_communication_ns(const ddp_trainer *t)
{
    ddp_reducer_times times = ddp_reducer_total_times(t->reducer);

    /* The program runs ahead of a GPU: what it waits for costs nothing while the GPU works. */
    if (!ddp_device_is_host(t->table.device))
        return ddp_group_stalled_ns(t->group) - t->stalled_at_attach_ns;
    return times.wait_ns + times.drive_ns + t->waited_ns;
}

ddp_trainer_times ddp_trainer_total_times(ddp_trainer *t)
{
    int host = ddp_device_is_host(t->table.device);

    ddp_trainer_enter_phase(t, t->phase);
    return (ddp_trainer_times){.forward_ns = host ? t->spent_ns[DDP_TRAINER_FORWARD] : 0,
                               .backward_ns = host ? t->spent_ns[DDP_TRAINER_BACKWARD] : 0,
                               .update_ns = host ? t->spent_ns[DDP_TRAINER_UPDATE] : 0,
                               .outside_ns = t->spent_ns[DDP_TRAINER_OUTSIDE]};
}
