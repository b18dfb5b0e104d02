#include "launch/supervisor.h"

#include "base/cfg_text.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/net_interface.h"
#include "base/own_path.h"
#include "core/batch.h"
#include "launch/child.h"
#include "launch/hostlist.h"
#include "launch/launcher_env.h"
#include "launch/limits.h"
#include "launch/mpirun.h"
#include "launch/reach.h"
#include "launch/resume_command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char must_resume[] = "DARKNET_DDP_MUST_RESUME", restarted[] = "DARKNET_DDP_RESTARTED";

enum { USAGE_STATUS = 2, CFG_BYTES = 1 << 20, ANSWER_S = 10, MOST_UNREACHABLE = 3 };

struct job {
    const ddp_options *options;
    char **argv;
    ddp_hosts hosts; /* none: this host alone */
    int ranks;       /* of the next start */
    int saved;       /* by any start, or before */
    int given_up;    /* it was said which hosts cannot be reached */
    char program[PATH_MAX];
    char *where; /* hosts and ranks as ddp_hosts_argument writes them; NULL: this host alone */
};

int ddp_supervisor_is_ours(void)
{
    return getenv(DDP_STARTER_VARIABLE) != NULL;
}

int ddp_supervisor_must_resume(void)
{
    return getenv(must_resume) != NULL;
}

int ddp_supervisor_restarted(void)
{
    return getenv(restarted) != NULL;
}

/* ---- how many ranks ---- */

/* The batch of the cfg on the command line: of the first word that names one. 0: there is none. */
static int read_batch(const char *path, int *batch, int *subdivisions)
{
    ddp_cfg_text cfg = {0};
    ddp_cfg_section net;
    void *text = NULL;
    size_t bytes, at = 0;
    uint64_t size;
    ddp_error err;
    int found = 0;

    *batch = *subdivisions = 1;
    if (ddp_file_read(path, CFG_BYTES, &text, &bytes, &size, &err))
        return 0;
    if (!ddp_cfg_text_read(&cfg, text, bytes, &err) && ddp_cfg_next_section(&cfg, &at, &net)
        && net.title
        && (strcmp(net.title->key, "[net]") == 0 || strcmp(net.title->key, "[network]") == 0)) {
        found = 1;
        *batch = ddp_cfg_whole(ddp_cfg_find(&net, "batch"), 1);
        *subdivisions = ddp_cfg_whole(ddp_cfg_find(&net, "subdivisions"), 1);
    }
    ddp_cfg_text_release(&cfg);
    free(text);
    return found;
}

static int allowed(const ddp_options *o, int batch, int subdivisions, int ranks)
{
    ddp_batch_mode mode = (ddp_batch_mode)o->batch;
    const ddp_exact_run run = {.batch = batch,
                               .subdivisions = subdivisions,
                               .ranks = ranks,
                               .mode = mode,
                               .sync_every = o->sync_every,
                               .broadcast_buffers = o->broadcast_buffers == DDP_BUFFERS_STEP};
    ddp_batch split;
    ddp_error err;

    return !ddp_batch_split(&split, batch, subdivisions, ranks, mode, NULL, &err)
           && (!o->exact || !ddp_exact_check(&run, &err));
}

/* The most up to `most` that the batch can be cut over. */
static int fit(const struct job *j, int most)
{
    int batch, subdivisions;

    for (int i = 1; j->argv[i]; i++)
        if (read_batch(j->argv[i], &batch, &subdivisions)) {
            if (j->options->cfg_batch > 0)
                batch = j->options->cfg_batch;
            if (j->options->subdivisions > 0)
                subdivisions = j->options->subdivisions;
            while (most > 1 && !allowed(j->options, batch, subdivisions, most))
                most--;
            break;
        }
    return most;
}

/* ---- the command line ---- */

/* Refuse a lone colon: to mpirun it ends one program's command line and begins another's. */
static ddp_status check_words(char **argv, ddp_error *err)
{
    for (; *argv; argv++)
        if (strcmp(*argv, ":") == 0)
            return ddp_fail(err, DDP_ERR_USAGE,
                            "':' alone would make mpirun start a second program; a file of that "
                            "name is ./:");
    return DDP_OK;
}

static int ranks_here(const struct job *j)
{
    int ranks = 0;

    for (size_t i = 0; i < j->hosts.count; i++)
        ranks += ddp_is_this_host(j->hosts.list[i].name) ? j->hosts.list[i].ranks : 0;
    return j->hosts.count > 0 ? ranks : j->ranks;
}

/* Where no rank is to start here, the other hosts are taken to have as many cores. */
static void set_threads(const struct job *j)
{
    int here = ranks_here(j), threads = ddp_cores() / (here > 0 ? here : j->hosts.list[0].ranks);
    char text[16];

    (void)snprintf(text, sizeof text, "%d", threads > 0 ? threads : 1);
    (void)setenv("OMP_NUM_THREADS", text, 0);
}

/* ---- a start that takes long ---- */

/* Say why no rank has begun, as far as this host knows. */
static void say_no_rank(struct job *j)
{
    char hosts[512], program[64];

    ddp_reach_program(program, sizeof program);
    if (ddp_hosts_being_reached(&j->hosts, hosts, sizeof hosts) > 0)
        (void)fprintf(stderr,
                      "%s has not come back from %s: is it up, and does `%s %.*s true` end?\n",
                      program, hosts, program, (int)strcspn(hosts, ", "), hosts);
    else if (j->where && j->hosts.count > 0)
        (void)fprintf(stderr,
                      "mpirun waits for its daemons on the hosts of %s, which must reach its TCP "
                      "port here: a firewall, or another network?\n",
                      j->where);
    else
        (void)fprintf(stderr, "mpirun (%s) has started none\n", ddp_mpirun_path());
}

static void say_start(void *ctx, ddp_start_verdict verdict, const ddp_start_watch *start)
{
    int64_t from_ns = start->ran_ns ? start->ran_ns : start->began_ns;
    double waited_s = (double)(ddp_clock_ns() - from_ns) / 1e9;
    struct job *j = ctx;

    j->given_up = verdict != DDP_LAUNCH_IS_SLOW;
    if (verdict == DDP_LAUNCH_HAS_LOST) {
        (void)fprintf(stderr,
                      "darknet: a rank has ended before all had come together, mpirun waits for "
                      "it, and the job ends\n");
    } else if (verdict == DDP_LAUNCH_DOES_NOT_MEET) {
        (void)fprintf(stderr,
                      "darknet: the ranks have not come together for %.0f s, and the job ends\n",
                      waited_s);
    } else {
        (void)fprintf(stderr, "darknet: no rank runs after %.0f s%s; ", waited_s,
                      j->given_up ? ", and the job ends" : "");
        say_no_rank(j);
    }
}

/* Print which hosts cannot be reached, and why, after a job that ended before a rank ran. */
static void name_unreachable(const struct job *j)
{
    double limit_s = j->options->io_timeout > 0 && j->options->io_timeout < ANSWER_S
                         ? j->options->io_timeout
                         : ANSWER_S;
    char why[512];

    for (size_t i = 0, said = 0; i < j->hosts.count && said < MOST_UNREACHABLE; i++)
        if (!ddp_is_this_host(j->hosts.list[i].name)
            && ddp_host_why_unreachable(j->hosts.list[i].name, limit_s, why, sizeof why)) {
            (void)fprintf(stderr, "darknet: no rank can be started on host %s: %s\n",
                          j->hosts.list[i].name, why);
            said++;
        }
}

/* Names of the variables that ranks on other hosts get, too; NULL ends. */
static void list_variables(const char **names)
{
    static const char *const if_set[] = {"OMP_NUM_THREADS", must_resume, restarted};
    size_t count = 0;

    names[count++] = DDP_STARTER_VARIABLE; /* which ddp_child sets */
    for (size_t i = 0; i < sizeof if_set / sizeof if_set[0]; i++)
        if (getenv(if_set[i]))
            names[count++] = if_set[i];
    names[count] = NULL;
}

/* Fill *line for the next start. The network that hosts share is found anew, since hosts may have
 * gone. *line points into network, of `size` bytes. */
static void make_line(struct job *j, ddp_mpirun_line *line, char *network, size_t size)
{
    const char *passed_on[8];
    ddp_mpirun_start start = {.program = j->program,
                              .ranks = j->ranks,
                              .grace_s = j->options->grace,
                              .interface = j->options->interface,
                              .has_domains = ddp_hosts_have_domains(&j->hosts),
                              .passed_on = passed_on};

    list_variables(passed_on);
    free(j->where);
    j->where = j->hosts.count > 0 ? ddp_hosts_argument(&j->hosts, j->ranks) : NULL;
    if (j->hosts.count > 0)
        start.hosts = j->where ? j->where : "";
    if (ddp_hosts_have_others(&j->hosts)) {
        start.network = j->options->interface;
        if (!start.network && ddp_hosts_network(&j->hosts, network, size))
            start.network = network;
    }
    ddp_mpirun_make_line(line, &start);
}

/* Return how many seconds ranks that are asked to end may take to save; less than 0: no limit. */
static double save_s(const struct job *j)
{
    if (j->options->grace > 0)
        return j->options->grace;
    return ddp_ranks_overload_cores(j->ranks) && j->hosts.count == 0 ? 3 : -1;
}

/* Run the job once. */
static ddp_status run(struct job *j, ddp_exit_info *ended, ddp_error *err)
{
    const ddp_child_config config = {.say_start = say_start,
                                     .ctx = j,
                                     .start_limit_s = j->options->io_timeout,
                                     .ranks_here = j->hosts.count > 0 ? 0 : j->ranks,
                                     .save_s = save_s(j),
                                     .verbose = j->options->verbose,
                                     .trains = j->options->ddp,
                                     .forwards_signals = ddp_mpirun_forwards_signals(),
                                     .end_signal = ddp_mpirun_end_signal()};
    ddp_mpirun_line line;
    char network[64];
    size_t count = 0;
    const char **args;
    ddp_error cause;
    ddp_status st = DDP_OK;

    make_line(j, &line, network, sizeof network);
    while (j->argv[count])
        count++;
    args = calloc(line.count + count + 2, sizeof *args);
    if (!args)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory for a command line");
    memcpy(args, line.words, line.count * sizeof *args);
    if (count > 0)
        memcpy(args + line.count, j->argv + 1, (count - 1) * sizeof *args);
    if (ddp_supervisor_must_resume() && !j->options->resume && !j->options->resume_force)
        args[line.count + count - 1] = "-resume";
    if (ddp_child(args, &config, ended, &cause))
        st = ddp_fail(err, DDP_ERR_IO, "%s; install %s, or start the ranks yourself", cause.text,
                      ddp_mpirun_package());
    free(args);
    return st;
}

/* ---- starting again ---- */

static void name_away(const ddp_hosts *h)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->list[i].unreachable)
            (void)fprintf(stderr, "darknet: host %s does not answer, and is left out\n",
                          h->list[i].name);
}

/* Choose the hosts and ranks of the next start from the hosts that answer now. Returns 0 where none
 * does. */
static int prepare_restart(struct job *j, const ddp_exit_info *ended, int number)
{
    j->saved |= ended->saved;
    (void)setenv(restarted, "1", 1);
    if (j->saved)
        (void)setenv(must_resume, "1", 1);
    if (j->hosts.count > 0) {
        ddp_hosts_probe(&j->hosts);
        name_away(&j->hosts);
        j->ranks = fit(j, ddp_hosts_ranks(&j->hosts));
    }
    (void)fprintf(
        stderr, "darknet: the job has failed (exit status %d): restart %d of %d, %d rank%s, %s\n",
        ended->status, number, j->options->max_restarts, j->ranks, j->ranks == 1 ? "" : "s",
        j->saved ? "from the last checkpoint" : "from the beginning, for it has saved nothing yet");
    return j->ranks > 0;
}

/* Say how to go on, where no rank lived to say it. */
static void say_how_to_go_on(char **argv)
{
    char *command = ddp_resume_command_of(argv, (ddp_resume_how){.option = "-resume"});
    char *text = ddp_resume_advice(command, "the last checkpoint");

    if (text)
        (void)fprintf(stderr, "darknet: %s\n", text);
    free(text);
    free(command);
}

static ddp_status run_until_done(struct job *j, ddp_error *err)
{
    ddp_exit_info ended = {0};
    int trained = 0;

    for (int restarts = 0;; restarts++) {
        if (run(j, &ended, err))
            return err->code;
        trained |= ended.trained;
        if (!ended.failed || !trained || ended.taken || ended.status == USAGE_STATUS
            || restarts == j->options->max_restarts || !prepare_restart(j, &ended, restarts + 1))
            break;
    }
    if (ended.failed && !ended.begun && !j->given_up)
        name_unreachable(j);
    if (ended.failed)
        ddp_limits_say_low();
    if (ended.failed && trained && !ended.taken && !ended.advised && ended.status != USAGE_STATUS
        && (j->saved || ended.saved))
        say_how_to_go_on(j->argv);
    exit(ended.status);
}

ddp_status ddp_supervisor_run(const ddp_options *options, int ranks, char **argv, ddp_error *err)
{
    struct job j = {.options = options, .argv = argv, .ranks = ranks};
    ddp_status st;

    if (!*ddp_mpirun_path())
        return ddp_fail(err, DDP_ERR_USAGE, "this darknet was built without MPI: it has one rank");
    if (check_words(argv, err) || ddp_net_interface_check(options->interface, err))
        return err->code;
    if (ddp_own_path(j.program))
        return ddp_fail(err, DDP_ERR_IO, "cannot find the path of this program: %s",
                        strerror(errno));
    if (options->hosts) {
        if (ddp_hosts_read(&j.hosts, options->hosts, ranks, err)) {
            ddp_hosts_release(&j.hosts);
            return err->code;
        }
        j.ranks = ddp_hosts_ranks(&j.hosts);
    }
    ddp_mpirun_prepare(j.hosts.count == 0);
    if (ddp_cores_check(ranks_here(&j), options->oversubscribe, err)
        || ddp_limits_check(ranks_here(&j), &j.hosts, err)) {
        ddp_hosts_release(&j.hosts);
        return err->code;
    }
    set_threads(&j);
    st = run_until_done(&j, err);
    free(j.where);
    ddp_hosts_release(&j.hosts);
    return st;
}
