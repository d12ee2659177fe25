/* stdcheaders.h: made by `cargo xtask headers`; change crates/tables or xtask/headers instead. */
#ifndef CURLINC_STDCHEADERS_H
#define CURLINC_STDCHEADERS_H
/* The functions of the C library that callbacks are made of; curl's own header of this name declares them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _MSC_VER
#include <strings.h>
#endif
#endif
