/* system.h: made by `cargo xtask headers`; change crates/tables or xtask/headers instead. */
#ifndef CURLINC_SYSTEM_H
#define CURLINC_SYSTEM_H
/* The two types whose width depends on the system: file offsets are 64 bits everywhere. */

#if defined(_MSC_VER)
#define CURL_TYPEOF_CURL_OFF_T __int64
#define CURL_FORMAT_CURL_OFF_T "I64d"
#define CURL_FORMAT_CURL_OFF_TU "I64u"
#define CURL_SUFFIX_CURL_OFF_T i64
#define CURL_SUFFIX_CURL_OFF_TU ui64
#define CURL_TYPEOF_CURL_SOCKLEN_T int
#elif defined(_WIN32)
/* GCC's long long; msvcrt's printf knows it by these letters. */
#define CURL_TYPEOF_CURL_OFF_T long long
#define CURL_FORMAT_CURL_OFF_T "I64d"
#define CURL_FORMAT_CURL_OFF_TU "I64u"
#define CURL_SUFFIX_CURL_OFF_T LL
#define CURL_SUFFIX_CURL_OFF_TU ULL
#define CURL_TYPEOF_CURL_SOCKLEN_T int
#elif defined(__LP64__) || defined(_LP64)
#define CURL_TYPEOF_CURL_OFF_T long
#define CURL_FORMAT_CURL_OFF_T "ld"
#define CURL_FORMAT_CURL_OFF_TU "lu"
#define CURL_SUFFIX_CURL_OFF_T L
#define CURL_SUFFIX_CURL_OFF_TU UL
#define CURL_TYPEOF_CURL_SOCKLEN_T socklen_t
#define CURL_PULL_SYS_TYPES_H 1
#define CURL_PULL_SYS_SOCKET_H 1
#else
#define CURL_TYPEOF_CURL_OFF_T long long
#define CURL_FORMAT_CURL_OFF_T "lld"
#define CURL_FORMAT_CURL_OFF_TU "llu"
#define CURL_SUFFIX_CURL_OFF_T LL
#define CURL_SUFFIX_CURL_OFF_TU ULL
#define CURL_TYPEOF_CURL_SOCKLEN_T socklen_t
#define CURL_PULL_SYS_TYPES_H 1
#define CURL_PULL_SYS_SOCKET_H 1
#endif

#ifdef CURL_PULL_SYS_TYPES_H
#include <sys/types.h>
#endif
#ifdef CURL_PULL_SYS_SOCKET_H
#include <sys/socket.h>
#endif

typedef CURL_TYPEOF_CURL_OFF_T curl_off_t;
#ifdef CURL_TYPEOF_CURL_SOCKLEN_T
typedef CURL_TYPEOF_CURL_SOCKLEN_T curl_socklen_t;
#endif

/* Literals of type curl_off_t: CURL_OFF_T_C(5). */
#define CURLINC_OFF_T_C_HLPR2(value, suffix) value##suffix
#define CURLINC_OFF_T_C_HLPR1(value, suffix) CURLINC_OFF_T_C_HLPR2(value, suffix)
#define CURL_OFF_T_C(value) CURLINC_OFF_T_C_HLPR1(value, CURL_SUFFIX_CURL_OFF_T)
#define CURL_OFF_TU_C(value) CURLINC_OFF_T_C_HLPR1(value, CURL_SUFFIX_CURL_OFF_TU)

#endif
