#include "launch/mpirun.h"

#include "comm/group.h"
#include "launch/ports.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_hydra(void)
{
    return ddp_group_mpi_kind() == DDP_MPI_HYDRA;
}

static int is_open_5(void)
{
    return ddp_group_mpi_kind() == DDP_MPI_OPEN_5;
}

const char *ddp_mpirun_path(void)
{
    return DDP_MPIRUN;
}

/* ---- Open MPI's parameters ---- */

/* A parameter by the variables that set it in an environment. Their beginning says which library
 * reads it, and by which of mpirun's options it is set: Open MPI 5 has left the daemons to PRRTE,
 * and connecting to them to PMIx. NULL: that version has none. */
struct parameter {
    const char *of_4, *of_5;
};

static const struct parameter
    daemons_ports_v4 = {"OMPI_MCA_oob_tcp_dynamic_ipv4_ports",
                        "PRTE_MCA_oob_tcp_dynamic_ipv4_ports"},
    daemons_ports_v6 = {"OMPI_MCA_oob_tcp_dynamic_ipv6_ports",
                        "PRTE_MCA_oob_tcp_dynamic_ipv6_ports"},
    tools_interface = {NULL, "PMIX_MCA_ptl_base_if_include"},
    daemons_network = {"OMPI_MCA_oob_tcp_if_include", "PRTE_MCA_prte_if_include"},
    keep_domains = {"OMPI_MCA_orte_keep_fqdn_hostnames", "PRTE_MCA_prte_keep_fqdn_hostnames"},
    alive_time = {"OMPI_MCA_oob_tcp_keepalive_time", "PRTE_MCA_oob_tcp_keepalive_time"},
    alive_interval = {"OMPI_MCA_oob_tcp_keepalive_intvl", "PRTE_MCA_oob_tcp_keepalive_intvl"},
    alive_probes = {"OMPI_MCA_oob_tcp_keepalive_probes", "PRTE_MCA_oob_tcp_keepalive_probes"},
    kill_timeout = {"OMPI_MCA_odls_base_sigkill_timeout", NULL},
    files_folder = {"OMPI_MCA_orte_tmpdir_base", "PRTE_MCA_prte_tmpdir_base"},
    agent = {"OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent"},
    ranks_network = {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_include"},
    first_port_v4 = {"OMPI_MCA_btl_tcp_port_min_v4", "OMPI_MCA_btl_tcp_port_min_v4"},
    ports_v4 = {"OMPI_MCA_btl_tcp_port_range_v4", "OMPI_MCA_btl_tcp_port_range_v4"},
    first_port_v6 = {"OMPI_MCA_btl_tcp_port_min_v6", "OMPI_MCA_btl_tcp_port_min_v6"},
    ports_v6 = {"OMPI_MCA_btl_tcp_port_range_v6", "OMPI_MCA_btl_tcp_port_range_v6"};

/* A word of Open MPI 5's mpirun: what ranks write is passed on as it comes. */
static const char raw_output[] = ":raw";

static const char *variable_of(const struct parameter *p)
{
    return is_open_5() ? p->of_5 : p->of_4;
}

static void add(ddp_mpirun_line *line, const char *word)
{
    line->words[line->count++] = word;
}

/* Add a parameter, unless this version has none or the environment sets it. */
static void add_parameter(ddp_mpirun_line *line, const struct parameter *p, const char *value)
{
    static const char *const options[][2] = {
        {"OMPI_MCA_", "--mca"}, {"PRTE_MCA_", "--prtemca"}, {"PMIX_MCA_", "--pmixmca"}};
    const char *variable = variable_of(p);

    if (!variable || getenv(variable))
        return;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strncmp(variable, options[i][0], strlen(options[i][0])) == 0) {
            add(line, options[i][1]);
            add(line, variable + strlen(options[i][0]));
            add(line, value);
        }
}

/* ---- the command line ---- */

/* All ports in one range: of ranks 46000 to 46899, of mpirun and its daemons those above. Tools,
 * which reach Open MPI 5's mpirun at a port that is any, are to come from this host alone. */
static void add_ports(ddp_mpirun_line *line)
{
    static const char first[] = "46000", count[] = "900";

    ddp_draw_ports(line->ports, sizeof line->ports);
    add_parameter(line, &daemons_ports_v4, line->ports);
    add_parameter(line, &daemons_ports_v6, line->ports);
    add_parameter(line, &tools_interface, "lo");
    add_parameter(line, &first_port_v4, first);
    add_parameter(line, &ports_v4, count);
    add_parameter(line, &first_port_v6, first);
    add_parameter(line, &ports_v6, count);
}

/* Half of the grace: twice that is what Open MPI 4's mpirun waits until it kills. */
static void add_grace(ddp_mpirun_line *line, double grace_s)
{
    if (grace_s <= 0)
        return;
    (void)snprintf(line->kill_timeout, sizeof line->kill_timeout, "%.0f", ceil(grace_s / 2));
    add_parameter(line, &kill_timeout, line->kill_timeout);
}

/* The network that hosts share. A host that is away is missed in half a minute, not in eight. */
static void add_network(ddp_mpirun_line *line, const ddp_mpirun_start *start)
{
    if (start->network) {
        add_parameter(line, &daemons_network, start->network);
        add_parameter(line, &ranks_network, start->network);
    }
    if (start->has_domains) /* a host is asked for by the name that it was given */
        add_parameter(line, &keep_domains, "1");
    add_parameter(line, &alive_time, "10");
    add_parameter(line, &alive_interval, "5");
    add_parameter(line, &alive_probes, "4");
}

static void add_hosts(ddp_mpirun_line *line, const ddp_mpirun_start *start)
{
    add(line, "-H");
    add(line, start->hosts);
    for (const char *const *name = start->passed_on; *name; name++) {
        add(line, "-x");
        add(line, *name);
    }
}

static void add_words_of_open_mpi(ddp_mpirun_line *line, const ddp_mpirun_start *start)
{
    add_ports(line);
    if (is_open_5()) {
        add(line, "--map-by");
        add(line, ":OVERSUBSCRIBE");
        add(line, "--output"); /* else it holds back what is no whole line, and mixes those */
        add(line, raw_output);
    } else {
        add(line, "--oversubscribe");
    }
    if (geteuid() == 0)
        add(line, "--allow-run-as-root");
    add_grace(line, start->grace_s);
    if (!start->hosts)
        return;
    add_network(line, start);
    add_hosts(line, start);
}

/* Hydra passes the whole environment on, and has any number of ranks a core. */
static void add_words_of_hydra(ddp_mpirun_line *line, const ddp_mpirun_start *start)
{
    if (!start->hosts)
        return;
    add(line, "-hosts");
    add(line, start->hosts);
    if (start->interface) {
        add(line, "-iface");
        add(line, start->interface);
    }
}

void ddp_mpirun_make_line(ddp_mpirun_line *line, const ddp_mpirun_start *start)
{
    memset(line, 0, sizeof *line);
    (void)snprintf(line->ranks, sizeof line->ranks, "%d", start->ranks);
    add(line, ddp_mpirun_path());
    add(line, "-np");
    add(line, line->ranks);
    /* Loader threads run beside the rank: binding to one core would starve them. */
    add(line, "--bind-to");
    add(line, "none");
    if (is_hydra())
        add_words_of_hydra(line, start);
    else
        add_words_of_open_mpi(line, start);
    add(line, start->program);
}

/* ---- what they want and do ---- */

static int is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];

    while (path && *path) {
        size_t bytes = strcspn(path, ":");

        (void)snprintf(file, sizeof file, "%.*s/%s", (int)bytes, path, program);
        if (access(file, X_OK) == 0)
            return 1;
        path += bytes + (path[bytes] == ':');
    }
    return 0;
}

/* Open MPI 4 looks for what would start it on other hosts, and ends where it finds nothing (in many
 * containers), though it is to start ranks here alone. What ranks tell each other at the start PMIx
 * would keep in files of 8 MB in the folder of mpirun's files, and where these find no room, or are
 * larger than a file may be, ranks die and mpirun waits for ever: "hash" keeps it in memory. */
void ddp_mpirun_prepare(int is_one_host)
{
    (void)setenv("PMIX_MCA_gds", "hash", 0);
    if (is_one_host && !is_in_path("ssh") && !is_in_path("rsh"))
        (void)setenv("OMPI_MCA_plm", "isolated", 0);
}

const char *ddp_mpirun_folder(void)
{
    const char *names[] = {variable_of(&files_folder), "TMPDIR", "TEMP", "TMP"};

    if (is_hydra())
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return getenv(names[i]);
    return "/tmp";
}

int ddp_mpirun_wants_addresses(void)
{
    return !is_hydra();
}

int ddp_mpirun_wants_localhost(void)
{
    return is_open_5();
}

int ddp_mpirun_forwards_signals(void)
{
    return !is_hydra();
}

int ddp_mpirun_name_letters(void)
{
    return ddp_group_mpi_kind() == DDP_MPI_OPEN_4 ? 56 : 0;
}

int ddp_mpirun_end_signal(void)
{
    return is_open_5() ? SIGHUP : SIGTERM;
}

double ddp_mpirun_lost_s(void)
{
    return getenv("PRTE_LAUNCHED") ? .1 : 1.5;
}

int ddp_mpirun_holds_lines(void)
{
    char path[64], text[1 << 16];
    size_t bytes, word;
    FILE *f;

    if (!getenv("PRTE_LAUNCHED"))
        return 0;
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)getppid());
    f = fopen(path, "re");
    if (!f)
        return 1;
    bytes = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[bytes] = '\0';
    for (size_t at = 0; at < bytes; at += word + 1) {
        word = strlen(text + at);
        if (word >= sizeof raw_output - 1
            && strcmp(text + at + word - (sizeof raw_output - 1), raw_output) == 0)
            return 0;
    }
    return 1;
}

const char *ddp_mpirun_package(void)
{
    return is_hydra() ? "mpich" : "openmpi-bin";
}

const char *ddp_mpirun_srun_mpi(void)
{
    return is_hydra() ? "pmi2" : "pmix";
}

const char *ddp_mpirun_agent(void)
{
    return getenv(variable_of(&agent));
}

char *ddp_mpirun_typed_name(char *program)
{
    char *typed = getenv("OMPI_TOOL_NAME");

    return typed && strcmp(program, "prterun") == 0 ? typed : program;
}
