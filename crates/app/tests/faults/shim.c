/* Faults that no test could wait for, put between the program and the C library by LD_PRELOAD.
 *
 * FAULT_CALL  write, sync, rename, open or thread: what fails; only below FAULT_BELOW, but threads
 * FAULT_NTH   the first such call that does, from 1
 * FAULT_LAST  the last one that does; all that follow if it is not set
 * FAULT_ERRNO with which number
 * FAULT_HALF  whether half of what a failing write was given is written all the same
 * FAULT_COUNT file in which every such call is counted by a byte, to know how many there are
 * FAULT_ROOM  most bytes of a socket's buffer that the system grants
 *
 * A file "fault-clock" beside the library holds a 64-bit number, mapped: nanoseconds that the wall
 * clock is off by. Workers have no variable but the one that names the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static int below(const char *path)
{
    const char *prefix = getenv("FAULT_BELOW");
    return prefix && !strncmp(path, prefix, strlen(prefix));
}

static int is_below(int descriptor)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return below(path);
}

/* Whether this call of that name fails; errno is set then. */
static int fails(const char *call)
{
    static int calls;
    const char *which = getenv("FAULT_CALL"), *count = getenv("FAULT_COUNT");
    if (!which || strcmp(which, call))
        return 0;
    int now = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (count) {
        int counted = REAL(open)(count, O_WRONLY | O_APPEND | O_CREAT, 0600);
        if (counted >= 0) {
            REAL(write)(counted, ".", 1);
            close(counted);
        }
    }
    if (now < number("FAULT_NTH", INT32_MAX) || now > number("FAULT_LAST", INT32_MAX))
        return 0;
    errno = number("FAULT_ERRNO", EIO);
    return 1;
}

ssize_t write(int descriptor, const void *bytes, size_t length)
{
    if (is_below(descriptor) && fails("write")) {
        int error = errno;
        if (getenv("FAULT_HALF") && REAL(write)(descriptor, bytes, length / 2) < 0)
            return -1;
        errno = error;
        return -1;
    }
    return REAL(write)(descriptor, bytes, length);
}

int fsync(int descriptor)
{
    return is_below(descriptor) && fails("sync") ? -1 : REAL(fsync)(descriptor);
}

int fdatasync(int descriptor)
{
    return is_below(descriptor) && fails("sync") ? -1 : REAL(fdatasync)(descriptor);
}

int rename(const char *from, const char *to)
{
    return below(to) && fails("rename") ? -1 : REAL(rename)(from, to);
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return below(path) && fails("open") ? -1 : REAL(open64)(path, flags, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    return fails("thread") ? errno : REAL(pthread_create)(thread, attributes, start, argument);
}

int setsockopt(int socket, int level, int name, const void *value, socklen_t length)
{
    int room = number("FAULT_ROOM", INT32_MAX);
    int is_room = level == SOL_SOCKET && (name == SO_RCVBUF || name == SO_SNDBUF);
    if (is_room && length == sizeof room && *(const int *)value > room)
        value = &room;
    return REAL(setsockopt)(socket, level, name, value, length);
}

static volatile int64_t *clock_beside_library(void)
{
    char path[PATH_MAX];
    const char *library = getenv("LD_PRELOAD");
    const char *name = library ? strrchr(library, '/') : NULL;
    if (!name)
        return NULL;
    int length = name - library;
    if (snprintf(path, sizeof path, "%.*s/fault-clock", length, library) >= (int)sizeof path)
        return NULL;
    int file = REAL(open64)(path, O_RDONLY);
    if (file < 0)
        return NULL;
    void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? NULL : mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static volatile int64_t *offset;
    static int looked;
    /* Looked for once: the lock of the search would make readers of the clock wait for each other. */
    static __typeof__(&clock_gettime) real;
    if (!real)
        real = REAL(clock_gettime);
    int outcome = real(clock, time);
    if (outcome || clock != CLOCK_REALTIME)
        return outcome;
    if (!looked) {
        offset = clock_beside_library();
        looked = 1;
    }
    if (!offset)
        return outcome;
    int64_t now = time->tv_sec * 1000000000LL + time->tv_nsec + *offset;
    time->tv_nsec = (now % 1000000000 + 1000000000) % 1000000000;
    time->tv_sec = (now - time->tv_nsec) / 1000000000;
    return 0;
}
