#include "checkpoint/set_aside.h"

#include "checkpoint/find.h"
#include "checkpoint/match.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ddp_status no_memory(const char *directory, ddp_error *err)
{
    return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of files in %s", directory);
}

static int starts_with(const char *name, const char *base)
{
    return strncmp(name, base, strlen(base)) == 0;
}

/* A weights file, or a state file that was written beside one. */
static int is_of_pair(const char *directory, const char *name, const char *base)
{
    char weights[NAME_MAX + 1];

    ddp_match_weights_name(weights, sizeof weights, name);
    return ddp_match_is_of_run(directory, weights, base);
}

/* Is this a file that nothing else can replace: weights, averages or figures? */
static int is_result(const char *directory, const char *name, const char *base)
{
    return is_of_pair(directory, name, base) || ddp_match_is_average(directory, name, base)
           || (starts_with(name, base) && strcmp(name + strlen(base), ".csv") == 0);
}

static int is_of_run(const char *directory, const char *name, const char *base)
{
    static const char *const ends[] = {".csv.old", ".html",    ".suspects.html", ".losses",
                                       ".log",     ".log.old", ".finished",      ".events"};
    const char *rest;

    if (!starts_with(name, base))
        return 0;
    if (is_result(directory, name, base))
        return 1;
    rest = name + strlen(base);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (strcmp(rest, ends[i]) == 0)
            return 1;
    /* A rank's own events; figures of before their columns changed. */
    return strncmp(rest, ".events.", 8) == 0 || strncmp(rest, ".csv.old.", 9) == 0;
}

static const char moving_end[] = ".moving"; /* BASE.<number>.moving: files are on their way */

/* The number of BASE.<number>, a folder of files that were set aside, or of BASE.<number>.moving;
 * 0: it is none. */
static unsigned long number_of(const char *name, const char *base, int *is_moving)
{
    const char *digits, *end;

    if (!starts_with(name, base) || name[strlen(base)] != '.')
        return 0;
    digits = name + strlen(base) + 1;
    end = digits + strspn(digits, "0123456789");
    *is_moving = strcmp(end, moving_end) == 0;
    if (*digits < '1' || *digits > '9' || (*end && !*is_moving) || end - digits > 9)
        return 0;
    return strtoul(digits, NULL, 10);
}

/* The contents of a directory that a run has saved in. */
struct found {
    char **names; /* its files */
    size_t count, room;
    int has_results;
    unsigned long last;   /* folder's number; 0: there is none */
    unsigned long moving; /* the number of one whose files are on their way; 0: of none */
};

static void release(struct found *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->names[i]);
    free(f->names);
}

static int add_name(struct found *f, const char *name)
{
    if (f->count == f->room) {
        size_t room = f->room * 2 + 16;
        char **names = reallocarray(f->names, room, sizeof *names);

        if (!names)
            return 0;
        f->names = names;
        f->room = room;
    }
    f->names[f->count] = strdup(name);
    return f->names[f->count] && ++f->count;
}

static ddp_status look(struct found *f, const char *directory, const char *base, ddp_error *err)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;

    *f = (struct found){0};
    if (!dir)
        return ddp_fail(err, DDP_ERR_IO, "cannot read directory %s: %s", directory,
                        strerror(errno));
    while ((entry = readdir(dir)) != NULL) {
        int is_moving;
        unsigned long number = number_of(entry->d_name, base, &is_moving);

        if (number > f->last)
            f->last = number;
        if (number && is_moving)
            f->moving = number;
        if (!is_of_run(directory, entry->d_name, base))
            continue;
        f->has_results |= is_result(directory, entry->d_name, base);
        if (!add_name(f, entry->d_name)) {
            (void)closedir(dir);
            return no_memory(directory, err);
        }
    }
    (void)closedir(dir);
    return DDP_OK;
}

/* spare gets a second name, or a copy where the file system has no such names. Of a second name
 * that goes back one name is left: rename() would leave both. */
static ddp_status move_file(const char *from, const char *to, const char *spare, ddp_error *err)
{
    int failed;

    if (spare && ddp_file_is_same(from, spare))
        return link(from, to) ? ddp_file_copy(to, from, err) : DDP_OK;
    failed = ddp_file_is_same(from, to) ? unlink(from) : rename(from, to);
    return failed ? ddp_fail(err, DDP_ERR_IO, "cannot move %s to %s: %s", from, to, strerror(errno))
                  : DDP_OK;
}

static ddp_status move_one(const char *name, const char *from, const char *to, const char *spare,
                           ddp_error *err)
{
    char *old = NULL, *new = NULL;
    ddp_status st = DDP_OK;

    if (asprintf(&old, "%s/%s", from, name) < 0 || asprintf(&new, "%s/%s", to, name) < 0)
        st = no_memory(from, err);
    else
        st = move_file(old, new, spare, err);
    free(old);
    free(new);
    return st;
}

static ddp_status move(const struct found *f, const char *from, const char *to, const char *spare,
                       ddp_error *err)
{
    ddp_status st = DDP_OK;

    for (size_t i = 0; !st && i < f->count; i++)
        st = move_one(f->names[i], from, to, spare, err);
    return st;
}

/* Is there a file of that name in both folders, and another one in each? */
static int is_in_both(const char *a, const char *b, const char *name, const char *end)
{
    char one[PATH_MAX], other[PATH_MAX];

    (void)snprintf(one, sizeof one, "%s/%s%s", a, name, end);
    (void)snprintf(other, sizeof other, "%s/%s%s", b, name, end);
    return access(one, F_OK) == 0 && access(other, F_OK) == 0 && !ddp_file_is_same(one, other);
}

/* Would this file write over another, or the rest of its pair? */
static int is_taken(const char *name, const char *from, const char *to)
{
    char weights[NAME_MAX + 1];

    ddp_match_weights_name(weights, sizeof weights, name);
    return is_in_both(from, to, weights, "") || is_in_both(from, to, weights, ".state")
           || is_in_both(from, to, weights, ".state.part");
}

/* The files of moving, which is folder on its way, back to their places; *moved: some did. What is
 * left is in folder then: other files, and pairs in whose places others lie. */
static ddp_status put_back(int *moved, const char *moving, const char *folder,
                           const char *directory, const char *base, ddp_error *err)
{
    struct found f;
    ddp_status st = look(&f, moving, base, err);

    *moved = 0;
    for (size_t i = 0; !st && i < f.count; i++) {
        if (is_taken(f.names[i], moving, directory))
            continue;
        st = move_one(f.names[i], moving, directory, NULL, err);
        *moved |= !st;
    }
    release(&f);
    if (!st && rmdir(moving) && rename(moving, folder))
        st = ddp_fail(err, DDP_ERR_IO, "cannot rename %s to %s: %s", moving, folder,
                      strerror(errno));
    return st;
}

/* The names of a folder, and of the same while files are on their way. */
struct folder {
    char *path, *moving;
};

static ddp_status name_folder(struct folder *folder, const char *directory, const char *base,
                              unsigned long number, ddp_error *err)
{
    *folder = (struct folder){0};
    if (asprintf(&folder->path, "%s/%s.%lu", directory, base, number) < 0
        || asprintf(&folder->moving, "%s%s", folder->path, moving_end) < 0)
        return no_memory(directory, err);
    return DDP_OK;
}

/* All files to the folder, or none. */
static ddp_status move_out(const struct found *f, const char *directory, const char *base,
                           const struct folder *folder, const char *spare, ddp_error *err)
{
    ddp_error ignored;
    int moved;

    if (mkdir(folder->moving, 0777))
        return ddp_fail(err, DDP_ERR_IO, "cannot make %s for the files of an earlier run: %s",
                        folder->path, strerror(errno));
    if (move(f, directory, folder->moving, spare, err)) {
        (void)!put_back(&moved, folder->moving, folder->path, directory, base, &ignored);
        return err->code;
    }
    if (rename(folder->moving, folder->path))
        return ddp_fail(err, DDP_ERR_IO, "cannot rename %s to %s: %s", folder->moving, folder->path,
                        strerror(errno));
    return DDP_OK;
}

static ddp_status set_aside(char **path, const char *directory, const char *base, const char *spare,
                            int whatever_there_is, ddp_error *err)
{
    struct found f;
    struct folder folder = {0};
    ddp_status st = look(&f, directory, base, err);
    int is_due = f.has_results || (whatever_there_is && f.count > 0);

    if (!st && is_due)
        st = name_folder(&folder, directory, base, f.last + 1, err);
    if (!st && is_due)
        st = move_out(&f, directory, base, &folder, spare, err);
    release(&f);
    free(folder.moving);
    if (st)
        free(folder.path);
    *path = st ? NULL : folder.path;
    return st;
}

ddp_status ddp_set_aside(char **folder, const char *directory, const char *base, const char *spare,
                         ddp_error *err)
{
    return set_aside(folder, directory, base, spare, 0, err);
}

/* Does the folder have that file; without a name: a pair? */
static int holds(const char *folder, const char *base, const char *name)
{
    ddp_pair_header latest = {0};
    ddp_error ignored;
    char *path = NULL;
    int found;

    if (!name) {
        found = !ddp_pair_latest(&latest, folder, base, &ignored) && latest.weights;
        free(latest.weights);
        return found;
    }
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return 0;
    found = access(path, F_OK) == 0;
    free(path);
    return found;
}

/* Return the folder's greatest number below `limit`; 0: there is none. */
static unsigned long greatest_below(const char *directory, const char *base, unsigned long limit,
                                    int *is_moving)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    unsigned long greatest = 0;

    while (dir && (entry = readdir(dir)) != NULL) {
        int moves;
        unsigned long number = number_of(entry->d_name, base, &moves);

        if (number > greatest && number < limit) {
            greatest = number;
            *is_moving = moves;
        }
    }
    if (dir)
        (void)closedir(dir);
    return greatest;
}

char *ddp_set_aside_last(const char *directory, const char *base, const char *name)
{
    unsigned long number = ULONG_MAX;
    char *path = NULL;
    int is_moving;

    while (!path && (number = greatest_below(directory, base, number, &is_moving)) > 0) {
        if (asprintf(&path, "%s/%s.%lu%s", directory, base, number, is_moving ? moving_end : "")
            < 0)
            path = NULL;
        if (path && !holds(path, base, name)) {
            free(path);
            path = NULL;
        }
    }
    return path;
}

ddp_status ddp_set_aside_undo(int *moved, const char *folder, const char *directory,
                              const char *base, ddp_error *err)
{
    char *other, *moving = NULL;
    ddp_status st = set_aside(&other, directory, base, NULL, 1, err);

    free(other);
    *moved = 0;
    if (!st && asprintf(&moving, "%s%s", folder, moving_end) < 0)
        st = no_memory(directory, err);
    if (!st && rename(folder, moving))
        st = ddp_fail(err, DDP_ERR_IO, "cannot rename %s to %s: %s", folder, moving,
                      strerror(errno));
    if (!st)
        st = put_back(moved, moving, folder, directory, base, err);
    free(moving);
    return st;
}

ddp_status ddp_set_aside_recover(int *moved, const char *directory, const char *base,
                                 ddp_error *err)
{
    struct found f;
    struct folder folder = {0};
    ddp_status st = look(&f, directory, base, err);

    *moved = 0;
    if (!st && f.moving) {
        st = name_folder(&folder, directory, base, f.moving, err);
        if (!st)
            st = put_back(moved, folder.moving, folder.path, directory, base, err);
    }
    release(&f);
    free(folder.path);
    free(folder.moving);
    return st;
}
