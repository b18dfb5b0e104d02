/* Runs code of Darknet's that may end the program, again and again in one process. What it leaves
 * behind when it ends is taken back, and it gets no more memory than a limit.
 *
 * For this malloc, calloc, realloc, free, strdup, fopen, fclose and getline are wrapped by the
 * linker (--wrap). One run at a time, in one thread.
 */
#ifndef DDP_TESTS_FUZZ_GUARDED_H
#define DDP_TESTS_FUZZ_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* Run f(arg) with at most `most` bytes of memory at a time: beyond them there is none. Darknet's
 * fatal() ends f alone. All that f has not freed or closed is freed and closed. Returns 1 if f came
 * to its end. */
int guarded_run(void (*f)(void *arg), void *arg, size_t most);

/* Make a file with these bytes, and return its path. It stays valid until the next call with this
 * number, 0 to 3. */
const char *guarded_file(int number, const uint8_t *data, size_t size);

#endif
