/* ddp-test: quick */
/* Files are there whole or not at all, and whoever writes one is told why it failed. */
#include "base/file.h"
#include "folder.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static struct folder folder;

static int open_folder(void **state)
{
    (void)state;
    folder_open(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_close(&folder);
    return 0;
}

/* Notes what the program asks the disk for, in its place: a file was synced, or a directory. */
static struct {
    char names[256]; /* in the folder when a file was synced last */
    long long bytes; /* of that file */
    int files, directories;
    int fails; /* no file can be synced */
} disk;

int fsync(int fd)
{
    struct stat info;

    if (fstat(fd, &info))
        return -1;
    if (S_ISDIR(info.st_mode)) {
        disk.directories++;
        return (int)syscall(SYS_fsync, fd);
    }
    if (disk.fails) {
        errno = EIO;
        return -1;
    }
    disk.files++;
    disk.bytes = (long long)info.st_size;
    folder_list(&folder, disk.names, sizeof disk.names);
    return (int)syscall(SYS_fsync, fd);
}

static ddp_file *create(const char *path)
{
    ddp_file *f;
    ddp_error err;

    if (ddp_file_create(&f, path, &err))
        fail_msg("%s", err.text);
    return f;
}

static void expect_names(const char *want)
{
    char names[256];

    folder_list(&folder, names, sizeof names);
    assert_string_equal(names, want);
}

/* The name of the one part that is there, in its place in the folder. */
static const char *the_part(void)
{
    char names[256];

    folder_list(&folder, names, sizeof names);
    assert_non_null(strstr(names, ".part-"));
    assert_null(strchr(names, ' '));
    return folder_file(&folder, names);
}

static void expect_refusal(ddp_status st, const ddp_error *err, const char *fmt, ...)
{
    char want[512];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(want, sizeof want, fmt, ap);
    va_end(ap);
    assert_int_equal(st, DDP_ERR_IO);
    assert_string_equal(err->text, want);
}

static void file_appears_when_it_is_published(void **state)
{
    const char *path = folder_file(&folder, "x");
    ddp_file *f = create(path);
    ddp_file_checksum sum, again;
    ddp_error err;
    int renamed;

    (void)state;
    (void)the_part();
    (void)fprintf(ddp_file_stream(f), "abc");
    assert_int_equal(ddp_file_finish(f, &sum, &err), DDP_OK);
    assert_int_equal(sum.bytes, 3);
    assert_int_equal(sum.hash, 0x78af5f94892f3950); /* XXH3 of "abc" */
    (void)the_part();
    assert_int_equal(ddp_file_publish(f, &renamed, &err), DDP_OK);
    assert_int_equal(renamed, 1);
    expect_names("x");
    assert_int_equal(ddp_file_checksum_of(path, &again, &err), DDP_OK);
    assert_int_equal(again.hash, sum.hash);
}

static void publish(ddp_file *f, const char *text)
{
    ddp_file_checksum sum;
    ddp_error err;
    int renamed;

    (void)fprintf(ddp_file_stream(f), "%s", text);
    if (ddp_file_finish(f, &sum, &err) || ddp_file_publish(f, &renamed, &err))
        fail_msg("%s", err.text);
}

static void expect_text(const char *path, const char *want)
{
    ddp_error err;
    size_t bytes;
    uint64_t size;
    void *data;

    if (ddp_file_read(path, SIZE_MAX, &data, &bytes, &size, &err))
        fail_msg("%s", err.text);
    assert_string_equal(data, want);
    free(data);
}

/* Else a power cut leaves an empty file under its name. */
static void bytes_are_on_the_disk_before_a_file_has_its_name(void **state)
{
    ddp_file *f = create(folder_file(&folder, "x"));
    ddp_file_checksum sum;
    ddp_error err;
    int renamed;

    (void)state;
    memset(&disk, 0, sizeof disk);
    (void)fprintf(ddp_file_stream(f), "abc");
    assert_int_equal(ddp_file_finish(f, &sum, &err), DDP_OK);
    assert_int_equal(disk.files, 1);
    assert_int_equal(disk.bytes, 3);
    assert_non_null(strstr(disk.names, "x.part-"));
    assert_int_equal(disk.directories, 0);
    assert_int_equal(ddp_file_publish(f, &renamed, &err), DDP_OK);
    assert_int_equal(disk.files, 1);
    assert_int_equal(disk.directories, 1); /* which has the name, too */
    expect_names("x");
}

static void what_the_disk_does_not_take_is_refused(void **state)
{
    const char *path = folder_file(&folder, "x");
    ddp_file *f = create(path);
    ddp_file_checksum sum;
    ddp_error err;

    (void)state;
    (void)fprintf(ddp_file_stream(f), "abc");
    disk.fails = 1;
    expect_refusal(ddp_file_finish(f, &sum, &err), &err, "cannot write %s: Input/output error",
                   path);
    disk.fails = 0;
    ddp_file_abandon(f);
    expect_names("");
}

/* Neither where the file goes nor where its part could be. */
static void links_are_replaced_and_not_followed(void **state)
{
    const char *path = folder_file(&folder, "x"), *other = folder_file(&folder, "other");

    (void)state;
    folder_write(other, "keep", 4);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(symlink(other, folder_file(&folder, "x.part")), 0);
    assert_int_equal(symlink(other, folder_file(&folder, "x.part-00000000")), 0);
    publish(create(path), "abc");
    expect_text(other, "keep");
    expect_text(path, "abc");
    expect_names("other x x.part x.part-00000000");
}

static void two_at_a_time_do_not_mix(void **state)
{
    const char *path = folder_file(&folder, "x");
    ddp_file *a = create(path), *b;

    (void)state;
    (void)fprintf(ddp_file_stream(a), "a");
    (void)ddp_file_written(a);
    b = create(path);
    (void)fprintf(ddp_file_stream(b), "b");
    (void)ddp_file_written(b);
    publish(a, "aa");
    expect_text(path, "aaa");
    publish(b, "bb");
    expect_text(path, "bbb");
    expect_names("x");
}

/* Only what nobody writes, and of this file alone. */
static void parts_of_the_dead_go(void **state)
{
    ddp_file *f;

    (void)state;
    folder_write(folder_file(&folder, "x.part-0123abcd"), "x", 1);
    folder_write(folder_file(&folder, "x.part-mine"), "x", 1);
    folder_write(folder_file(&folder, "x2.part-0123abcd"), "x", 1);
    folder_write(folder_file(&folder, "x.part-0123abcd4"), "x", 1);
    f = create(folder_file(&folder, "x"));
    ddp_file_abandon(f);
    expect_names("x.part-0123abcd4 x.part-mine x2.part-0123abcd");
}

static void abandoned_file_leaves_nothing(void **state)
{
    ddp_file *f = create(folder_file(&folder, "x"));

    (void)state;
    (void)fprintf(ddp_file_stream(f), "abc");
    ddp_file_abandon(f);
    ddp_file_abandon(NULL);
    expect_names("");
}

/* Also: a write that fails in the middle does not fail for the one who writes. */
static void limit_of_file_sizes_is_named(void **state)
{
    const char *path = folder_file(&folder, "x");
    struct rlimit old, limit;
    static char block[3 << 20];
    ddp_file_checksum sum;
    ddp_error err;
    ddp_file *f = create(path);
    ddp_status st;

    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 1500000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(fwrite(block, 1, sizeof block, ddp_file_stream(f)), sizeof block);
    assert_false(ferror(ddp_file_stream(f)));
    st = ddp_file_finish(f, &sum, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    expect_refusal(st, &err, "cannot write %s: File too large", path);
    ddp_file_abandon(f);
    expect_names("");
}

static void missing_directory_is_named(void **state)
{
    const char *path = folder_file(&folder, "no/x");
    ddp_error err;
    ddp_file *f;

    (void)state;
    expect_refusal(ddp_file_create(&f, path, &err), &err,
                   "cannot write %s: No such file or directory", path);
    assert_null(f);
}

static void directory_that_vanishes_is_named(void **state)
{
    const char *directory = folder_file(&folder, "d"), *path = folder_file(&folder, "d/x"),
               *away = folder_file(&folder, "e");
    ddp_file_checksum sum;
    ddp_error err;
    ddp_file *f;
    int renamed;

    (void)state;
    assert_int_equal(mkdir(directory, 0777), 0);
    f = create(path);
    assert_int_equal(rename(directory, away), 0);
    assert_int_equal(ddp_file_finish(f, &sum, &err), DDP_ERR_IO);
    assert_non_null(strstr(err.text, "cannot read "));
    assert_non_null(strstr(err.text, ": No such file or directory"));
    assert_int_equal(ddp_file_publish(f, &renamed, &err), DDP_ERR_IO);
    assert_non_null(strstr(err.text, "cannot rename "));
    assert_int_equal(renamed, 0);
    assert_int_equal(ddp_file_sync_directory(path, &err), DDP_ERR_IO);
    assert_int_equal(rename(away, directory), 0);
    f = create(path); /* takes the part that is left away */
    ddp_file_abandon(f);
    assert_int_equal(rmdir(directory), 0);
}

/* Bytes that another process writes over the file meanwhile are found. */
static void file_that_reads_back_otherwise_is_refused(void **state)
{
    const char *path = folder_file(&folder, "x");
    ddp_file *f = create(path);
    ddp_file_checksum sum;
    ddp_error err;

    (void)state;
    (void)fprintf(ddp_file_stream(f), "abc");
    (void)ddp_file_written(f);
    folder_write(the_part(), "abd", 3);
    expect_refusal(ddp_file_finish(f, &sum, &err), &err, "%s does not read back as it was written",
                   path);
    ddp_file_abandon(f);
    expect_names("");
}

static void only_regular_files_are_read(void **state)
{
    const char *path = folder_file(&folder, "pipe");
    ddp_error err;
    void *data;
    size_t bytes;
    uint64_t size;

    (void)state;
    assert_int_equal(mkfifo(path, 0666), 0);
    expect_refusal(ddp_file_read(path, 9, &data, &bytes, &size, &err), &err,
                   "%s is no regular file", path);
    assert_null(data);
    expect_refusal(ddp_file_read(folder.path, 9, &data, &bytes, &size, &err), &err,
                   "%s is no regular file", folder.path);
}

static void reading_ends_at_the_limit(void **state)
{
    const char *path = folder_file(&folder, "x");
    ddp_error err;
    void *data;
    size_t bytes;
    uint64_t size;

    (void)state;
    folder_write(path, "abcdef", 6);
    assert_int_equal(ddp_file_read(path, 4, &data, &bytes, &size, &err), DDP_OK);
    assert_string_equal(data, "abcd");
    assert_int_equal(bytes, 4);
    assert_int_equal(size, 6);
    free(data);
    assert_int_equal(ddp_file_read(path, SIZE_MAX, &data, &bytes, &size, &err), DDP_OK);
    assert_string_equal(data, "abcdef");
    free(data);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(file_appears_when_it_is_published),
        IN_A_FOLDER(bytes_are_on_the_disk_before_a_file_has_its_name),
        IN_A_FOLDER(what_the_disk_does_not_take_is_refused),
        IN_A_FOLDER(abandoned_file_leaves_nothing),
        IN_A_FOLDER(links_are_replaced_and_not_followed),
        IN_A_FOLDER(two_at_a_time_do_not_mix),
        IN_A_FOLDER(parts_of_the_dead_go),
        IN_A_FOLDER(limit_of_file_sizes_is_named),
        IN_A_FOLDER(missing_directory_is_named),
        IN_A_FOLDER(directory_that_vanishes_is_named),
        IN_A_FOLDER(file_that_reads_back_otherwise_is_refused),
        IN_A_FOLDER(only_regular_files_are_read),
        IN_A_FOLDER(reading_ends_at_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
