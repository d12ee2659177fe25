/* A program with stacks of its own (swapcontext): a call from another stack inside a callback is nested all the same, wherever
 * that stack lies; a jump on such a stack leaves handles that can be used and freed.
 * covers: curl_easy_perform, curl_multi_perform, curl_easy_cleanup, curl_easy_recv */
#include "check.h"
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 1 << 20 };
static char stacks[3][STACK]; /* side by side, and below the thread's own */
static ucontext_t home, fibre[3];
static CURL *easy;
static CURLM *multi;
static int calls_inside, jumps;
static jmp_buf out;

static void start(int which, void (*what)(void), ucontext_t *then)
{
  getcontext(&fibre[which]);
  fibre[which].uc_stack.ss_sp = stacks[which];
  fibre[which].uc_stack.ss_size = STACK;
  fibre[which].uc_link = then;
  makecontext(&fibre[which], what, 0);
}

/* What is refused from inside. */
static void call_in(void)
{
  size_t n;
  char byte;
  long status = 0;
  if(multi) {
    int running;
    SAME(curl_multi_perform(multi, &running), CURLM_RECURSIVE_API_CALL);
    SAME(curl_multi_remove_handle(multi, easy), CURLM_RECURSIVE_API_CALL);
    SAME(curl_multi_cleanup(multi), CURLM_RECURSIVE_API_CALL);
  }
  SAME(curl_easy_perform(easy), CURLE_RECURSIVE_API_CALL);
  SAME(curl_easy_recv(easy, &byte, 1, &n), CURLE_RECURSIVE_API_CALL);
  curl_easy_cleanup(easy);
  curl_easy_reset(easy);
  SAME(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status), CURLE_OK);
  SAME(status, 200);
  calls_inside++;
}

static int caller, callee;

static void guest(void)
{
  call_in();
  swapcontext(&fibre[callee], &fibre[caller]);
}

/* On a fibre the callback goes to another fibre, or home. */
static size_t change_stack(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  call_in();
  if(callee == caller)
    swapcontext(&fibre[caller], &home);
  else {
    start(callee, guest, NULL);
    swapcontext(&fibre[caller], &fibre[callee]);
  }
  return size * count;
}

static void transfer(void)
{
  int running = 1;
  easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, change_stack);
  if(multi) {
    curl_multi_add_handle(multi, easy);
    while(curl_multi_perform(multi, &running), running)
      curl_multi_poll(multi, NULL, 0, 1000, NULL);
    curl_multi_remove_handle(multi, easy);
  }
  else
    SAME(curl_easy_perform(easy), CURLE_OK);
  curl_easy_cleanup(easy);
}

static size_t jump(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)size, (void)count, (void)user;
  jumps++;
  longjmp(out, 1);
}

/* Both sides of the jump are on the fibre; the handle is used again, there and at home. */
static void jumping(void)
{
  easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, jump);
  if(!setjmp(out))
    curl_easy_perform(easy);
  if(!setjmp(out))
    curl_easy_perform(easy);
  SAME(jumps, 2);
}

/* A transfer stands in its callback on a stack that is taken away, and a call comes from one right below it. */
static char *wide;
static CURL *stranded;

static size_t strand(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)user;
  swapcontext(&fibre[0], &home);
  return size * count;
}

static void stranding(void)
{
  stranded = curl_easy_init();
  curl_easy_setopt(stranded, CURLOPT_URL, server("/bytes/10"));
  curl_easy_setopt(stranded, CURLOPT_WRITEFUNCTION, strand);
  curl_easy_perform(stranded);
}

static void from_below(void)
{
  long status = 0;
  curl_easy_getinfo(stranded, CURLINFO_RESPONSE_CODE, &status);
  calls_inside++;
}

static void stack_taken_away(int unmap)
{
  int before = calls_inside;
  wide = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  start(0, stranding, &home);
  fibre[0].uc_stack.ss_sp = wide + STACK;
  makecontext(&fibre[0], stranding, 0);
  swapcontext(&home, &fibre[0]);
  SAME(unmap ? munmap(wide + STACK, STACK) : mprotect(wide + STACK, STACK, PROT_NONE), 0);
  start(1, from_below, &home);
  fibre[1].uc_stack.ss_sp = wide;
  makecontext(&fibre[1], from_below, 0);
  swapcontext(&home, &fibre[1]);
  SAME(calls_inside, before + 1);
}

int main(void)
{
  for(int with_multi = 0; with_multi < 2; with_multi++) {
    multi = with_multi ? curl_multi_init() : NULL;
    for(caller = 0; caller < 3; caller++)
      for(callee = 0; callee < 3; callee++) {
        int before = calls_inside;
        start(caller, transfer, &home);
        swapcontext(&home, &fibre[caller]);
        if(callee == caller) {
          call_in(); /* at home, above every fibre, while the transfer stands in its callback */
          swapcontext(&home, &fibre[caller]);
        }
        SAME(calls_inside, before + 2);
      }
    SAME(curl_multi_cleanup(multi), with_multi ? CURLM_OK : CURLM_BAD_HANDLE);
  }
  struct text body = {0};
  start(0, jumping, &home);
  swapcontext(&home, &fibre[0]);
  memset(stacks[0], 0, STACK);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  SAME(curl_easy_perform(easy), CURLE_OK);
  SAME(body.length, 10);
  free(body.at);
  curl_easy_cleanup(easy);
  stack_taken_away(1);
  stack_taken_away(0);
  return FAILURES;
}
