#include "timing/replay.h"

#include "base/clock.h"

#include <darknet.h>
#include <network.h>
#include <sys/prctl.h>
#include <time.h>

/* POLL_NS: how often messages are moved, as layers that compute do. LEAST_NS: a shorter time is
 * added to the next layer's instead of slept. AHEAD_NS: oversleeping by up to this much is taken
 * off the next layers' times. A longer stall is this machine's own, and no layer may run faster
 * because of it. */
enum { POLL_NS = 500000, LEAST_NS = 50000, AHEAD_NS = 1000000, SLACK_NS = 1000 };

/* The run's state: Darknet calls without context. */
static struct {
    const network *net;
    const ddp_layer_profile *profile;
    double scale;
    int64_t owed_ns; /* time still to be slept */
} replay;

static void nap(int64_t ns)
{
    const struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    (void)nanosleep(&t, NULL);
}

/* Sleep for a layer's time. Time that messages take passes for a GPU, too, and not for a CPU. */
static void pass(double seconds)
{
    replay.owed_ns += (int64_t)(seconds * 1e9);
    while (replay.owed_ns > LEAST_NS) {
        int64_t began_ns = ddp_clock_ns(), slept_ns;

        nap(replay.owed_ns < POLL_NS ? replay.owed_ns : POLL_NS);
        slept_ns = ddp_clock_ns();
        let_messages_move(*replay.net);
        replay.owed_ns -= (replay.profile->on_gpu ? ddp_clock_ns() : slept_ns) - began_ns;
    }
    if (replay.owed_ns < -AHEAD_NS)
        replay.owed_ns = -AHEAD_NS;
}

static void forward(layer l, network net)
{
    (void)l;
    pass(replay.scale * replay.profile->times[net.index].forward);
}

static void backward(layer l, network net)
{
    const ddp_layer_times *times = &replay.profile->times[net.index];

    (void)l;
    pass(replay.scale * times->gradients);
    announce_gradients(net);
    pass(replay.scale * times->rest);
}

/* Sleep for a layer's update. Its output tells which layer it is. */
static void update(layer l, update_args a)
{
    int i = 0;

    (void)a;
    while (replay.net->layers[i].output != l.output)
        i++;
    pass(replay.profile->times[i].update);
}

void ddp_replay_begin(network *net, const ddp_layer_profile *profile)
{
    (void)prctl(PR_SET_TIMERSLACK, SLACK_NS);
    replay.net = net;
    replay.profile = profile;
    replay.scale = (double)net->batch / profile->images;
    replay.owed_ns = 0;
    for (int i = 0; i < net->n; i++) {
        layer *l = &net->layers[i];

        l->outputs = 0; /* else Darknet would fill its delta with zeros */
        l->forward = forward;
        l->backward = backward;
        if (l->update)
            l->update = update;
    }
}
