/* The program. Takes darknet-ddp's options out of the command line. Help, `darknet ddp VERB`, and
 * commands that such a verb replaces (options/ddp_commands.def), run here; others run in Darknet's
 * own main, built under the name darknet_main. Commands that can train on ranks train by
 * darknet-ddp, on one rank if nobody asks for more. */
#include "algorithms/claims.h"
#include "cli/commands.h"
#include "inputs/arguments.h"
#include "inputs/overwrite.h"
#include "launch/gpus.h"
#include "launch/launcher_env.h"
#include "launch/supervisor.h"
#include "launch/transport_choice.h"
#include "options/darknet_commands.h"
#include "options/ddp_commands.h"
#include "options/foreign_options.h"
#include "predict/named_run.h"
#include "run/darknet_config.h"
#include "run/session.h"
#include "run/watchdog.h"
#include "show/rank_output.h"
#include "show/step_line.h"
#include "show/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int darknet_main(int argc, char **argv);

/* -dont_show is on many command lines that were written for later Darknets; this one shows nothing
 * while it trains. In a run on ranks more words mean nothing. */
static int drop_ignored(int argc, char **argv, const ddp_options *options,
                        ddp_foreign_options_taken *taken)
{
    int kept = 1;

    if (options->ddp)
        return ddp_foreign_options_take(argc, argv, taken);
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-dont_show") != 0)
            argv[kept++] = argv[i];
    argv[kept] = NULL;
    return kept;
}

/* Commands of Darknet's that show pictures clear the screen by codes of their own. */
static int clears_screen(int argc, char **argv)
{
    return (argc > 1 && strcmp(argv[1], "art") == 0) || (argc > 2 && strcmp(argv[2], "demo") == 0)
           || (argc > 2 && (strcmp(argv[2], "threat") == 0 || strcmp(argv[2], "gun") == 0));
}

/* A file in cfg/ or data/ that is not here may be one that was installed with the program. */
static void find_shared(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        argv[i] = (char *)ddp_installed_path(argv[i]);
}

static int run_own_command(const ddp_ddp_command *own, int argc, char **argv,
                           const ddp_options *options, ddp_launcher launcher)
{
    static int (*const commands[])(const ddp_command_call *) = {
#define COMMAND(id, verb, ...) ddp_command_##verb,
#include "options/ddp_commands.def"
#undef COMMAND
    };
    ddp_command_call call = {
        .words = argv + 3, .count = argc - 3, .options = options, .launcher = launcher};

    return launcher.rank == 0 || own->traits & DDP_COMMAND_ON_RANKS ? commands[own->id](&call) : 0;
}

/* Darknet reads from its own options where to compute. argv has room for two words more. */
static int name_gpu(int argc, char **argv, const ddp_options *options)
{
    static char number[16];

    (void)snprintf(number, sizeof number, "%d", ddp_session_gpus()->gpu);
    if (ddp_gpus_wanted(options)) {
        argv[argc++] = "-i";
        argv[argc++] = number;
    } else {
        argv[argc++] = "-nogpu";
    }
    argv[argc] = NULL;
    return argc;
}

static int has_word(char **argv, const char *word)
{
    while (*argv && strcmp(*argv, word) != 0)
        argv++;
    return *argv != NULL;
}

static int run_training(int argc, char **argv, const ddp_options *options,
                        const ddp_foreign_options_taken *taken)
{
    const char *name = ddp_darknet_word(argc, argv, 0);
    int has_data = ddp_arguments_has_data(name), status;
    const ddp_session_command command = {.name = name,
                                         .data = has_data ? ddp_darknet_word(argc, argv, 2) : NULL,
                                         .cfg = ddp_darknet_word(argc, argv, 2 + has_data),
                                         .weights = ddp_darknet_word(argc, argv, 3 + has_data),
                                         .clear = has_word(argv, "-clear"),
                                         .ignored = taken};

    ddp_session_open(options);
    ddp_session_prepare(&command);
    argc = name_gpu(argc, argv, options);
    status = darknet_main(argc, argv);
    return ddp_session_close() || status;
}

/* Each of several processes that were started without -ddp would train a network of its own. */
static ddp_status check_together(int argc, char **argv, const ddp_options *options,
                                 ddp_launcher launcher, ddp_error *err)
{
    if (launcher.ranks <= 1 || options->ddp || ddp_supervisor_is_ours()
        || !ddp_darknet_trains(argc, argv))
        return DDP_OK;
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "%d processes were started without -ddp: each would train a network of its own, "
        "and all would write the same files; -ddp trains one on all of them, -ddp_lone "
        "lets them",
        launcher.ranks);
}

/* The files that a train command names. */
static ddp_arguments arguments_of(int argc, char **argv, const ddp_options *options,
                                  ddp_launcher launcher)
{
    const char *command = ddp_darknet_word(argc, argv, 0);
    int has_data = ddp_arguments_has_data(command);

    return (ddp_arguments){.command = command,
                           .data = has_data ? ddp_darknet_word(argc, argv, 2) : NULL,
                           .cfg = ddp_darknet_word(argc, argv, 2 + has_data),
                           .weights = ddp_darknet_word(argc, argv, 3 + has_data),
                           .backup = ddp_darknet_option(argv, "-backup"),
                           .trace = options->trace_run,
                           .tensorboard = options->tensorboard,
                           .allow_unknown = options->allow_unknown_keys,
                           .validates = options->validate != 0,
                           .has_epochs = options->epochs > 0,
                           .width = options->net_width,
                           .height = options->net_height,
                           .saves = launcher.rank == 0,
                           .elsewhere = options->hosts && launcher.ranks == 0};
}

/* Check the files on the line of a command that does not train. */
static ddp_status check_places(int argc, char **argv, ddp_error *err)
{
    const ddp_arguments a = {.data = ddp_darknet_word_at(argc, argv, "DATA"),
                             .cfg = ddp_darknet_word_at(argc, argv, "CFG"),
                             .weights = ddp_darknet_word_at(argc, argv, "WEIGHTS")};

    return ddp_arguments_check_places(&a, err);
}

/* A command of Darknet's, before anything is started for it. */
static ddp_status check_command(int argc, char **argv, const ddp_options *options,
                                ddp_launcher launcher, ddp_error *err)
{
    ddp_arguments a;

    if (ddp_foreign_options_check(argc, argv, err)
        || (options->ddp && ddp_darknet_check_ddp(argc, argv, err)))
        return err->code;
    if (ddp_darknet_check(argc, argv, err))
        return err->code;
    if (!ddp_darknet_trains(argc, argv))
        return check_places(argc, argv, err);
    if (!options->ddp)
        return DDP_OK; /* it saves what this program does not know */
    a = arguments_of(argc, argv, options, launcher);
    return ddp_arguments_check(&a, err);
}

/* A disk that is full may have taken only some of it. */
static int is_printed(void)
{
    (void)fflush(stdout);
    if (!ddp_terminal_output_error())
        return 1;
    (void)fprintf(stderr, "darknet: standard output cannot be written: %s\n",
                  strerror(ddp_terminal_output_error()));
    return 0;
}

/* A session that is opened later configures Darknet once more, with what it knows of its ranks. */
static void configure_darknet(const ddp_options *options, int prints)
{
    ddp_darknet_config darknet = ddp_darknet_config_of(options);

    if (!options->ddp)
        darknet.fatal = ddp_rank_output_fatal;
    if (!options->ddp && prints && !isatty(STDERR_FILENO))
        darknet.table = NULL; /* a script may read it */
    ddp_darknet_configure(&darknet);
}

static ddp_status check_launch(const ddp_options *options, ddp_launcher launcher, ddp_error *err)
{
    if (launcher.ranks > 0 && (options->hosts || options->max_restarts)
        && !ddp_supervisor_is_ours())
        return ddp_fail(err, DDP_ERR_USAGE,
                        "%s is for ranks that this program starts, and a launcher started them",
                        options->hosts ? "-ddp_hosts" : "-ddp_max_restarts");
    if (launcher.ranks > 0 && options->ranks > 0 && options->ranks != launcher.ranks
        && !options->hosts)
        return ddp_fail(err, DDP_ERR_USAGE, "-ddp_ranks %d, but the launcher started %d",
                        options->ranks, launcher.ranks);
    if (launcher.ranks > 1 && options->backend == DDP_BACKEND_SOLO)
        return ddp_fail(err, DDP_ERR_USAGE,
                        "-ddp_backend solo is for one process, but the launcher started %d",
                        launcher.ranks);
    return ddp_backend_check(options, launcher, err);
}

/* A batch script runs on the first of a job's tasks alone. */
static ddp_status check_tasks(const ddp_options *options, ddp_launcher launcher, ddp_error *err)
{
    int tasks = ddp_launcher_idle_tasks(launcher);

    if (tasks == 0 || options->backend == DDP_BACKEND_SOLO)
        return DDP_OK;
    return ddp_fail(
        err, DDP_ERR_USAGE,
        "this Slurm job has %d tasks, and srun has started none of them: srun --mpi=pmix "
        "in front of the command trains on all, -ddp_backend solo on this process alone",
        tasks);
}

/* Ranks that this process is to start take its place. */
static ddp_status start_ranks(const ddp_options *options, ddp_launcher launcher, char **argv,
                              ddp_error *err)
{
    int ranks;

    if (!options->rendezvous && ddp_launcher_check(launcher, err)) {
        if (launcher.rank > 0)
            exit(2); /* all know it, and one says it */
        return err->code;
    }
    if (ddp_gpus_check(options, launcher, &ranks, err))
        return err->code;
    if (ranks == 0 && launcher.ranks == 0 && (options->hosts || options->max_restarts > 0))
        ranks = 1;
    if (ranks == 0)
        return options->ddp ? check_tasks(options, launcher, err) : DDP_OK;
    ddp_watchdog_close(); /* each rank has its own */
    return ddp_supervisor_run(options, ranks, argv, err);
}

int main(int argc, char **original)
{
    ddp_launcher launcher;
    ddp_options options;
    int is_ddp_command;
    ddp_error err;
    static char **argv; /* both for the whole run */
    static ddp_foreign_options_taken taken;
    const ddp_ddp_command *own = NULL; /* NULL: one of Darknet's */

    if (has_word(original, "-ddp_lone"))
        ddp_launcher_forget();
    launcher = ddp_launcher_read();
    if (!clears_screen(argc, original))
        ddp_terminal_replace_streams();
    ddp_rank_output_init(launcher);
    if (ddp_launched(launcher))
        ddp_report_notify_launcher(DDP_NOTE_BEGINS);
    if (ddp_command_print_help(argc, original))
        return 0;
    argv = calloc((size_t)argc + 3 + DDP_NAMED_RUN_WORDS, sizeof *argv);
    if (!argv)
        return 1;
    memcpy(argv, original, (size_t)argc * sizeof *argv);
    ddp_ddp_command_rename(argc, argv);
    is_ddp_command = argc > 1 && strcmp(argv[1], "ddp") == 0;
    if (ddp_options_parse(&options, &argc, argv, &err)
        || ddp_claims_check(&options, is_ddp_command, &err)
        || check_launch(&options, launcher, &err)
        || check_together(argc, argv, &options, launcher, &err))
        ddp_rank_output_failure(&err);
    options.ddp |= ddp_darknet_trains_ddp(argc, argv);
    if (options.ddp)
        (void)ddp_watchdog_open(&options);
    argc = drop_ignored(argc, argv, &options, &taken);
    if (is_ddp_command) {
        if (ddp_named_run_expand(&argc, argv, &options, &err)
            || !(own = ddp_ddp_command_of(argc, argv, &err)))
            ddp_rank_output_failure(&err);
    } else if (check_command(argc, argv, &options, launcher, &err)) {
        ddp_rank_output_failure(&err);
    }
    if (launcher.rank == 0 && ddp_overwrite_check(argc, argv, own, &options, &err))
        ddp_rank_output_failure(&err);
    if ((own ? own->traits & DDP_COMMAND_ON_RANKS : options.ddp)
        && start_ranks(&options, launcher, original, &err))
        ddp_rank_output_failure(&err);
    configure_darknet(&options, !own || own->traits & DDP_COMMAND_LAYERS);
    find_shared(argc, argv);
    if (own)
        return run_own_command(own, argc, argv, &options, launcher) || !is_printed();
    if (!options.ddp)
        return darknet_main(argc, argv);
    ddp_step_line_open(options.log_every);
    if (launcher.rank == 0)
        ddp_terminal_open(launcher);
    return run_training(argc, argv, &options, &taken);
}
