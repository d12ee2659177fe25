/* A write callback that is left by a jump to `out`, and the descriptors that the process has. */
#include <dirent.h>
#include <setjmp.h>

static jmp_buf out;

static size_t jump(char *data, size_t size, size_t count, void *user)
{
  (void)data, (void)size, (void)count, (void)user;
  longjmp(out, 1);
}

static int descriptors(void)
{
#ifdef _WIN32
  DWORD count = 0;
  GetProcessHandleCount(GetCurrentProcess(), &count);
  return (int)count;
#else
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while(readdir(folder))
    count++;
  closedir(folder);
  return count;
#endif
}
