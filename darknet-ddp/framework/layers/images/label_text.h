/* layers/images/label_text.h: draws names of classes, in UTF-8, as pictures to put beside boxes.
 * label_text.c defines Darknet's get_label (darknet.h). ASCII letters are Darknet's pictures
 * (data/labels/). FreeType draws other letters from left to right, with a font of this host;
 * without FreeType, or a font that has the letter, '?' is drawn. */
#ifndef LABEL_TEXT_H
#define LABEL_TEXT_H
#include "darknet.h"

/* Return the next letter of *text, a Unicode code point, and move *text behind it. Skip control
 * characters. Return '?' for a byte that begins no letter, and 0 at the end, where *text stays. */
unsigned label_next_letter(const char **text);

/* Return a picture of a letter that is not ASCII: black on white, 3 channels, `height` pixels high.
 * The caller frees it (free_image). Its width is 0 if no font has the letter, FreeType cannot draw
 * it, or height is below 2; also in a build without FreeType. `overlap`: pixels by which it is
 * wider, since its neighbours will cover them. For one thread at a time. */
image label_letter(unsigned letter, int height, int overlap);

#endif
