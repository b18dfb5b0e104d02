#include "film/film.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char module[] = "darknet-ddp-film.so";
static const char install[] =
    "apt install libavformat-dev libavcodec-dev libswscale-dev, configure and build again";

/* Return the module that lies in the program's folder, or in folder `other` beside that; NULL:
 * there is none, or it cannot be loaded, and dlerror tells why. */
static void *load_from(const char *other)
{
    char program[PATH_MAX / 2], path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    program[length > 0 ? length : 0] = '\0';
    if (strrchr(program, '/'))
        *strrchr(program, '/') = '\0';
    (void)snprintf(path, sizeof path, "%s/%s%s", program, other, module);
    return access(path, F_OK) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

const ddp_film_functions *ddp_film_load(ddp_error *err)
{
    const ddp_film_functions *functions = NULL;
    void *loaded;
    const char *why;

    (void)dlerror();
    loaded = load_from("");
    if (!loaded)
        loaded = load_from("../lib/darknet-ddp/");
    why = loaded ? NULL : dlerror();
    if (loaded)
        functions = dlsym(loaded, "ddp_film_module");
    if (!functions)
        (void)ddp_fail(err, DDP_ERR_USAGE, "films are read and written by libavformat, and %s: %s",
                       why ? why : "this build has none", install);
    return functions;
}
