#include "saves/disk_use.h"

#include <stdio.h>
#include <sys/statvfs.h>

static double state_floats(const ddp_state *state, size_t params, int ranks)
{
    double floats = 0;

    for (size_t k = 0; k < ddp_state_set_count(state); k++) {
        ddp_state_kind kind = ddp_state_set_spec(state, k)->kind;
        int copies = kind == DDP_STATE_SAME ? 1 : kind == DDP_STATE_OF_RANK ? ranks : 0;

        for (size_t i = 0; copies && i < params; i++)
            floats += (double)ddp_state_floats(state, k, i) * copies;
    }
    return floats;
}

ddp_disk_use ddp_disk_use_of(const ddp_param_table *table, const ddp_state *state, int ranks)
{
    ddp_disk_use floats = {.state = state_floats(state, table->param_count, ranks)};

    for (size_t i = 0; i < table->param_count; i++) {
        floats.weights += (double)table->params[i].count;
        floats.state += (double)table->params[i].count * table->params[i].optimizer.moments;
    }
    for (size_t i = 0; i < table->buffer_count; i++)
        floats.weights += (double)table->buffers[i].count;
    return (ddp_disk_use){floats.weights * sizeof(float), floats.state * sizeof(float)};
}

/* Write bytes with their unit to text, and return it. */
static const char *format_bytes(double bytes, char text[32])
{
    double unit = bytes < 1e6 ? 1e3 : bytes < 1e9 ? 1e6 : 1e9;

    (void)snprintf(text, 32, "%.1f %s", bytes / unit,
                   bytes < 1e6   ? "kB"
                   : bytes < 1e9 ? "MB"
                                 : "GB");
    return text;
}

ddp_status ddp_disk_check_room(const ddp_disk_use *use, const char *directory, ddp_error *err)
{
    struct statvfs disk;
    char room[32], wanted[32];

    if (statvfs(directory, &disk)
        || (double)disk.f_bavail * (double)disk.f_frsize >= use->weights + use->state)
        return DDP_OK; /* who saves where there is no folder says what is wrong */
    return ddp_fail(err, DDP_ERR_IO,
                    "%s has room for %s, and a checkpoint of this network takes at least %s: "
                    "nothing could be saved",
                    directory, format_bytes((double)disk.f_bavail * (double)disk.f_frsize, room),
                    format_bytes(use->weights + use->state, wanted));
}

size_t ddp_disk_numbered_of_detector(size_t last)
{
    return (last < 1000 ? last / 100 : 9) + last / 10000;
}

void ddp_disk_print(const ddp_disk_use *use, const ddp_disk_files *files, const char *directory)
{
    char all[32], pair[32], one[32];
    size_t numbered =
        files->keep && files->keep < files->numbered ? files->keep + 1 : files->numbered;
    /* A numbered pair has its state until the next one is saved, and one more pair is written. */
    size_t states = files->pairs + (numbered > 0) + 1;
    size_t weights = files->pairs + 1 + numbered + files->averages;

    printf("DDP: %s takes %s at most: pairs of %s, and %zu numbered weights of %s%s\n", directory,
           format_bytes((double)weights * use->weights + (double)states * use->state, all),
           format_bytes(use->weights + use->state, pair), numbered, format_bytes(use->weights, one),
           files->keep || numbered < 2 ? "" : ", of which -keep K leaves the last K");
}
