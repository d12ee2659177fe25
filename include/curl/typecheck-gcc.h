/* typecheck-gcc.h: made by `cargo xtask headers`; change crates/tables or xtask/headers instead. */
#ifndef CURLINC_TYPECHECK_GCC_H
#define CURLINC_TYPECHECK_GCC_H
/* Kept for programs that include it by name. The variadic functions take exactly three arguments in C; passing
   more or fewer is an error that this header turns into one at compile time. */

#define curl_easy_setopt(handle, option, value) curl_easy_setopt(handle, option, value)
#define curl_easy_getinfo(handle, info, arg) curl_easy_getinfo(handle, info, arg)
#define curl_share_setopt(share, option, value) curl_share_setopt(share, option, value)
#define curl_multi_setopt(handle, option, value) curl_multi_setopt(handle, option, value)

#endif
