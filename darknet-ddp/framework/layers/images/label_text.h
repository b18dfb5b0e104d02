/* layers/images/label_text.h: names of classes, in UTF-8, as pictures to draw beside boxes. ASCII
 * letters are Darknet's own (data/labels/). Other letters are drawn by FreeType with a font of this
 * host, if the program was built with FreeType and a font has them; else '?' stands for them.
 * Letters go one by one from left to right. Darknet's get_label (darknet.h) is here. */
#ifndef LABEL_TEXT_H
#define LABEL_TEXT_H
#include "darknet.h"

/* Return the next letter of *text (a Unicode number), and move *text behind it. Characters that
 * control a terminal are skipped. Returns '?' for a byte that is no UTF-8. At the end returns 0,
 * and *text stays. */
unsigned label_next_letter(const char **text);

/* Return a picture, `height` pixels high, of a letter that is not ASCII: black on white, 3
 * channels. The caller frees it. `overlap`: by how many pixels its neighbours will cover it; the
 * picture is wider by as many. The picture's width is 0 if no font has the letter, or in a build
 * without FreeType. */
image label_letter(unsigned letter, int height, int overlap);

#endif
