/* cmocka's assertions on numbers of any type, which show both where they do not hold.
 *
 * Each argument is evaluated once. NaN compares as in C. */
#ifndef DDP_TESTS_UNIT_NUMBERS_H
#define DDP_TESTS_UNIT_NUMBERS_H

#define assert_less(a, b) assert_compared(a, <, b)
#define assert_at_most(a, b) assert_compared(a, <=, b)
#define assert_greater(a, b) assert_compared(a, >, b)
#define assert_at_least(a, b) assert_compared(a, >=, b)
/* Fail unless a and b are equal numbers, of any type. */
#define assert_number_equal(a, b) assert_compared(a, ==, b)
/* Fail unless a and b are less than `most` apart. */
#define assert_near(a, b, most)                                                                    \
    numbers_near((long double)(a), (long double)(b), (long double)(most), #a, #b, __FILE__,        \
                 __LINE__)

#define assert_compared(a, sign, b)                                                                \
    numbers_compared((long double)(a), #sign, (long double)(b), #a, #b, __FILE__, __LINE__)

/* Fail the test at file:line unless the comparison holds: what the macros call. */
void numbers_compared(long double a, const char *sign, long double b, const char *a_text,
                      const char *b_text, const char *file, int line);
void numbers_near(long double a, long double b, long double most, const char *a_text,
                  const char *b_text, const char *file, int line);

#endif
