/* base/suggest.h: which of many words somebody may have meant. */
#ifndef DDP_BASE_SUGGEST_H
#define DDP_BASE_SUGGEST_H

/* Zero but for word, and beginning if many words share one: the search for what is like it. Words
 * are alike by what stands behind that, or behind a dash. */
typedef struct ddp_suggest {
    const char *word;
    const char *beginning;
    const char *best; /* of the candidates so far; NULL: none is like it */
    int distance;     /* letters put in, left out, changed or swapped between the two */
} ddp_suggest;

/* Consider one more word, which must outlive *n. Words of more than 63 letters are like none, nor
 * are words that differ in more than a third of their letters. */
void ddp_suggest_try(ddp_suggest *n, const char *candidate);

/* Room for the text below. */
enum { DDP_NEAR_TEXT = 96 };

/* "; did you mean X?", or nothing. Returns text, which has DDP_NEAR_TEXT bytes. */
const char *ddp_suggest_text(const ddp_suggest *n, char *text);

#endif
