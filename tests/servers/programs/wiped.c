/* wiped OPTION SECRET [OPTION=VALUE]... URL
 * Fetches the URL with the secret as that option, cleans up, and counts the places of its memory that still have the secret.
 * SECRET comes as hexadecimal digits of its complement, so that nothing but the library has it in clear. */
#include <fcntl.h>
#include <unistd.h>

#include "facts.h"
#include "setting.h"

static unsigned char complement[128], piece[1 << 16];
static size_t length;

static size_t places_between(int memory, unsigned long from, unsigned long until) {
  size_t found = 0;
  while (from < until) {
    size_t wanted = until - from < sizeof(piece) ? until - from : sizeof(piece);
    ssize_t got = pread(memory, piece, wanted, (off_t)from);
    if (got < (ssize_t)length) break;
    for (size_t at = 0; at + length <= (size_t)got; at++) {
      size_t same = 0;
      while (same < length && piece[at + same] == (unsigned char)~complement[same]) same++;
      found += same == length;
    }
    from += (size_t)got - (length - 1);
  }
  return found;
}

/* All that is ours to write in, but for the piece that is looked at. */
static size_t places(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  int memory = open("/proc/self/mem", O_RDONLY);
  unsigned long from, until, own = (unsigned long)piece, behind = own + sizeof(piece);
  char line[512], writable;
  size_t found = 0;
  while (fgets(line, sizeof(line), maps)) {
    if (sscanf(line, "%lx-%lx %*c%c", &from, &until, &writable) != 3 || writable != 'w') continue;
    if (from <= own && behind <= until) {
      found += places_between(memory, from, own);
      from = behind;
    }
    found += places_between(memory, from, until);
  }
  fclose(maps);
  close(memory);
  return found;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  for (length = 0; argv[2][2 * length] && length < sizeof(complement); length++)
    sscanf(argv[2] + 2 * length, "%2hhx", &complement[length]);
  curl_global_init(CURL_GLOBAL_ALL);
  CURL *easy = curl_easy_init();
  struct sink sink = {0};
  char clear[sizeof(complement) + 1] = {0};
  for (size_t at = 0; at < length; at++) clear[at] = (char)~complement[at];
  curl_easy_setopt(easy, curl_easy_option_by_name(argv[1])->id, clear);
  size_t given = places();
  for (volatile char *at = clear; at < clear + sizeof(clear); at++) *at = 0;
  for (int at = 3; at + 1 < argc; at++) set(easy, argv[at]);
  curl_easy_setopt(easy, CURLOPT_URL, argv[argc - 1]);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sink_write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &sink);
  CURLcode code = curl_easy_perform(easy);
  size_t kept = places();
  curl_easy_cleanup(easy);
  curl_global_cleanup();
  printf("code=%d given=%zu kept=%zu left=%zu\n", (int)code, given, kept, places());
  return 0;
}
