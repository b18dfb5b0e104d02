/* A sum of the GPU's memory never arrives: is that noticed wherever the program next waits for the
 * GPU? Usage: lost CFG resize|train|infer|save
 *
 * Two ranks train for a step on an emulated device on which a sum of that step fails on its way
 * (EMULATED_FAIL). What is named then waits for the GPU, which waits for the sum for ever: the
 * trainer has to see NCCL's error first, and "noticed: " with that error is printed. A signal ends
 * a rank that hangs. */
#include "../parity/model.h"
#include "comm/group_gpu.h"
#include "device/device.h"
#include "must.h"
#include "timing/synthetic.h"
#include "trainer/trainer.h"

#include <darknet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_S = 120 };

static int trained; /* errors before that are none that the test asks for */

static void notice(const ddp_error *err) __attribute__((noreturn));

static void notice(const ddp_error *err)
{
    (void)printf("%s: %s\n", trained ? "noticed" : "failed", err->text);
    (void)fflush(stdout);
    _exit(1); /* the group cannot be closed in order */
}

static ddp_group *open_group(void)
{
    ddp_group *g;
    ddp_gpu_config config = {.nccl = 1, .fail = notice};
    ddp_error err;

    must(ddp_group_open(&g, "mpi", &err), &err);
    config.gpu = ddp_group_local_rank(g);
    must(ddp_group_use_gpu(g, &config, &err), &err);
    return g;
}

static network *open_network(const char *cfg, ddp_group *g)
{
    const model_options model = {
        .cfg = cfg, .width = 32, .height = 32, .batch = 2, .subdivisions = 2, .on_gpu = 1};
    const ddp_trainer_config config = {
        .reducer = {.bucket_bytes = 1 << 24, .first_bucket_bytes = 1 << 24, .overlap = 1},
        .broadcast_buffers = 1,
        .sync_every = 1,
        .fail = notice};
    network *net = model_open(&model);
    ddp_trainer *t;
    ddp_error err;

    must(ddp_trainer_open(&t, g, &config, &err), &err);
    must(ddp_trainer_attach(t, net, &err), &err);
    return net;
}

static void step(network *net)
{
    ddp_synthetic_fill(net, 1, *net->seen);
    (void)train_network_datum(net);
}

static void wait_for_the_gpu(network *net, const char *how)
{
    if (strcmp(how, "resize") == 0)
        (void)resize_network(net, 64, 64);
    else if (strcmp(how, "train") == 0)
        step(net);
    else if (strcmp(how, "save") == 0)
        save_weights(net, "/dev/null");
    net->train = 0;
    forward_network(net);
}

int main(int argc, char **argv)
{
    network *net;

    if (argc != 3)
        return 2;
    net = open_network(argv[1], open_group());
    step(net);
    trained = 1;
    (void)alarm(PATIENCE_S);
    wait_for_the_gpu(net, argv[2]);
    (void)printf("%s: nothing was noticed\n", argv[2]);
    return 1;
}
