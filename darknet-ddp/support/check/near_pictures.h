/* check/near_pictures.h: finds pictures that show the same although their files differ: other size,
 * other quality, mirrored, brighter.
 *
 * A picture's signature has the lowest waves of its brightness (a cosine transform of 32x32 means).
 * Pictures whose waves correlate almost fully are near. A hash of the waves' signs chooses which
 * ones are compared. */
#ifndef DDP_CHECK_NEAR_PICTURES_H
#define DDP_CHECK_NEAR_PICTURES_H

#include <stddef.h>
#include <stdint.h>

enum { DDP_WAVES = 16 }; /* how many cosine waves along each side of a picture */

typedef struct ddp_signature {
    float aspect;  /* width by height; 0: the picture has no signature */
    int known;     /* waves along each side that the picture has pixels for, at most DDP_WAVES */
    uint64_t hash; /* a bit for the sign of each of the lowest waves */
    int16_t waves[DDP_WAVES * DDP_WAVES]; /* a vector of length 1, in units of 1/32767 */
} ddp_signature;

/* Set *s to the signature of a grey picture of width x height bytes, rows from the top. If the
 * picture is one even area, or there is no memory, s->aspect becomes 0. */
void ddp_signature_of(ddp_signature *s, const unsigned char *grey, int width, int height);

/* Return how much the waves that both pictures have correlate, from -1 to 1. Picture b counts as it
 * is, or mirrored in x, in y or in both, whichever correlates most. Returns 0 if one has no
 * signature, or their aspects differ by more than a factor of 1.1. */
double ddp_signature_likeness(const ddp_signature *a, const ddp_signature *b);

/* Call found(ctx, i, k, likeness) for each pair of near pictures, of a likeness of 0.99 or more,
 * once or several times; k < i. Returns 0; -1 if there is no memory. */
int ddp_near_find(const ddp_signature *all, size_t count,
                  void (*found)(void *ctx, size_t i, size_t k, double likeness), void *ctx);

#endif
