/* base/suggest.h: finds, among many words, the one that an unknown word may have meant. */
#ifndef DDP_BASE_SUGGEST_H
#define DDP_BASE_SUGGEST_H

/* A search for the candidate most like a word. Set `word` and `beginning`; all else begins as
 * zero. */
typedef struct ddp_suggest {
    const char *word;
    const char *beginning; /* left out of the comparison if both words begin with it; NULL: none */
    const char *best;      /* candidate most like `word` so far; NULL: no candidate is like it */
    int distance;          /* letters put in, left out, changed or swapped between word and best */
} ddp_suggest;

/* Compare a candidate with n->word, without n->beginning or a dash that both begin with. If it is
 * the most like that word so far, keep it in n->best. A candidate must outlive *n. It may differ
 * in about a third of the word's letters, 3 at most. Words with over 63 letters to compare are
 * never alike. */
void ddp_suggest_try(ddp_suggest *n, const char *candidate);

enum { DDP_SUGGEST_TEXT = 96 }; /* bytes of ddp_suggest_text's text, with the zero at its end */

/* Write "; did you mean X?" to text, which has DDP_SUGGEST_TEXT bytes; "" if n->best is NULL.
 * Returns text. */
const char *ddp_suggest_text(const ddp_suggest *n, char *text);

#endif
