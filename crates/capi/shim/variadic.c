/* The only C of the library. Stable Rust can call C-variadic functions but not define them, nor name a va_list:
 * this file takes the arguments off the C calling convention and hands them to Rust. It parses nothing, allocates
 * nothing and decides nothing, except which C type an option's argument has, which follows from its number.
 *
 * Rust never refers to a symbol defined here (arguments travel behind function pointers), so that the Rust
 * library links and runs its own tests without a C compiler.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#define API __attribute__((visibility("default")))

/* --- setopt and getinfo: one argument ------------------------------------------------------------------ */

/* Either number or pointer is meaningful; Rust knows which from the option. */
extern int warmwire_easy_setopt(void *easy, int option, long long number, void *pointer);
extern int warmwire_multi_setopt(void *multi, int option, long long number, void *pointer);
extern int warmwire_share_setopt(void *share, int option, long long number, void *pointer);
extern int warmwire_easy_getinfo(void *easy, int info, void *out);

/* The ten-thousands of an option's number are its argument type (CURLOPTTYPE_*). */
enum { TYPE_LONG = 0, TYPE_FUNCTION = 2, TYPE_OFF_T = 3 };

#define FORWARD_SETOPT(name, target)                                        \
  API int name(void *handle, int option, ...)                               \
  {                                                                         \
    long long number = 0;                                                   \
    void *pointer = NULL;                                                   \
    va_list ap;                                                             \
    va_start(ap, option);                                                   \
    switch(option / 10000) {                                                \
    case TYPE_LONG: number = va_arg(ap, long); break;                       \
    case TYPE_OFF_T: number = va_arg(ap, long long); break;                 \
    case TYPE_FUNCTION: pointer = (void *)va_arg(ap, void (*)(void)); break; \
    default: pointer = va_arg(ap, void *); break;                           \
    }                                                                       \
    va_end(ap);                                                             \
    return target(handle, option, number, pointer);                         \
  }

FORWARD_SETOPT(curl_easy_setopt, warmwire_easy_setopt)
FORWARD_SETOPT(curl_multi_setopt, warmwire_multi_setopt)

/* Share options are numbered 1, 2, ...: the first two (SHARE, UNSHARE) take an int, the others a pointer. */
API int curl_share_setopt(void *share, int option, ...)
{
  long long number = 0;
  void *pointer = NULL;
  va_list ap;
  va_start(ap, option);
  if(option == 1 || option == 2)
    number = va_arg(ap, int);
  else
    pointer = va_arg(ap, void *);
  va_end(ap);
  return warmwire_share_setopt(share, option, number, pointer);
}

/* Every info is answered through a pointer. */
API int curl_easy_getinfo(void *easy, int info, ...)
{
  void *out;
  va_list ap;
  va_start(ap, info);
  out = va_arg(ap, void *);
  va_end(ap);
  return warmwire_easy_getinfo(easy, info, out);
}

/* --- printf family and formadd: as many arguments as the format or the option list asks for --------------- */

enum { WIDTH_INT, WIDTH_LONG, WIDTH_LONG_LONG, WIDTH_SIZE };

struct arguments {
  long long (*integer)(struct arguments *, int width);
  double (*real)(struct arguments *, int is_long_double);
  void *(*pointer)(struct arguments *);
  va_list ap;
};

static long long next_integer(struct arguments *a, int width)
{
  switch(width) {
  case WIDTH_LONG: return va_arg(a->ap, long);
  case WIDTH_LONG_LONG: return va_arg(a->ap, long long);
  case WIDTH_SIZE: return (long long)va_arg(a->ap, size_t);
  default: return va_arg(a->ap, int);
  }
}

static double next_real(struct arguments *a, int is_long_double)
{
  return is_long_double ? (double)va_arg(a->ap, long double) : va_arg(a->ap, double);
}

static void *next_pointer(struct arguments *a)
{
  return va_arg(a->ap, void *);
}

#define GETTERS .integer = next_integer, .real = next_real, .pointer = next_pointer

extern int warmwire_vsnprintf(char *, size_t, const char *, struct arguments *);
extern int warmwire_vsprintf(char *, const char *, struct arguments *);
extern int warmwire_vfprintf(FILE *, const char *, struct arguments *);
extern char *warmwire_vaprintf(const char *, struct arguments *);
extern int warmwire_formadd(void **first, void **last, struct arguments *);

/* Evaluate `call` with `args` set up from a va_list, or from the arguments after `last`. */
#define FROM_LIST(type, call)            \
  struct arguments args = { GETTERS };   \
  type result;                           \
  va_copy(args.ap, ap);                  \
  result = call;                         \
  va_end(args.ap);                       \
  return result
#define FROM_CALL(type, last, call)      \
  struct arguments args = { GETTERS };   \
  type result;                           \
  va_start(args.ap, last);               \
  result = call;                         \
  va_end(args.ap);                       \
  return result

API int curl_mvsnprintf(char *buffer, size_t size, const char *format, va_list ap)
{
  FROM_LIST(int, warmwire_vsnprintf(buffer, size, format, &args));
}
API int curl_msnprintf(char *buffer, size_t size, const char *format, ...)
{
  FROM_CALL(int, format, warmwire_vsnprintf(buffer, size, format, &args));
}
API int curl_mvsprintf(char *buffer, const char *format, va_list ap)
{
  FROM_LIST(int, warmwire_vsprintf(buffer, format, &args));
}
API int curl_msprintf(char *buffer, const char *format, ...)
{
  FROM_CALL(int, format, warmwire_vsprintf(buffer, format, &args));
}
API int curl_mvfprintf(FILE *file, const char *format, va_list ap)
{
  FROM_LIST(int, warmwire_vfprintf(file, format, &args));
}
API int curl_mfprintf(FILE *file, const char *format, ...)
{
  FROM_CALL(int, format, warmwire_vfprintf(file, format, &args));
}
API int curl_mvprintf(const char *format, va_list ap)
{
  FROM_LIST(int, warmwire_vfprintf(stdout, format, &args));
}
API int curl_mprintf(const char *format, ...)
{
  FROM_CALL(int, format, warmwire_vfprintf(stdout, format, &args));
}
API char *curl_mvaprintf(const char *format, va_list ap)
{
  FROM_LIST(char *, warmwire_vaprintf(format, &args));
}
API char *curl_maprintf(const char *format, ...)
{
  FROM_CALL(char *, format, warmwire_vaprintf(format, &args));
}
API int curl_formadd(void **first, void **last, ...)
{
  FROM_CALL(int, last, warmwire_formadd(first, last, &args));
}

/* --- the end of the process ------------------------------------------------------------------------------ */

#ifndef _WIN32
/* Connections that the process leaves go to the broker of the user, if WARMWIRE_POOL asks for that. */
extern void warmwire_exits(void);
__attribute__((destructor)) static void exits(void)
{
  warmwire_exits();
}
#endif
