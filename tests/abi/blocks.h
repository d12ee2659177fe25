/* The application's own functions for memory: they count the blocks that are out, and fail where the program says so. */
#include "check.h"

/* The n-th allocation from now fails, and all after it when `on`; none when that is 0. */
static long fails_at, seen, blocks;
static int on;

static void *given(void *block)
{
  blocks += block != NULL;
  return block;
}

static int fails(void)
{
  seen++;
  return fails_at && (seen == fails_at || (on && seen > fails_at));
}

static void *my_malloc(size_t size) { return fails() ? NULL : given(malloc(size)); }
static void *my_calloc(size_t count, size_t size) { return fails() ? NULL : given(calloc(count, size)); }
static char *my_strdup(const char *text) { return fails() ? NULL : (char *)given(strdup(text)); }
static void *my_realloc(void *block, size_t size) { return fails() ? NULL : block ? realloc(block, size) : given(malloc(size)); }

static void my_free(void *block)
{
  blocks -= block != NULL;
  free(block);
}
