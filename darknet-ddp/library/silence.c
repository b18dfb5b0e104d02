/* Keeps the library from printing: the linker gives the library these streams and functions,
 * which drop what is written, in place of libc's (--wrap in CMakeLists.txt). With _FORTIFY_SOURCE
 * compilers call __printf_chk and __vprintf_chk for printf and vprintf. */
#include <stdarg.h>
#include <stdio.h>

FILE *__wrap_stdout, *__wrap_stderr;

int __wrap_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int __wrap_vprintf(const char *format, va_list values) __attribute__((format(printf, 1, 0)));
int __wrap___printf_chk(int flag, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap___vprintf_chk(int flag, const char *format, va_list values)
    __attribute__((format(printf, 2, 0)));
int __wrap_puts(const char *text);
int __wrap_putchar(int c);
void __wrap_perror(const char *text);

/* Open both streams as one that drops what is written, and has no file. Runs before main. */
__attribute__((constructor)) static void open_streams(void)
{
    __wrap_stdout = __wrap_stderr = fopencookie(NULL, "w", (cookie_io_functions_t){0});
}

int __wrap_printf(const char *format, ...)
{
    (void)format;
    return 0;
}

int __wrap_vprintf(const char *format, va_list values)
{
    (void)format;
    (void)values;
    return 0;
}

int __wrap___printf_chk(int flag, const char *format, ...)
{
    (void)flag;
    (void)format;
    return 0;
}

int __wrap___vprintf_chk(int flag, const char *format, va_list values)
{
    (void)flag;
    (void)format;
    (void)values;
    return 0;
}

int __wrap_puts(const char *text)
{
    (void)text;
    return 0;
}

int __wrap_putchar(int c)
{
    return c;
}

void __wrap_perror(const char *text)
{
    (void)text;
}
