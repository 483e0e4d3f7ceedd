/* Preloaded, it makes the disk below FAULTY_DIR fail, shorten and delay writes, renames and syncs while the file FAULTY_SWITCH is there:
   about one call in FAULTY_ONE_IN, by the seed FAULTY_SEED. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned seed;
static __thread char path[PATH_MAX];

static int below(const char *file) {
  const char *dir = getenv("FAULTY_DIR");
  return dir && strncmp(file, dir, strlen(dir)) == 0;
}
static int opened_below(int fd) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  return length > 0 && (path[length] = 0, below(path));
}
/* 0: it does what it should; 1: it fails; 2: it does half of it; 3: it takes its time. */
static int fault(int concerned) {
  const char *on = getenv("FAULTY_SWITCH"), *one_in = getenv("FAULTY_ONE_IN");
  if (!concerned || !on || !one_in || access(on, F_OK) != 0) return 0;
  if (!seed) seed = (unsigned)atoi(getenv("FAULTY_SEED")) + 1;
  if (rand_r(&seed) % atoi(one_in)) return 0;
  int what = 1 + rand_r(&seed) % 3;
  if (what == 3) usleep(20000);
  return what;
}
static int no_room(void) { errno = ENOSPC; return -1; }
#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define WRITE(name) \
  ssize_t name(int fd, const void *data, size_t n, off_t at) { \
    REAL(name); \
    int what = fault(opened_below(fd)); \
    return what == 1 ? no_room() : real(fd, data, what == 2 && n > 1 ? n / 2 : n, at); \
  }
#define WRITE_ALL(name) \
  ssize_t name(int fd, const struct iovec *parts, int n, off_t at) { \
    REAL(name); \
    return fault(opened_below(fd)) == 1 ? no_room() : real(fd, parts, n, at); \
  }
#define SYNC(name) \
  int name(int fd) { REAL(name); return fault(opened_below(fd)) == 1 ? no_room() : real(fd); }
WRITE(pwrite)
WRITE(pwrite64)
WRITE_ALL(pwritev)
WRITE_ALL(pwritev64)
SYNC(fsync)
SYNC(fdatasync)
ssize_t write(int fd, const void *data, size_t n) {
  REAL(write);
  int what = fault(opened_below(fd));
  return what == 1 ? no_room() : real(fd, data, what == 2 && n > 1 ? n / 2 : n);
}
int rename(const char *from, const char *to) {
  REAL(rename);
  return fault(below(to)) == 1 ? no_room() : real(from, to);
}
int ftruncate64(int fd, off_t length) {
  REAL(ftruncate64);
  return fault(opened_below(fd)) == 1 ? no_room() : real(fd, length);
}
