#include "options/habits.h"

#include "options/table.h"

#include <string.h>
#include <unistd.h>

typedef struct habit {
    const char *name;
    int values; /* that follow it where it is taken; -1: it is refused */
    const char *sentence;
} habit;

static const habit habits[] = {
#define TAKEN(name, values, sentence) {name, values, sentence},
#define REFUSED(name, sentence) {name, -1, sentence},
#include "options/habits.def"
#undef REFUSED
#undef TAKEN
};

enum { HABITS = sizeof habits / sizeof habits[0], NAME = 64 };

/* "--batch-size=8" is "batch_size". */
static void find_name(const char *word, char *name)
{
    word += strspn(word, "-");
    (void)snprintf(name, NAME, "%.*s", (int)strcspn(word, "="), word);
    for (; *name; name++)
        if (*name == '-')
            *name = '_';
}

static const habit *find(const char *word)
{
    char name[NAME];

    find_name(word, name);
    for (int i = 0; i < HABITS; i++)
        if (strcmp(habits[i].name, name) == 0)
            return &habits[i];
    return NULL;
}

/* An option of ours, less its dash. */
static const ddp_option *find_own(const char *word)
{
    char name[NAME];

    find_name(word, name);
    for (int i = 0; i < DDP_OPTION_ROWS; i++)
        if (ddp_option_table[i].scope != DDP_OPTION_SCOPE_COMMAND
            && strcmp(ddp_option_table[i].name + 1, name) == 0)
            return &ddp_option_table[i];
    return NULL;
}

const char *ddp_habit_instead(const char *word, char *text)
{
    const habit *known = find(word);
    const ddp_option *own = find_own(word);

    if (known) {
        (void)snprintf(text, DDP_HABIT_TEXT, "%s", known->sentence);
        return text;
    }
    if (!own)
        return NULL;
    (void)snprintf(text, DDP_HABIT_TEXT, "%s%s%s%s", own->name, own->argument[0] ? " " : "",
                   own->argument, own->scope == DDP_OPTION_SCOPE_ANYWHERE ? "" : ", with -ddp");
    return text;
}

int ddp_habits_take(int argc, char **argv, ddp_habits_taken *taken)
{
    int kept = 1;

    for (int i = 1; i < argc; i++) {
        const habit *known = argv[i][0] == '-' ? find(argv[i]) : NULL;

        if (!known || known->values < 0) {
            argv[kept++] = argv[i];
            continue;
        }
        if (taken->count < DDP_HABITS_TAKEN_MOST) {
            taken->all[taken->count].word = argv[i];
            taken->all[taken->count++].sentence = known->sentence;
        }
        if (!strchr(argv[i], '='))
            i += known->values;
    }
    argv[kept] = NULL;
    return kept;
}

ddp_status ddp_habits_check(int argc, char **argv, ddp_error *err)
{
    char text[DDP_HABIT_TEXT];

    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-' && strchr(argv[i], '=') && access(argv[i], F_OK)
            && ddp_habit_instead(argv[i], text))
            return ddp_fail(err, DDP_ERR_USAGE, "'%s' is no file; here: %s", argv[i], text);
    return DDP_OK;
}
