/* kernel_time.c -- how much CPU the process spent in send, receive and poll.

   getrusage tells user from system time by sampling 100 to 1000 times a second: too coarse for a client that
   needs a tenth of a core for a second or two. So the few calls through which Guildhall's platform and hiredis
   reach the kernel go through here, by the linker's --wrap, and the thread's CPU time is taken around each.
   All the rest of the process' CPU time is the client's own. Reading that clock is itself a call into the
   kernel; what it costs outside of the timed span is measured once and taken off again. */

#include "harness/bench.h"

#include <poll.h>

#if defined(__linux__)

#include <sys/types.h>

/* The linker gives the first four their meaning, and calls the others. */
ssize_t __real_read(int descriptor, void* bytes, size_t size);
ssize_t __real_write(int descriptor, const void* bytes, size_t size);
ssize_t __real_recv(int descriptor, void* bytes, size_t size, int flags);
ssize_t __real_send(int descriptor, const void* bytes, size_t size, int flags);
ssize_t __wrap_read(int descriptor, void* bytes, size_t size);
ssize_t __wrap_write(int descriptor, const void* bytes, size_t size);
ssize_t __wrap_recv(int descriptor, void* bytes, size_t size, int flags);
ssize_t __wrap_send(int descriptor, const void* bytes, size_t size, int flags);

enum
{
    CALIBRATION_CALLS = 2000
};

static bool watching;
static bench_kernel_time total;
static double overhead_ns; /* of watching one call, outside of its span */

static uint64_t begin(void)
{
    return watching ? bench_thread_cpu_ns() : 0;
}

static void end(uint64_t begun_ns)
{
    if (watching)
    {
        total.inside_ns += bench_thread_cpu_ns() - begun_ns;
        total.calls++;
    }
}

ssize_t __wrap_read(int descriptor, void* bytes, size_t size)
{
    uint64_t begun_ns = begin();
    ssize_t result = __real_read(descriptor, bytes, size);
    end(begun_ns);
    return result;
}

ssize_t __wrap_write(int descriptor, const void* bytes, size_t size)
{
    uint64_t begun_ns = begin();
    ssize_t result = __real_write(descriptor, bytes, size);
    end(begun_ns);
    return result;
}

ssize_t __wrap_recv(int descriptor, void* bytes, size_t size, int flags)
{
    uint64_t begun_ns = begin();
    ssize_t result = __real_recv(descriptor, bytes, size, flags);
    end(begun_ns);
    return result;
}

ssize_t __wrap_send(int descriptor, const void* bytes, size_t size, int flags)
{
    uint64_t begun_ns = begin();
    ssize_t result = __real_send(descriptor, bytes, size, flags);
    end(begun_ns);
    return result;
}

int bench_poll(struct pollfd* descriptors, size_t count, int timeout_ms)
{
    uint64_t begun_ns = begin();
    int result = poll(descriptors, (nfds_t)count, timeout_ms);
    end(begun_ns);
    return result;
}

static void calibrate(void)
{
    uint64_t inside_begun_ns = total.inside_ns;
    uint64_t begun_ns = bench_thread_cpu_ns();
    for (int i = 0; i < CALIBRATION_CALLS; i++)
    {
        (void)bench_poll(NULL, 0, 0);
    }
    uint64_t cpu_ns = bench_thread_cpu_ns() - begun_ns;
    overhead_ns = (double)(cpu_ns - (total.inside_ns - inside_begun_ns)) / CALIBRATION_CALLS;
}

void bench_kernel_time_watch(bool on)
{
    watching = on;
    if (on && overhead_ns == 0.0)
    {
        calibrate();
    }
}

bench_kernel_time bench_kernel_time_read(void)
{
    bench_kernel_time time = total;
    time.overhead_ns = (uint64_t)((double)total.calls * overhead_ns);
    return time;
}

#else

int bench_poll(struct pollfd* descriptors, size_t count, int timeout_ms)
{
    return poll(descriptors, (nfds_t)count, timeout_ms);
}

void bench_kernel_time_watch(bool on)
{
    (void)on;
}

bench_kernel_time bench_kernel_time_read(void)
{
    bench_kernel_time none = {0, 0, 0};
    return none;
}

#endif
