#include "inputs/access.h"

#include "glue/darknet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef char folder_name[2 * PATH_MAX];

/* The folder that the path lies in, from the root. */
static void find_folder(const char *path, folder_name folder)
{
    const char *slash = strrchr(path, '/');
    char here[PATH_MAX] = "";

    if (path[0] != '/' && !getcwd(here, sizeof here))
        here[0] = '\0';
    (void)snprintf(folder, sizeof(folder_name), "%s%s%.*s", here,
                   slash && path[0] != '/' ? "/" : "", slash ? (int)(slash - path) : 0, path);
    if (!folder[0])
        (void)strcpy(folder, "/");
}

static int is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* 0, or the errno with which a file cannot be read. */
static int try_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return errno;
    (void)close(fd);
    return is_folder(path) ? EISDIR : 0;
}

static const char *cause(int number, const char *folder)
{
    if (number == ENOENT && !is_folder(folder))
        return "there is no such folder";
    if (number == EISDIR)
        return "it is a folder";
    return number == EACCES ? "no permission to read it" : strerror(number);
}

ddp_status ddp_access_read(const char *what, const char *path, ddp_error *err)
{
    int number = try_read(ddp_installed_path(path));
    folder_name folder;

    if (number == 0)
        return DDP_OK;
    find_folder(path, folder);
    return ddp_fail(err, DDP_ERR_IO, "%s: cannot be read in %s: %s%s", what, folder,
                    cause(number, folder),
                    *path == '"' || *path == '\'' ? "; the quotes are part of the name, and not "
                                                    "needed around blanks"
                                                  : "");
}

static ddp_status fail_write(const char *what, const char *folder, ddp_error *err)
{
    if (errno == EACCES)
        return ddp_fail(err, DDP_ERR_IO, "%s: no permission to write in %s", what, folder);
    return ddp_fail(err, DDP_ERR_IO, "%s: cannot write in %s: %s", what, folder, strerror(errno));
}

ddp_status ddp_access_write(const char *what, const char *folder, ddp_error *err)
{
    char name[PATH_MAX];
    folder_name parent;
    struct stat link;
    size_t length;

    (void)snprintf(name, sizeof name, "%s", folder);
    for (length = strlen(name); length > 1 && name[length - 1] == '/'; length--)
        name[length - 1] = '\0';
    if (is_folder(name))
        return access(name, W_OK | X_OK) ? fail_write(what, name, err) : DDP_OK;
    if (access(name, F_OK) == 0)
        return ddp_fail(err, DDP_ERR_IO, "%s: this is a file, and a folder is wanted", what);
    if (errno != ENOENT)
        return fail_write(what, name, err);
    if (lstat(name, &link) == 0)
        return ddp_fail(err, DDP_ERR_IO, "%s: this is a link to what is not there", what);
    find_folder(name, parent);
    if (!is_folder(parent))
        return ddp_fail(err, DDP_ERR_IO, "%s: there is no folder %s to make it in", what, parent);
    return access(parent, W_OK | X_OK) ? fail_write(what, parent, err) : DDP_OK;
}

ddp_status ddp_access_write_file(const char *what, const char *path, ddp_error *err)
{
    folder_name folder;

    find_folder(path, folder);
    if (is_folder(path))
        return ddp_fail(err, DDP_ERR_IO, "%s: this is a folder, and a file is wanted", what);
    if (!is_folder(folder))
        return ddp_fail(err, DDP_ERR_IO, "%s: there is no folder %s to make it in", what, folder);
    if (access(path, F_OK) == 0)
        return access(path, W_OK) ? fail_write(what, folder, err) : DDP_OK;
    return access(folder, W_OK | X_OK) ? fail_write(what, folder, err) : DDP_OK;
}
