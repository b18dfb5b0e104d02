#ifndef LABEL_TEXT_H
#define LABEL_TEXT_H
#include "darknet.h"

/* Names of classes, in UTF-8, as pictures to draw beside boxes. ASCII has Darknet's own letters
 * (data/labels/). Other letters are drawn by FreeType with a font of this host, if the program was
 * built with FreeType and a font has them; else '?' stands for them. Letters are drawn one by one,
 * from left to right. Darknet's get_label (darknet.h) is here. */

/* Return the next letter of *text, and move *text behind it. Return '?' for a byte that is no
 * UTF-8; 0 at the end, where *text stays. Characters that control a terminal are passed over. */
unsigned label_next_letter(const char **text);

/* Return a picture, as high as `height`, of a letter that is not ASCII: black on white, 3 channels.
 * overlap: how many pixels its neighbours will cover. The width is 0 if no font has the letter. */
image label_letter(unsigned letter, int height, int overlap);

#endif
