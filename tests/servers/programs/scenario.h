/* 78 transfers of many kinds for a multi handle that an event loop drives by socket_action: quick ones, late
 * ones, refused, cut off, timed out, named (looked up by a thread), one paused and resumed by the loop's timer, some
 * removed half way and added again with another URL, and new ones added when others end. The loop belongs to the
 * program that includes this; see loop_libevent.c and loop_libuv.c. */
#ifndef SCENARIO_H
#define SCENARIO_H
#include "facts.h"

enum { QUICK = 30, LATE = 40, REFUSED = 45, TIMED = 50, DRIPPED = 55, REMOVED = 60, NAMED = 65, CUT = 67, PAUSED = 68, FIRST = 68, ALL = 78 };

struct job {
  CURL *easy;
  struct sink sink;
  int code, times, pauses;
};

struct scene {
  CURLM *multi;
  const char *base, *named; /* the same server, by address and by name */
  struct job jobs[ALL];
  int added, ended, running;
  int watched; /* sockets the loop looks at; kept by the program */
  long timer_ms; /* the last value of the timer callback */
};

static struct scene scene;

static size_t job_write(char *data, size_t size, size_t count, void *user) {
  struct job *job = user;
  if (job - scene.jobs == PAUSED - 1 && job->sink.bytes > 1000 && !job->pauses) {
    job->pauses++;
    return CURL_WRITEFUNC_PAUSE;
  }
  return sink_write(data, size, count, &job->sink);
}

static void job_aim(struct job *job, const char *server, const char *path) {
  char url[256];
  snprintf(url, sizeof url, "%s%s", server, path);
  curl_easy_setopt(job->easy, CURLOPT_URL, url);
}

static void job_add(int i) {
  struct job *job = &scene.jobs[i];
  char path[64] = "";
  const char *server = scene.base;
  job->easy = curl_easy_init();
  job->code = -1;
  sink_reset(&job->sink);
  if (i < QUICK || i >= FIRST) snprintf(path, sizeof path, "/bytes/%d", 1000 + i);
  else if (i < LATE) snprintf(path, sizeof path, "/delay/%d/bytes/2000", (i - QUICK) * 20);
  else if (i < REFUSED) server = "http://127.0.0.1:1/";
  else if (i < TIMED) snprintf(path, sizeof path, "/delay/60000/bytes/1");
  else if (i < DRIPPED) snprintf(path, sizeof path, "/drip/500/5/bytes/5000");
  else if (i < REMOVED) snprintf(path, sizeof path, "/drip/10/50/bytes/100000");
  else if (i < NAMED) server = scene.named, snprintf(path, sizeof path, "/chunked/3000/%d", 7 + i);
  else if (i < CUT) snprintf(path, sizeof path, "/cut/100/bytes/5000");
  else snprintf(path, sizeof path, "/bytes/200000");
  job_aim(job, server, path);
  if (i >= REFUSED && i < TIMED) curl_easy_setopt(job->easy, CURLOPT_TIMEOUT_MS, 200L + i);
  curl_easy_setopt(job->easy, CURLOPT_WRITEFUNCTION, job_write);
  curl_easy_setopt(job->easy, CURLOPT_WRITEDATA, job);
  curl_easy_setopt(job->easy, CURLOPT_PRIVATE, job);
  scene.added++;
  must(curl_multi_add_handle(scene.multi, job->easy), "add");
}

/* A transfer ended; each of the first ten quick ones brings another. */
static void job_done(CURL *easy, CURLcode code) {
  struct job *job;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&job);
  job->code = code;
  job->times++;
  scene.ended++;
  must(curl_multi_remove_handle(scene.multi, easy), "remove");
  if (job - scene.jobs < ALL - FIRST) job_add(FIRST + (int)(job - scene.jobs));
}

static void scenario_open(const char *base, const char *named) {
  scene.base = base;
  scene.named = named;
  scene.timer_ms = -1;
}

static void scenario_start(void) {
  for (int i = 0; i < FIRST; i++) job_add(i);
}

/* To be called by a timer of the application's while the slow ones run, until it answers that all is done. */
static int scenario_interfere(void) {
  if (!scene.jobs[PAUSED - 1].pauses) return 0;
  curl_easy_pause(scene.jobs[PAUSED - 1].easy, CURLPAUSE_CONT);
  for (int i = DRIPPED; i < REMOVED; i++) {
    struct job *job = &scene.jobs[i];
    must(curl_multi_remove_handle(scene.multi, job->easy), "remove");
    sink_reset(&job->sink);
    job_aim(job, scene.base, "/bytes/777");
    must(curl_multi_add_handle(scene.multi, job->easy), "add again");
  }
  return 1;
}

static void scenario_act(curl_socket_t fd, int bits) {
  must(curl_multi_socket_action(scene.multi, fd, bits, &scene.running), "socket_action");
  take_messages(scene.multi, job_done);
}

static int scenario_over(void) { return scene.ended >= ALL; }

static void scenario_report(void) {
  for (int i = 0; i < ALL; i++) {
    struct job *job = &scene.jobs[i];
    if (job->times != 1) printf("job %d ended %d times\n", i, job->times);
    printf("code=%d bytes=%zu sum=%016llx\n", job->code, job->sink.bytes, (unsigned long long)job->sink.sum);
    curl_easy_cleanup(job->easy);
  }
  must(curl_multi_cleanup(scene.multi), "cleanup");
  printf("running=%d watched=%d\n", scene.running, scene.watched);
}
#endif
