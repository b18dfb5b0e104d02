#include "check/same_pictures.h"

#include "base/plural.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { SAMPLE = 4096, BLOCK = 1 << 16 };

/* A line of a list, and what is known of its file. */
struct picture {
    const ddp_list_lines *list;
    size_t at;       /* of list->all */
    int is_valid;    /* of the list to validate on */
    uint64_t size;   /* bytes; UINT64_MAX: it cannot be read */
    uint64_t sample; /* hash of its start, middle and end, or of the path */
    uint64_t whole;  /* hash of all of it; 0 if no other picture is like it so far */
};

/* So many pictures, and the first of them. */
struct found {
    size_t count;
    const struct picture *first, *like; /* and the one that is the same */
};

static const char *path_of(const struct picture *p)
{
    return p->list->all[p->at];
}

static void sample_file(struct picture *p)
{
    unsigned char bytes[SAMPLE];
    const char *path = path_of(p);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat is;

    p->size = UINT64_MAX;
    p->sample = XXH3_64bits(path, strlen(path));
    if (fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0) {
        const off_t starts[] = {0, is.st_size / 2, is.st_size > SAMPLE ? is.st_size - SAMPLE : 0};

        p->size = (uint64_t)is.st_size;
        p->sample = 0;
        for (int i = 0; i < 3; i++) {
            ssize_t got = pread(fd, bytes, sizeof bytes, starts[i]);

            p->sample = XXH3_64bits_withSeed(bytes, got > 0 ? (size_t)got : 0, p->sample);
        }
    }
    if (fd >= 0)
        (void)close(fd);
}

static void hash_whole(struct picture *p)
{
    unsigned char bytes[BLOCK];
    int fd = p->size == UINT64_MAX ? -1 : open(path_of(p), O_RDONLY | O_CLOEXEC);
    ssize_t got;

    while (fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0)
        p->whole = XXH3_64bits_withSeed(bytes, (size_t)got, p->whole);
    if (fd >= 0)
        (void)close(fd);
}

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Pictures that are alike stand side by side: those to train on first, each list in its order. */
static int compare(const void *a, const void *b)
{
    const struct picture *x = a, *y = b;
    int order = order_of(x->size, y->size);

    order = order ? order : order_of(x->sample, y->sample);
    order = order ? order : order_of(x->whole, y->whole);
    order = order ? order : x->is_valid - y->is_valid;
    return order ? order : order_of(x->at, y->at);
}

static int are_alike(const struct picture *a, const struct picture *b)
{
    return a->size == b->size && a->sample == b->sample && a->whole == b->whole;
}

static void sort(struct picture *all, size_t count)
{
    qsort(all, count, sizeof *all, compare);
    for (size_t i = 0; i < count; i++)
        if ((i > 0 && all[i].size == all[i - 1].size && all[i].sample == all[i - 1].sample)
            || (i + 1 < count && all[i].size == all[i + 1].size
                && all[i].sample == all[i + 1].sample))
            hash_whole(&all[i]);
    qsort(all, count, sizeof *all, compare);
}

static void add_found(struct found *found, const struct picture *p, const struct picture *like)
{
    found->count++;
    if (found->first && found->first->at < p->at)
        return;
    found->first = p;
    found->like = like;
}

static void say_same(ddp_faults *f, const struct found *found)
{
    const struct picture *p = found->first;

    if (found->count > 0)
        ddp_fault_add(f, DDP_FAULT_WARNING, "list-same", p->list->file,
                      (int)p->list->numbers[p->at],
                      "%zu picture%s of this list %s another one under a different name: %s is %s "
                      "of line %zu",
                      found->count, ddp_plural(found->count), found->count == 1 ? "is" : "are",
                      path_of(p), path_of(found->like), p->list->numbers[found->like->at]);
}

static void say_shared(ddp_faults *f, const struct found *found, size_t pictures)
{
    const struct picture *p = found->first;

    if (found->count > 0)
        ddp_fault_add(f, DDP_FAULT_WARNING, "list-shared", p->list->file,
                      (int)p->list->numbers[p->at],
                      "%zu of %zu pictures to validate on %s in %s, too, %s first: figures for "
                      "them are better than for pictures that were not trained on",
                      found->count, pictures, found->count == 1 ? "is" : "are",
                      found->like->list->file, path_of(p));
}

static void look(ddp_faults *f, const struct picture *all, size_t count, size_t valid_count)
{
    struct found same[2] = {0}, shared = {0};
    const struct picture *first = all, *first_of_list = all;

    for (size_t i = 1; i < count; i++) {
        if (!are_alike(&all[i], first)) {
            first = first_of_list = &all[i];
            continue;
        }
        if (all[i].is_valid != first_of_list->is_valid)
            first_of_list = &all[i];
        else if (strcmp(path_of(&all[i]), path_of(first_of_list)) != 0)
            add_found(&same[all[i].is_valid], &all[i], first_of_list);
        if (all[i].is_valid && !first->is_valid)
            add_found(&shared, &all[i], first);
    }
    say_same(f, &same[0]);
    say_same(f, &same[1]);
    say_shared(f, &shared, valid_count);
}

void ddp_check_same_pictures(ddp_faults *f, const ddp_list_lines *train,
                             const ddp_list_lines *valid)
{
    size_t trained = train->count, count = trained + (valid ? valid->count : 0);
    struct picture *all = calloc(count + 1, sizeof *all);

    if (!all) {
        f->lost = 1;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        int is_valid = i >= trained;

        all[i] = (struct picture){.list = is_valid ? valid : train,
                                  .at = is_valid ? i - trained : i,
                                  .is_valid = is_valid};
        sample_file(&all[i]);
    }
    sort(all, count);
    look(f, all, count, count - trained);
    free(all);
}
