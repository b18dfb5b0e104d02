/* Tells, by name and by content, which weights files are a run's, and which state file belongs to a
 * weights file. Also finishes an interrupted save. */
#include "checkpoint/match.h"

#include "base/file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char state_end[] = ".state", part_end[] = ".state.part";

/* ---- by their names ---- */

/* BASE, what follows it, a number, and the end? */
static int has_number(const char *name, const char *base, const char *between, const char *end)
{
    size_t length = strlen(base), digits;

    if (strncmp(name, base, length) != 0 || strncmp(name + length, between, strlen(between)) != 0)
        return 0;
    length += strlen(between);
    digits = strspn(name + length, "0123456789");
    return digits > 0 && strcmp(name + length + digits, end) == 0;
}

int ddp_match_is_numbered(const char *name, const char *base)
{
    return has_number(name, base, "_", ".weights");
}

int ddp_match_is_weights(const char *name, const char *base)
{
    static const char *const ends[] = {".backup", ".weights", "_final.weights", "_last.weights",
                                       "_best.weights"};
    size_t length = strlen(base);

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (strncmp(name, base, length) == 0 && strcmp(name + length, ends[i]) == 0)
            return 1;
    return ddp_match_is_numbered(name, base) || has_number(name, base, "_best_", ".weights")
           || has_number(name, base, "_final_", ".weights")
           || has_number(name, base, "_", ".backup"); /* of `go` */
}

static int ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), end_length = strlen(end);

    return length > end_length && strcmp(name + length - end_length, end) == 0;
}

int ddp_match_is_part(const char *file)
{
    return ends_with(file, part_end);
}

int ddp_match_weights_name(char *out, size_t size, const char *file)
{
    size_t length = strlen(file);
    int is_state = ends_with(file, part_end) || ends_with(file, state_end);

    if (is_state)
        length -= (ends_with(file, part_end) ? sizeof part_end : sizeof state_end) - 1;
    (void)snprintf(out, size, "%.*s", (int)length, file);
    return is_state;
}

int ddp_match_is_pair_file(const char *file, const char *base)
{
    char weights[NAME_MAX + 1];

    ddp_match_weights_name(weights, sizeof weights, file);
    return ddp_match_is_weights(weights, base);
}

/* ---- by what is in them ---- */

/* Has it no state file that names another base? X.state.part counts where there is no X.state: a
 * first save that died between its last renames. */
static int is_no_others(const char *directory, const char *name, const char *base)
{
    static const char *const ends[] = {state_end, part_end};
    ddp_checkpoint_metadata metadata, wanted;
    ddp_error ignored;
    int is_others = 0;

    ddp_checkpoint_set_base(&wanted, base);
    for (int i = 0; i < 2; i++) {
        char *state = NULL;

        if (asprintf(&state, "%s/%s%s", directory, name, ends[i]) < 0)
            return 0;
        is_others = !ddp_checkpoint_peek(&metadata, state, &ignored)
                    && strcmp(metadata.base, wanted.base) != 0;
        i += access(state, F_OK) == 0;
        free(state);
    }
    return !is_others;
}

int ddp_match_is_of_run(const char *directory, const char *name, const char *base)
{
    return ddp_match_is_weights(name, base) && is_no_others(directory, name, base);
}

int ddp_match_is_average(const char *directory, const char *name, const char *base)
{
    size_t length = strlen(base);
    int is_named = strncmp(name, base, length) == 0 && strcmp(name + length, "_ema.weights") == 0;

    return (is_named || has_number(name, base, "_ema_", ".weights"))
           && is_no_others(directory, name, base);
}

char *ddp_state_path(const char *weights)
{
    char *path;

    return asprintf(&path, "%s.state", weights) < 0 ? NULL : path;
}

ddp_status ddp_match_check_weights(const char *weights, const ddp_checkpoint_metadata *metadata,
                                   ddp_error *err)
{
    ddp_file_checksum sum;

    if (ddp_file_checksum_of(weights, &sum, err))
        return err->code;
    if (sum.bytes != metadata->weights_bytes)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s has %" PRIu64 " bytes, its state says %" PRIu64,
                        weights, sum.bytes, metadata->weights_bytes);
    if (sum.hash != metadata->weights_hash)
        return ddp_fail(err, DDP_ERR_MISMATCH, "%s is not the file that its state describes",
                        weights);
    return DDP_OK;
}

char *ddp_state_part_path(const char *weights)
{
    char *path;

    return asprintf(&path, "%s.state.part", weights) < 0 ? NULL : path;
}

/* Is state whole, and of this weights file? */
static ddp_status match(const char *weights, const char *state, ddp_error *err)
{
    ddp_checkpoint c;
    ddp_status st = ddp_checkpoint_read(&c, state, err);

    if (!st)
        st = ddp_match_check_weights(weights, &c.metadata, err);
    ddp_checkpoint_release(&c);
    return st;
}

ddp_status ddp_match_check_pair(const char *weights, ddp_error *err)
{
    char *state = ddp_state_path(weights);
    ddp_status st = state ? match(weights, state, err)
                          : ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", weights);

    free(state);
    return st;
}

static ddp_status promote(const char *weights, const char *state, const char *part, ddp_error *err)
{
    ddp_error why;
    ddp_checkpoint_metadata metadata;
    int renamed;
    ddp_status st = ddp_checkpoint_peek(&metadata, part, &why); /* mostly it is not there */

    if (!st)
        st = match(weights, part, &why);
    if (st == DDP_ERR_NOMEM)
        return ddp_fail(err, st, "%s", why.text);
    if (st || match(weights, state, &why) == DDP_OK)
        return DDP_OK;
    return ddp_file_rename(part, state, &renamed, err);
}

ddp_status ddp_match_finish_save(const char *weights, ddp_error *err)
{
    char *state = ddp_state_path(weights), *part = ddp_state_part_path(weights);
    ddp_status st;

    if (state && part)
        st = promote(weights, state, part, err);
    else
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory for %s", weights);
    free(state);
    free(part);
    return st;
}
