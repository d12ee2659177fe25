/* Which library serves this process. */
#include "facts.h"

int main(void) {
  puts(curl_version());
  return 0;
}
