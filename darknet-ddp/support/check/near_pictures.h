/* check/near_pictures.h: finds near pictures: they look the same although they differ in size,
 * quality or brightness, or one is mirrored.
 *
 * The signature of a picture is its waves: the lowest frequencies of its brightness (a cosine
 * transform of 32x32 means). Pictures of similar shape are near if their waves correlate almost
 * fully. Only pictures with similar hashes (signs of their waves) are compared. */
#ifndef DDP_CHECK_NEAR_PICTURES_H
#define DDP_CHECK_NEAR_PICTURES_H

#include <stddef.h>
#include <stdint.h>

enum { DDP_WAVES = 16 }; /* how many waves a signature has along each side of the picture */

typedef struct ddp_signature {
    float aspect; /* width / height; 0: the picture has no signature */
    /* how many waves along each side count; the picture has too few pixels for the others */
    int known;
    uint64_t hash;                        /* a bit for the sign of each of the lowest waves */
    int16_t waves[DDP_WAVES * DDP_WAVES]; /* the waves, scaled to a vector of length 32767 */
} ddp_signature;

/* Set *s to the signature of a grey picture of width x height bytes, rows from the top. If the
 * picture is nearly all one grey, or there is no memory, s->aspect becomes 0. */
void ddp_signature_of(ddp_signature *s, const unsigned char *grey, int width, int height);

/* Call found(ctx, i, k, likeness) for each pair of near pictures i and k, k < i, once or several
 * times. likeness: correlation of their waves, 0.99 to 1. Returns 0; -1 if there is no memory. */
int ddp_near_find(const ddp_signature *all, size_t count,
                  void (*found)(void *ctx, size_t i, size_t k, double likeness), void *ctx);

#endif
