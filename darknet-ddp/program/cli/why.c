/* The command `darknet ddp why FILE...`: says which rank broke off first, by the event files of a
 * run that hung. */
#include "base/path.h"
#include "checkpoint/set_aside.h"
#include "cli/commands.h"
#include "show/rank_output.h"
#include "watch/flight_recorder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A new run sets the files of an earlier one aside (checkpoint/set_aside.h). Returns the path where
 * such a file is now, which stays allocated, or path as it is. */
static char *find_set_aside(char *path)
{
    const char *name = ddp_path_name(path), *end = strstr(name, ".events");
    char *directory = ddp_path_folder(path);
    char *base = end ? strndup(name, (size_t)(end - name)) : NULL;
    char *folder = directory && base ? ddp_set_aside_last(directory, base, name) : NULL,
         *found = NULL;

    if (access(path, F_OK) == 0 || !folder || asprintf(&found, "%s/%s", folder, name) < 0
        || access(found, F_OK) != 0) {
        free(found);
        found = path;
    }
    free(directory);
    free(base);
    free(folder);
    return found;
}

int ddp_command_why(const ddp_command_call *call)
{
    char **paths = call->words;
    ddp_error err;
    char text[1024];

    for (int i = 0; i < call->count; i++)
        paths[i] = find_set_aside(paths[i]);
    if (ddp_events_explain(text, sizeof text, paths, call->count, &err))
        ddp_rank_output_failure(&err);
    printf("%s\n", text);
    return 0;
}
