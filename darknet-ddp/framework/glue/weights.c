#include "glue/weights.h"

#include "glue/network.h"

#include <darknet.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's finding, in memory that it shares with its parent. */
static ddp_weights_fit *answer;

/* Darknet's fatal_handler, which must not return. */
static void refuse(int exit_status, const char *message)
{
    (void)exit_status;
    (void)snprintf(answer->refusal, sizeof answer->refusal, "%s", message);
    answer->refusal[strcspn(answer->refusal, "\n")] = 0;
    _exit(0);
}

static ssize_t count_bytes(void *cookie, const char *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)cookie += size;
    return (ssize_t)size;
}

/* Return the bytes of a weights file that holds the first `layers` layers. */
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
    network *net = ddp_network_load(&shape, cfg, one, 2, -1, 0);

    fit->cfg_layers = net->n;
    load_weights(net, (char *)weights);
    fit->file_layers = layers_in(net, size + missing_in_header(weights));
    free_network(net);
}

/* Load in a child, which Darknet may end where it refuses. */
static ddp_status load_in_child(const char *cfg, const char *weights, size_t size, ddp_error *err)
{
    pid_t child;
    int status;

    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        fatal_handler = refuse;
        weights_force = 0;
        load(cfg, weights, size, answer);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return ddp_fail(err, DDP_ERR_IO, "cannot load %s: %s", weights, strerror(errno));
    return status ? ddp_fail(err, DDP_ERR_IO, "cannot load %s: it ended with status %d", weights,
                             status)
                  : DDP_OK;
}

ddp_status ddp_weights_check(const char *cfg, const char *weights, ddp_weights_fit *fit,
                             ddp_error *err)
{
    struct stat st;
    ddp_status result;

    *fit = (ddp_weights_fit){0};
    if (stat(weights, &st))
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", weights, strerror(errno));
    answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to load %s", weights);
    result = load_in_child(cfg, weights, (size_t)st.st_size, err);
    *fit = *answer;
    (void)munmap(answer, sizeof *answer);
    return result;
}
