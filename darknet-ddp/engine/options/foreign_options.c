#include "options/foreign_options.h"

#include "options/table.h"

#include <string.h>
#include <unistd.h>

typedef struct foreign_option {
    const char *name;
    int values; /* that follow it where it is taken; -1: it is refused */
    const char *sentence;
} foreign_option;

static const foreign_option foreign_options[] = {
#define TAKEN(name, values, sentence) {name, values, sentence},
#define REFUSED(name, sentence) {name, -1, sentence},
#include "options/foreign_options.def"
#undef REFUSED
#undef TAKEN
};

enum { FOREIGN_OPTIONS = sizeof foreign_options / sizeof foreign_options[0], NAME = 64 };

/* "--batch-size=8" is "batch_size". */
static void find_name(const char *word, char *name)
{
    word += strspn(word, "-");
    (void)snprintf(name, NAME, "%.*s", (int)strcspn(word, "="), word);
    for (; *name; name++)
        if (*name == '-')
            *name = '_';
}

static const foreign_option *find(const char *word)
{
    char name[NAME];

    find_name(word, name);
    for (int i = 0; i < FOREIGN_OPTIONS; i++)
        if (strcmp(foreign_options[i].name, name) == 0)
            return &foreign_options[i];
    return NULL;
}

/* An option of ours that is `beginning` and this word. */
static const ddp_option *find_own(const char *beginning, const char *word)
{
    char name[NAME], own[2 * NAME];

    find_name(word, name);
    (void)snprintf(own, sizeof own, "%s%s", beginning, name);
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (ddp_option_table[i].scope != DDP_OPTION_SCOPE_COMMAND
            && strcmp(ddp_option_table[i].name, own) == 0)
            return &ddp_option_table[i];
    return NULL;
}

/* How the word is written otherwise than our option, which it names. */
static const char *how_it_differs(const char *word, const ddp_option *own)
{
    if (strchr(word, '='))
        return own->argument[0] ? " with a blank in place of the =" : " without a value";
    return strncmp(word, "--", 2) == 0 ? " with one dash" : "";
}

const char *ddp_foreign_option_instead(const char *word, char text[DDP_FOREIGN_OPTION_TEXT])
{
    const char *differs;
    const foreign_option *known = find(word);
    const ddp_option *own = find_own("-", word);

    if (known) {
        (void)snprintf(text, DDP_FOREIGN_OPTION_TEXT, "%s", known->sentence);
        return text;
    }
    if (!own)
        own = find_own("-ddp_", word);
    if (!own || strcmp(own->name, word) == 0)
        return NULL;
    differs = how_it_differs(word, own);
    (void)snprintf(text, DDP_FOREIGN_OPTION_TEXT, "%s%s%s%s%s", own->name,
                   own->argument[0] ? " " : "", own->argument, *differs ? "," : "", differs);
    return text;
}

int ddp_foreign_options_take(int argc, char **argv, ddp_foreign_options_taken *taken)
{
    int kept = 1;

    for (int i = 1; i < argc; i++) {
        const foreign_option *known = argv[i][0] == '-' ? find(argv[i]) : NULL;

        if (!known || known->values < 0) {
            argv[kept++] = argv[i];
            if (strcmp(argv[i], "-clear") == 0 && i + 1 < argc && strcmp(argv[i + 1], "1") == 0)
                i++; /* guides of the forks have -clear 1 */
            continue;
        }
        if (taken->count < DDP_FOREIGN_OPTIONS_MOST) {
            taken->all[taken->count].word = argv[i];
            taken->all[taken->count++].sentence = known->sentence;
        }
        if (!strchr(argv[i], '='))
            i += known->values;
    }
    argv[kept] = NULL;
    return kept;
}

ddp_status ddp_foreign_options_check(int argc, char **argv, ddp_error *err)
{
    char text[DDP_FOREIGN_OPTION_TEXT];

    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-' && strchr(argv[i], '=') && access(argv[i], F_OK)
            && ddp_foreign_option_instead(argv[i], text))
            return ddp_fail(err, DDP_ERR_USAGE, "'%s' is no file; here: %s", argv[i], text);
    return DDP_OK;
}
