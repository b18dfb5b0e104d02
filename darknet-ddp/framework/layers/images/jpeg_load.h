#ifndef JPEG_LOAD_H
#define JPEG_LOAD_H
#include "darknet.h"

/* A picture from a file, as planes of values from 0 to 1, of so many channels or, where that is 0,
   as many as it has. Ends the program, or the sample's loading, with a sentence where it cannot be
   read. */
image load_image_stb(char *filename, int channels);

#endif
