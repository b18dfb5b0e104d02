#include "options.h"

#include "device/wire.h"

#include <string.h>

static int is_key(const char *argument, const char *key, const char **value)
{
    size_t length = strlen(key);

    *value = argument + length + 1;
    return strncmp(argument, key, length) == 0 && argument[length] == '=';
}

static int parse_whole(parity_options *o, const char *argument)
{
    const struct {
        const char *key;
        int *to;
    } rows[] = {
        {"width", &o->model.width},
        {"height", &o->model.height},
        {"batch", &o->model.batch},
        {"subdivisions", &o->model.subdivisions},
        {"time_steps", &o->model.time_steps},
        {"crop", &o->model.crop},
        {"thin", &o->model.thin},
        {"frozen", &o->model.frozen},
        {"add_cost", &o->model.add_cost},
        {"smooth", &o->model.smooth},
        {"updates", &o->updates},
        {"sync_every", &o->sync_every},
        {"sync_bn", &o->sync_bn},
        {"rank_mode", &o->rank_mode},
        {"overlap", &o->overlap},
        {"variants", &o->variants},
        {"ordered", &o->ordered},
        {"refused", &o->refused},
        {"skip_layer", &o->skip.layer},
        {"skip_rank", &o->skip.rank},
        {"skip_mini_batch", &o->skip.mini_batch},
        {"skip_from", &o->skip.from},
    };
    const char *value;
    char *end;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!is_key(argument, rows[i].key, &value))
            continue;
        *rows[i].to = (int)strtol(value, &end, 10);
        return end != value && !*end;
    }
    return 0;
}

static int parse_one(parity_options *o, const char *argument)
{
    const char *value;
    char *end;

    if (is_key(argument, "learning_rate", &value)) {
        o->model.learning_rate = strtof(value, &end);
        return end != value && !*end;
    }
    if (is_key(argument, "bucket_mib", &value)) {
        o->bucket_mib = strtod(value, &end);
        return end != value && !*end;
    }
    if (is_key(argument, "gpu", &value)) {
        o->gpu = value;
        return o->model.on_gpu = strcmp(value, "nccl") == 0 || strcmp(value, "mpi") == 0;
    }
    if (is_key(argument, "wire", &value)) {
        o->wire = strcmp(value, "bf16") == 0 ? DDP_WIRE_BF16 : DDP_WIRE_FP16;
        return strcmp(value, ddp_wire_name(o->wire)) == 0;
    }
    if (strcmp(argument, "order=darknet") == 0)
        return o->darknet_order = 1;
    return parse_whole(o, argument);
}

parity_options parity_parse(int argc, char **argv)
{
    parity_options o = {
        .skip = {.layer = -1, .rank = -1, .mini_batch = -1},
        .updates = 5,
        .sync_every = 1,
        .overlap = 1,
        .ordered = 1,
        .bucket_mib = 25,
    };

    if (argc < 2) {
        (void)fprintf(stderr, "usage: parity CFG [key=value]...\n");
        exit(2);
    }
    o.model.cfg = argv[1];
    for (int i = 2; i < argc; i++) {
        if (parse_one(&o, argv[i]))
            continue;
        (void)fprintf(stderr, "parity: '%s' is no option of this test\n", argv[i]);
        exit(2);
    }
    return o;
}
