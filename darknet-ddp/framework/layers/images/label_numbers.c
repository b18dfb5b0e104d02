#include "layers/images/label_numbers.h"

#include "text/words.h"
#include "utils.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHOWN = 40 }; /* letters of a word in a sentence */

/* A label file that is read word by word. */
typedef struct label_words {
    FILE *file;
    char *line, *rest; /* the line that is read, and what of it is left; NULL: none is */
    int number;        /* of the line, from 1 */
} label_words;

static label_words open_label(char *path)
{
    label_words words = {.file = open_text(path)};
    if (!words.file)
        file_error(path);
    return words;
}

/* Return the next word; null at the end of the file. */
static const char *next_word(label_words *words)
{
    char *word = words->line ? ddp_word_next(&words->rest) : 0;
    while (!word) {
        free(words->line);
        words->line = words->rest = fgetl(words->file);
        if (!words->line)
            return 0;
        ++words->number;
        word = ddp_word_next(&words->rest);
    }
    return word;
}

static void close_label(label_words *words)
{
    free(words->line);
    fclose(words->file);
}

void load_label_values(char *path, float *values, int k)
{
    label_words words = open_label(path);
    double value;
    int i;
    for (i = 0; i < k; ++i) {
        const char *word = next_word(&words);
        if (!word)
            fatal("%s: %d values, %d expected", path, i, k);
        if (!ddp_word_number(word, &value))
            fatal("%s:%d: '%.*s' is no number", path, words.number, SHOWN, word);
        values[i] = strtof(word, 0);
    }
    close_label(&words);
}

void load_label_tags(char *path, float *tags, int k)
{
    label_words words = open_label(path);
    const char *word;
    int tag;
    while ((word = next_word(&words))) {
        if (!ddp_word_whole(word, &tag) || tag < 0 || tag >= k)
            fatal("%s:%d: '%.*s' is not one of the %d tags 0 to %d", path, words.number, SHOWN,
                  word, k, k - 1);
        tags[tag] = 1;
    }
    close_label(&words);
}
