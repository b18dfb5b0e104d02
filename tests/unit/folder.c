#include "folder.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(int works, const char *what)
{
    if (works)
        return;
    perror(what);
    abort();
}

void folder_open(struct folder *f)
{
    memset(f, 0, sizeof *f);
    (void)snprintf(f->path, sizeof f->path, "/tmp/ddp-test-XXXXXX");
    must(mkdtemp(f->path) != NULL, f->path);
}

static struct folder entered;

void folder_enter(void)
{
    folder_open(&entered);
    must(chdir(entered.path) == 0, entered.path);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void folder_leave(void)
{
    must(chdir("/") == 0, "/");
    must(nftw(entered.path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, entered.path);
}

const char *folder_file(struct folder *f, const char *name)
{
    char **path = &f->given[f->next++ % FOLDER_PATHS];

    free(*path);
    must(asprintf(path, "%s/%s", f->path, name) > 0, name);
    return *path;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

void folder_list(const struct folder *f, char *out, size_t size)
{
    struct dirent **entries;
    int count = scandir(f->path, &entries, visible, alphasort);
    size_t used = 0;

    must(count >= 0, f->path);
    *out = 0;
    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "", entries[i]->d_name);
        must(used < size, "folder_list");
        free(entries[i]);
    }
    free(entries);
}

void folder_close(struct folder *f)
{
    struct dirent **entries;
    int count = scandir(f->path, &entries, visible, NULL);

    for (int i = 0; i < count; i++) {
        (void)unlink(folder_file(f, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    must(rmdir(f->path) == 0, f->path);
    for (int i = 0; i < FOLDER_PATHS; i++)
        free(f->given[i]);
}

void folder_write(const char *path, const void *bytes, size_t size)
{
    FILE *fp = fopen(path, "wb");

    must(fp != NULL, path);
    must(fwrite(bytes, 1, size, fp) == size, path);
    must(fclose(fp) == 0, path);
}

void *folder_read(const char *path, size_t *size)
{
    FILE *fp = fopen(path, "rb");
    char *bytes;
    long length;

    must(fp != NULL && fseek(fp, 0, SEEK_END) == 0, path);
    length = ftell(fp);
    rewind(fp);
    bytes = malloc((size_t)length + 1);
    must(bytes && fread(bytes, 1, (size_t)length, fp) == (size_t)length, path);
    (void)fclose(fp);
    *size = (size_t)length;
    return bytes;
}
