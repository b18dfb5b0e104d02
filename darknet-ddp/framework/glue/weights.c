#include "glue/weights.h"

#include "glue/network.h"

#include <darknet.h>

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Darknet refuses by a handler that must not return. */
static struct {
    jmp_buf back;
    ddp_weights_fit *fit;
} refusal;

static void refuse(int exit_status, const char *message)
{
    (void)exit_status;
    (void)snprintf(refusal.fit->wrong, sizeof refusal.fit->wrong, "%s", message);
    refusal.fit->wrong[strcspn(refusal.fit->wrong, "\n")] = 0;
    longjmp(refusal.back, 1); /* NOLINT(cert-err52-cpp): C's, over frames of C */
}

static ssize_t count_bytes(void *cookie, const char *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)cookie += size;
    return (ssize_t)size;
}

/* Of a file of the first so many layers. */
static size_t bytes_of(network *net, int layers)
{
    size_t bytes = 0;
    FILE *counter = fopencookie(&bytes, "w", (cookie_io_functions_t){.write = count_bytes});

    if (!counter)
        return 0;
    write_weights(net, counter, layers);
    (void)fclose(counter);
    return bytes;
}

/* How many layers a file of this size holds, those without weights behind the last one too. */
static int layers_in(network *net, size_t size)
{
    int low = 0, high = net->n; /* bytes_of(low) <= size */

    while (low < high) {
        int middle = low + (high - low + 1) / 2;

        if (bytes_of(net, middle) <= size)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Files of versions before 0.2 count their pictures in 4 bytes, others in 8 (load_weights_upto). */
static size_t missing_in_header(const char *weights)
{
    FILE *f = fopen(weights, "rbe");
    int version[2] = {0};
    size_t read = f ? fread(version, sizeof *version, 2, f) : 0;
    int counts_in_8 = version[0] * 10LL + version[1] >= 2 && version[0] < 1000 && version[1] < 1000;

    if (f)
        (void)fclose(f);
    return read == 2 && !counts_in_8 ? sizeof(size_t) - sizeof(int) : 0;
}

static void load(const char *cfg, const char *weights, size_t size, ddp_weights_fit *fit)
{
    const ddp_net_number one[] = {{"batch", 1}, {"subdivisions", 1}};
    ddp_network_shape shape;
    network *net = ddp_network_load(&shape, cfg, one, 2, -1);

    fit->of = net->n;
    load_weights(net, (char *)weights);
    fit->layers = layers_in(net, size + missing_in_header(weights));
    free_network(net);
}

ddp_status ddp_weights_check(const char *cfg, const char *weights, ddp_weights_fit *fit,
                             ddp_error *err)
{
    void (*outer)(int, const char *) = fatal_handler;
    const train_plugin *plugin = train_plugin_active;
    const cfg_value *values = cfg_net_values;
    const int force = weights_force;
    struct stat st;

    *fit = (ddp_weights_fit){0};
    if (stat(weights, &st))
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", weights, strerror(errno));
    refusal.fit = fit;
    fatal_handler = refuse;
    weights_force = 0;
    if (setjmp(refusal.back) == 0)
        load(cfg, weights, (size_t)st.st_size, fit);
    fatal_handler = outer;
    weights_force = force;
    train_plugin_active = (train_plugin *)plugin;
    cfg_net_values = values;
    return DDP_OK;
}
