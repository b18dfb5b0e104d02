#include "run/watchdog.h"

#include "base/path.h"
#include "comm/collectives.h"
#include "launch/host_processes.h"
#include "launch/mpirun.h"
#include "launch/signals.h"
#include "samples/loader_status.h"
#include "show/guides.h"
#include "show/rank_output.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOIN_MS = 3000 };

static struct {
    ddp_watch *watch;
    ddp_group *group; /* NULL: not open yet */
    char **hosts;     /* of each rank */
    const ddp_bucket_plan *plan;
    char events[4096]; /* path; empty: nothing was trained yet */
    FILE *out;
    const char *interface; /* between hosts; NULL: all */
} lookout;

/* The watch's thread asks of buckets while their plan may be released. */
static pthread_mutex_t plan_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what the watch asks ---- */

static void say(void *ctx, const char *text)
{
    (void)ctx;
    ddp_report_print(text);
}

static void describe_bucket(void *ctx, int bucket, char *out, size_t size)
{
    const ddp_bucket_plan *plan;

    (void)ctx;
    (void)pthread_mutex_lock(&plan_lock);
    plan = lookout.plan;
    if (plan && bucket >= 0 && (size_t)bucket < plan->bucket_count)
        (void)snprintf(out, size, "layers %d to %d, %.2f MB", plan->buckets[bucket].first_layer,
                       plan->buckets[bucket].last_layer,
                       (double)plan->buckets[bucket].count * sizeof(float) / 1e6);
    (void)pthread_mutex_unlock(&plan_lock);
}

static void describe_loading(void *ctx, char *out, size_t size)
{
    (void)ctx;
    ddp_loading_describe(out, size);
}

/* Name the processes that may keep MPI from starting, as far as this host knows them. */
static void describe_start(void *ctx, char *out, size_t size)
{
    (void)ctx;
    ddp_host_processes_describe_strangers(out, size);
}

static void open_events(int rank)
{
    char path[sizeof lookout.events + 16];

    if (rank == 0 || !lookout.group || ddp_group_rank(lookout.group) == 0)
        (void)snprintf(path, sizeof path, "%s", lookout.events);
    else
        (void)snprintf(path, sizeof path, "%s.%d", lookout.events, rank);
    lookout.out = fopen(path, "we");
}

static void say_where_events_are(void)
{
    char room[PATH_MAX], text[sizeof lookout.events * 2 + sizeof room + 192];

    (void)snprintf(text, sizeof text,
                   "the last events of each rank are in %s; `darknet ddp why %s` says which rank "
                   "broke off first; more: %s/failures.md",
                   lookout.events, lookout.events, ddp_guides_folder(room));
    ddp_report_print(text);
}

static void keep_events(void *ctx, int rank, const ddp_event *events, size_t count)
{
    (void)ctx;
    ddp_rank_output_end_soon(1); /* the disk may be what hangs */
    if (!lookout.events[0])
        return;
    if (!lookout.out && rank >= 0)
        open_events(rank);
    if (!lookout.out)
        return;
    if (rank >= 0) {
        ddp_events_write(lookout.out, rank, lookout.hosts ? lookout.hosts[rank] : "this-host",
                         events, count);
        return;
    }
    if (fclose(lookout.out) == 0 && ddp_group_rank(lookout.group) == 0)
        say_where_events_are();
    lookout.out = NULL;
    ddp_report_print_resume_hint();
}

static void end(void *ctx) __attribute__((noreturn));

static void end(void *ctx)
{
    (void)ctx;
    ddp_rank_output_end(1, 1);
}

/* ---- opening ---- */

static void ask_table(void)
{
    ddp_watch_ask_hang_report(lookout.watch);
}

ddp_watch *ddp_watchdog_open(const ddp_options *options)
{
    const ddp_watch_config config = {.timeout_s = options->timeout,
                                     .lost_s = ddp_mpirun_lost_s(),
                                     .io_timeout_s = options->io_timeout,
                                     .describe_start = describe_start,
                                     .say = say,
                                     .describe_bucket = describe_bucket,
                                     .describe_loading = describe_loading,
                                     .keep_events = keep_events,
                                     .end = end};
    ddp_error err;

    if (lookout.watch)
        return lookout.watch;
    lookout.interface = options->interface;
    if (ddp_watch_open(&lookout.watch, &config, &err))
        ddp_report_print(err.text);
    ddp_rank_output_watch(lookout.watch);
    return lookout.watch;
}

static void messages_move(void *watch)
{
    ddp_watch_moved(watch);
}

static ddp_status copy_hosts(ddp_group *group, ddp_error *err)
{
    int size = ddp_group_size(group);

    lookout.hosts = calloc((size_t)size, sizeof *lookout.hosts);
    for (int r = 0; lookout.hosts && r < size; r++) {
        lookout.hosts[r] = strdup(ddp_group_host(group, r));
        if (!lookout.hosts[r])
            break;
    }
    if (!lookout.hosts || !lookout.hosts[size - 1])
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for the names of %d hosts", size);
    return DDP_OK;
}

static int is_one_host(const ddp_group *group)
{
    return ddp_group_local_size(group) == ddp_group_size(group);
}

/* Connect every rank that is watched to rank 0, which listens before it tells the others where. Any
 * rank may lack the memory or thread of its watch, so all take part in the broadcast. */
static ddp_status connect_ranks(ddp_group *group, ddp_heartbeat **channel, ddp_error *err)
{
    ddp_heartbeat_invitation invitation = {0};
    ddp_error why = {0};

    *channel = NULL;
    if (ddp_group_size(group) == 1)
        return DDP_OK;
    if (lookout.watch && ddp_group_rank(group) == 0
        && ddp_heartbeat_invite(channel, &invitation, ddp_group_size(group), is_one_host(group),
                                lookout.interface, &why))
        ddp_report_print(why.text);
    if (ddp_broadcast(group, &invitation, sizeof invitation, 0, err))
        return err->code;
    if (lookout.watch && ddp_group_rank(group) > 0 && invitation.count > 0
        && ddp_heartbeat_join(channel, &invitation, ddp_group_rank(group), JOIN_MS, &why))
        ddp_report_print(why.text);
    return DDP_OK;
}

ddp_status ddp_watchdog_join(ddp_group *group, ddp_error *err)
{
    ddp_heartbeat *channel;

    lookout.group = group;
    if (lookout.watch) {
        ddp_group_on_progress(group, messages_move, lookout.watch);
        ddp_signals_answer_quit(ask_table);
    }
    if (copy_hosts(group, err) || connect_ranks(group, &channel, err))
        return err->code;
    return ddp_watch_join(lookout.watch, ddp_group_rank(group), ddp_group_size(group),
                          (const char *const *)lookout.hosts, channel, err);
}

static void use_plan(const ddp_bucket_plan *plan)
{
    (void)pthread_mutex_lock(&plan_lock);
    lookout.plan = plan;
    (void)pthread_mutex_unlock(&plan_lock);
}

void ddp_watchdog_begin(const char *directory, const char *cfg, const ddp_bucket_plan *plan)
{
    const char *name = ddp_path_name(cfg);

    use_plan(plan);
    (void)snprintf(lookout.events, sizeof lookout.events, "%s/%.*s.events", directory,
                   (int)strcspn(name, "."), name);
}

void ddp_watchdog_forget_plan(void)
{
    use_plan(NULL);
}

void ddp_watchdog_close(void)
{
    ddp_rank_output_watch(NULL);
    ddp_watch_close(lookout.watch);
    lookout.watch = NULL;
}
