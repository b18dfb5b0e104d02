#include "inputs/same_data.h"

#include "base/clock.h"
#include "base/file.h"
#include "comm/collectives.h"
#include "core/agree.h"
#include "inputs/arguments.h"
#include "inputs/text_file.h"
#include "samples/transforms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

enum { BLOCK = 256 }; /* pictures */

/* Reading a label takes microseconds here and a millisecond on a far disk. */
static const int64_t search_ns = 10 * (int64_t)1000000000;

/* The lists of one comparison. */
struct contents {
    ddp_group *group;
    ddp_truth_files truth;
    char *const *paths;
    size_t count;
    uint64_t *hashes; /* of each block that this rank has looked at */
    size_t blocks;
};

/* ---- the .data file ---- */

ddp_truth_files ddp_same_data_truth(const char *command, const char *data)
{
    ddp_sections sections = {0};
    ddp_error ignored;
    int tagged;

    if (strcmp(command, "detector") == 0 || strcmp(command, "regressor") == 0)
        return DDP_TRUTH_LABELS;
    if (strcmp(command, "segmenter") == 0 || strcmp(command, "isegmenter") == 0)
        return DDP_TRUTH_MASKS;
    if (strcmp(command, "classifier") != 0)
        return DDP_TRUTH_NONE;
    tagged = !ddp_data_read(&sections, data, &ignored) && ddp_sections_whole(&sections, "tag", 0);
    ddp_sections_release(&sections);
    return tagged ? DDP_TRUTH_LABELS : DDP_TRUTH_NONE;
}

/* Keys whose values are paths, which may differ from host to host. */
static const char *const path_keys[] = {"train", "valid", "names", "labels", "tree", "map", NULL};
/* Keys that rank 0 alone needs. */
static const char *const keys_of_rank_0[] = {"backup", "results", NULL};

static int is_among(const char *key, const char *const *keys)
{
    while (*keys && strcmp(key, *keys) != 0)
        keys++;
    return *keys != NULL;
}

static ddp_status agree_on_text(ddp_group *group, FILE *f, char **text, ddp_error *err)
{
    ddp_status st;

    if (fclose(f))
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for what ranks compare");
    else
        st = ddp_agree(group, *text, err);
    free(*text);
    return st;
}

ddp_status ddp_same_data_agree_on_data(ddp_group *group, const char *command, const char *data,
                                       ddp_error *err)
{
    ddp_sections sections = {0};
    char *text;
    size_t size;
    FILE *f;

    if (!ddp_arguments_has_data(command) || ddp_group_size(group) == 1)
        return DDP_OK;
    f = open_memstream(&text, &size);
    if (!f)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for what ranks compare");
    if (ddp_data_read(&sections, data, err)) /* Darknet says so where it is the same everywhere */
        (void)fprintf(f, "%s\n", err->text);
    for (size_t i = 0; i < sections.cfg.count; i++) {
        const ddp_cfg_line *line = &sections.cfg.lines[i];

        if (line->value && !is_among(line->key, path_keys) && !is_among(line->key, keys_of_rank_0))
            (void)fprintf(f, "%s=%s in the .data file\n", line->key, line->value);
    }
    for (const char *const *key = path_keys; *key; key++)
        if (ddp_sections_line(&sections, *key))
            (void)fprintf(f, "%s=... in the .data file\n", *key);
    ddp_sections_release(&sections);
    return agree_on_text(group, f, &text, err);
}

/* ---- pictures and their truth ---- */

static uint64_t picture_bytes(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (uint64_t)info.st_size : UINT64_MAX;
}

static void truth_path(ddp_truth_files truth, const char *picture, char *out)
{
    out[0] = '\0';
    if (truth == DDP_TRUTH_LABELS)
        ddp_label_path(picture, out);
    else if (truth == DDP_TRUTH_MASKS)
        ddp_mask_path(picture, out);
}

/* The hash of the file; 0 where there is none. */
static uint64_t hash_of(const char *path)
{
    ddp_error ignored;
    uint64_t size, hash = 0;
    size_t bytes;
    void *data;

    if (path[0] && ddp_file_read(path, SIZE_MAX, &data, &bytes, &size, &ignored) == DDP_OK) {
        hash = XXH3_64bits(data, bytes) | 1;
        free(data);
    }
    return hash;
}

static size_t block_end(const struct contents *c, size_t block)
{
    size_t end = (block + 1) * BLOCK;

    return end < c->count ? end : c->count;
}

static uint64_t hash_block(const struct contents *c, size_t block)
{
    char path[DDP_LABEL_PATH_BYTES];
    uint64_t hash = 0;

    for (size_t i = block * BLOCK; i < block_end(c, block); i++) {
        uint64_t both[2] = {picture_bytes(c->paths[i]), 0};

        truth_path(c->truth, c->paths[i], path);
        both[1] = hash_of(path);
        hash = XXH3_64bits_withSeed(both, sizeof both, hash);
    }
    return hash;
}

static void hash_blocks(struct contents *c)
{
    int64_t end_ns = ddp_clock_ns() + search_ns;

    for (; c->blocks * BLOCK < c->count && ddp_clock_ns() < end_ns; c->blocks++)
        c->hashes[c->blocks] = hash_block(c, c->blocks);
}

/* c->blocks becomes how many all ranks have looked at. */
static ddp_status cut_to_common(struct contents *c, ddp_error *err)
{
    size_t *all = ddp_allgather_new(c->group, &c->blocks, sizeof c->blocks, err);

    if (!all)
        return err->code;
    for (int r = 0; r < ddp_group_size(c->group); r++)
        if (all[r] < c->blocks)
            c->blocks = all[r];
    free(all);
    return DDP_OK;
}

/* *same: blocks [0, count) are on all ranks. */
static ddp_status same_blocks(const struct contents *c, size_t count, int *same, ddp_error *err)
{
    uint64_t hash = XXH3_64bits(c->hashes, count * sizeof *c->hashes);
    ddp_hash_difference sides = {0};
    ddp_status st = ddp_compare_hashes(&sides, c->group, hash, err);

    *same = !sides.differ;
    return st;
}

/* Ranks differ in this block: fails with the first file. */
static ddp_status name_difference(const struct contents *c, size_t block, ddp_error *err)
{
    char path[DDP_LABEL_PATH_BYTES];
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for what ranks compare");
    for (size_t i = block * BLOCK; i < block_end(c, block); i++) {
        uint64_t bytes = picture_bytes(c->paths[i]);

        if (bytes == UINT64_MAX)
            (void)fprintf(f, "%s: cannot be read\n", c->paths[i]);
        else
            (void)fprintf(f, "%s: %" PRIu64 " bytes\n", c->paths[i], bytes);
        truth_path(c->truth, c->paths[i], path);
        if (path[0])
            (void)fprintf(f, "%s: contents %016" PRIx64 "\n", path, hash_of(path));
    }
    return agree_on_text(c->group, f, &text, err);
}

static ddp_status compare(struct contents *c, ddp_error *err)
{
    size_t low = 0, high;
    int same;

    if (cut_to_common(c, err) || same_blocks(c, c->blocks, &same, err))
        return err->code;
    if (same)
        return DDP_OK;
    for (high = c->blocks; high - low > 1;) { /* blocks before low are the same, before high not */
        size_t middle = low + (high - low) / 2;

        if (same_blocks(c, middle, &same, err))
            return err->code;
        if (same)
            low = middle;
        else
            high = middle;
    }
    return name_difference(c, low, err);
}

ddp_status ddp_same_data_agree(ddp_group *group, ddp_truth_files truth, char *const *paths,
                               size_t n, ddp_error *err)
{
    struct contents c = {.group = group, .truth = truth, .paths = paths, .count = n};
    ddp_status st;

    if (ddp_group_size(group) == 1)
        return DDP_OK;
    c.hashes = calloc(n / BLOCK + 1, sizeof *c.hashes);
    if (!c.hashes)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to compare %zu pictures", n);
    hash_blocks(&c);
    st = compare(&c, err);
    free(c.hashes);
    return st;
}
