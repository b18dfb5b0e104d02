/* base/suggest.h: finds, among many words, the one that an unknown word may have meant. */
#ifndef DDP_BASE_SUGGEST_H
#define DDP_BASE_SUGGEST_H

/* A search for the candidate most like `word`. If word and a candidate both begin with `beginning`,
 * which may be NULL, their rests are compared. All other members start as zero. */
typedef struct ddp_suggest {
    const char *word;
    const char *beginning;
    const char *best; /* candidate most like `word` so far; NULL: no candidate is like it */
    int distance;     /* letters put in, left out, changed or swapped between word and best */
} ddp_suggest;

/* Compare a candidate, which must outlive *n, with n->word, and keep it if it is the candidate most
 * like that word so far. Words of more than 63 letters are like none. Neither are words that differ
 * in more than a third of their letters, or in more than 3. */
void ddp_suggest_try(ddp_suggest *n, const char *candidate);

/* Bytes of the text of ddp_suggest_text. */
enum { DDP_NEAR_TEXT = 96 };

/* Write "; did you mean X?" to text, which has DDP_NEAR_TEXT bytes; "" if no candidate is like the
 * word. Returns text. */
const char *ddp_suggest_text(const ddp_suggest *n, char *text);

#endif
