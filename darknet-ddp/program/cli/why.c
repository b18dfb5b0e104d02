/* `darknet ddp why FILE...`: which rank broke off first. */
#include "cli/commands.h"
#include "show/rank_output.h"
#include "watch/recorder.h"

int ddp_command_why(char *const *paths, int count)
{
    ddp_verdict verdict;
    ddp_error err;
    char text[1024];

    if (ddp_events_judge(&verdict, paths, count, &err))
        ddp_report_failure(&err);
    ddp_verdict_describe(text, sizeof text, &verdict);
    printf("%s\n", text);
    return 0;
}
