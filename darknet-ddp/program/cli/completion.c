/* The command `darknet ddp completion bash|zsh`: prints a script with which the shell completes
 * commands, options and the words that an option chooses from. Most come from the tables of
 * commands and options. After an option of ours that takes numbers nothing is completed. All other
 * words are completed as files. */
#include "cli/commands.h"
#include "options/darknet_commands.h"
#include "options/ddp_commands.h"
#include "options/table.h"
#include "show/rank_output.h"

#include <string.h>

/* ---- what both shells get ---- */

/* Call each with every name once: commands stand together in the table. */
static void each_command(void (*each)(const char *name))
{
    const ddp_darknet_command *row;
    const char *last = "ddp";

    each(last);
    for (size_t i = 0; (row = ddp_darknet_command_at(i)); i++) {
        if (strcmp(row->name, last) != 0)
            each(row->name);
        last = row->name;
    }
}

static void put_name(const char *name)
{
    printf(" %s", name);
}

static void put_verbs(const char *command)
{
    const ddp_darknet_command *row;
    const ddp_ddp_command *own;

    for (size_t i = 0; (row = ddp_darknet_command_at(i)); i++)
        if (strcmp(row->name, command) == 0 && row->verb[0])
            printf(" %s", row->verb);
    for (size_t i = 0; strcmp(command, "ddp") == 0 && (own = ddp_ddp_command_at(i)); i++)
        printf(" %s", own->verb);
    if (strcmp(command, "detector") == 0)
        printf(" map");
}

/* "a|b|c" with blanks between. */
static void put_choices(const char *words)
{
    for (; *words; words++)
        (void)putchar(*words == '|' ? ' ' : *words);
}

/* A case for each option that chooses from words: "-best) WORDS;;". */
static void put_choice_cases(const char *before, const char *after)
{
    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        const ddp_option *row = &ddp_option_table[i];

        if (row->kind == DDP_OPTION_KIND_TEXT || !strchr(row->argument, '|'))
            continue;
        printf("    %s) %s", row->name, before);
        put_choices(row->kind == DDP_OPTION_KIND_SKIP ? "stop|skip" : row->argument);
        printf("%s ;;\n", after);
    }
}

/* Options that take a number: no file is one. */
static void put_numbers(void)
{
    const char *between = "    ";

    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        const ddp_option *row = &ddp_option_table[i];

        if (!row->argument[0] || row->kind == DDP_OPTION_KIND_TEXT || strchr(row->argument, '|'))
            continue;
        printf("%s%s", between, row->name);
        between = "|";
    }
}

/* Write Darknet's own options that one row of its table lists. */
static void put_own_options(const char *list)
{
    char name[32], value[32];

    while (ddp_darknet_next_option(&list, name, value, sizeof name))
        printf(" %s", name);
}

static void put_verb_cases(const char *before, const char *after)
{
    const ddp_darknet_command *row;
    const char *last = "";

    printf("    ddp) %s", before);
    put_verbs("ddp");
    printf("%s ;;\n", after);
    for (size_t i = 0; (row = ddp_darknet_command_at(i)); i++) {
        if (row->verb[0] && strcmp(row->name, last) != 0) {
            printf("    %s) %s", row->name, before);
            put_verbs(row->name);
            printf("%s ;;\n", after);
        }
        last = row->name;
    }
}

/* ---- bash ---- */

static void put_bash_options(void)
{
    const ddp_darknet_command *row;

    printf("  case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
    for (size_t i = 0; (row = ddp_darknet_command_at(i)); i++) {
        if (!row->options[0] || ddp_ddp_command_is_ours(row->name, row->verb))
            continue;
        printf("    \"%s %s\"%s) options+=\"", row->name, row->verb, row->verb[0] ? "" : "*");
        put_own_options(row->options);
        printf("\" ;;\n");
    }
    printf("  esac\n  case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n"
           "    ddp\\ *|detector\\ map|detector\\ test|classifier\\ predict) options+=\"");
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (ddp_option_table[i].scope == DDP_OPTION_SCOPE_COMMAND)
            printf(" %s", ddp_option_table[i].name);
    printf("\" ;;\n  esac\n");
}

static void put_bash(void)
{
    printf("# Completion of darknet for bash. Made by `darknet ddp completion bash`.\n"
           "_darknet() {\n"
           "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options words=\n"
           "  COMPREPLY=()\n"
           "  case $prev in\n");
    put_choice_cases("words=\"", "\"");
    put_numbers();
    printf(") compopt +o default; return ;;\n  esac\n"
           "  if [[ -z $words && $COMP_CWORD -eq 1 ]]; then\n    words=\"");
    each_command(put_name);
    printf("\"\n  elif [[ -z $words && $COMP_CWORD -eq 2 ]]; then\n    case $prev in\n");
    put_verb_cases("words=\"", "\"");
    printf("    esac\n  fi\n"
           "  if [[ -z $words && $cur == -* ]]; then\n  options=\"");
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (ddp_option_table[i].scope != DDP_OPTION_SCOPE_COMMAND)
            printf(" %s", ddp_option_table[i].name);
    printf("\"\n");
    put_bash_options();
    printf("  words=$options\n  fi\n"
           "  if [[ -n $words ]]; then\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
           "  fi\n}\n"
           "complete -o default -F _darknet darknet\n");
}

/* ---- zsh ---- */

/* 'NAME:MEANING' within single quotes. */
static void put_described(const char *name, const char *meaning)
{
    printf(" '%s:", name);
    for (; *meaning; meaning++) {
        if (*meaning == '\'')
            (void)fputs("'\\''", stdout);
        else if (*meaning == ':' || *meaning == '\\')
            printf("\\%c", *meaning);
        else
            (void)putchar(*meaning);
    }
    printf("'");
}

static void put_zsh_described(int of_commands)
{
    for (int i = 0; i < DDP_OPTION_ROWS; i++) {
        const ddp_option *row = &ddp_option_table[i];
        ddp_option_text text;

        if ((row->scope == DDP_OPTION_SCOPE_COMMAND) == of_commands) {
            printf("\n      ");
            put_described(row->name, ddp_option_describe(row, &text)->meaning);
        }
    }
}

static void put_zsh_options(void)
{
    const ddp_darknet_command *row;

    printf("  case \"$words[2] $words[3]\" in\n");
    for (size_t i = 0; (row = ddp_darknet_command_at(i)); i++) {
        if (!row->options[0] || ddp_ddp_command_is_ours(row->name, row->verb))
            continue;
        printf("    \"%s %s\"%s) options+=(", row->name, row->verb, row->verb[0] ? "" : "*");
        put_own_options(row->options);
        printf(") ;;\n");
    }
    printf("  esac\n  case \"$words[2] $words[3]\" in\n    ddp\\ *|detector\\ map|detector\\ "
           "test|classifier\\ "
           "predict) options+=(");
    put_zsh_described(1);
    printf(") ;;\n  esac\n");
}

static void put_zsh(void)
{
    printf("#compdef darknet\n"
           "# Completion of darknet for zsh. Made by `darknet ddp completion zsh`.\n"
           "_darknet() {\n  local -a options\n"
           "  case $words[CURRENT-1] in\n");
    put_choice_cases("compadd ", "; return");
    put_numbers();
    printf(") return ;;\n  esac\n  if (( CURRENT == 2 )); then\n    compadd --");
    each_command(put_name);
    printf("\n    return\n  elif (( CURRENT == 3 )); then\n    case $words[2] in\n");
    put_verb_cases("compadd --", "; return");
    printf("    esac\n  fi\n  if [[ $PREFIX != -* ]]; then\n    _files\n    return\n  fi\n"
           "  options=(");
    put_zsh_described(0);
    printf(")\n");
    put_zsh_options();
    printf("  _describe option options\n}\n_darknet \"$@\"\n");
}

int ddp_command_completion(const ddp_command_call *call)
{
    const char *shell = call->words[0];
    ddp_error err;

    if (strcmp(shell, "bash") == 0) {
        put_bash();
        return 0;
    }
    if (strcmp(shell, "zsh") == 0) {
        put_zsh();
        return 0;
    }
    (void)ddp_fail(&err, DDP_ERR_USAGE, "completion is for bash or zsh, not for '%s'", shell);
    ddp_rank_output_failure(&err);
}
