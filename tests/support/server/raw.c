/* raw.c -- a socket that sends and receives what the test says. */

#include "support/server/raw.h"

#include "support/cleanup.h"
#include "support/scratch.h"
#include "support/server/stream.h"
#include "support/suite.h"
#include "support/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void close_thing(void* thing)
{
    close((int)(intptr_t)thing);
}

/* Non-blocking, so that no test can hang in a read. */
static int take(int descriptor)
{
    stream_set_nonblocking(descriptor);
    cleanup_add(close_thing, (void*)(intptr_t)descriptor);
    return descriptor;
}

static bool is_ready(int descriptor, short events, int wait_ms)
{
    struct pollfd wanted = {descriptor, events, 0};
    return poll(&wanted, 1, wait_ms) > 0;
}

static void wait_until_ready(int descriptor, short events)
{
    uint64_t end_us = wait_cap_us();
    while (!is_ready(descriptor, events, 100))
    {
        if (wait_now_us() >= end_us) fail_msg("nothing happened on descriptor %d", descriptor);
    }
}

int raw_connect(const char* address)
{
    int descriptor = stream_connect(address);
    if (descriptor < 0) fail_msg("cannot connect to %s: %s", address, strerror(errno));
    return take(descriptor);
}

int raw_listen(bool tcp, char address[RAW_ADDRESS_SIZE])
{
    char folder[SCRATCH_PATH_SIZE];
    uint16_t port = 0;
    int listener = -1;
    if (tcp)
    {
        listener = stream_listen_tcp(false, &port);
        snprintf(address, RAW_ADDRESS_SIZE, "127.0.0.1:%u", port);
    }
    else
    {
        scratch_folder(folder);
        snprintf(address, RAW_ADDRESS_SIZE, "unix:%s/raw.sock", folder);
        listener = stream_listen_unix(address + strlen("unix:"));
    }
    if (listener < 0) fail_msg("cannot listen at %s: %s", address, strerror(errno));
    return take(listener);
}

int raw_accept(int listener)
{
    wait_until_ready(listener, POLLIN);
    int descriptor = accept(listener, NULL, NULL);
    if (descriptor < 0) fail_msg("cannot accept: %s", strerror(errno));
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return take(descriptor);
}

bool raw_has_caller(int listener)
{
    return is_ready(listener, POLLIN, 0);
}

void raw_close(int descriptor)
{
    cleanup_forget((void*)(intptr_t)descriptor);
    close(descriptor);
}

void raw_send(int descriptor, const void* bytes, size_t size)
{
    size_t sent = 0;
    while (sent < size)
    {
        wait_until_ready(descriptor, POLLOUT);
        ssize_t step = send(descriptor, (const char*)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (step < 0) fail_msg("sent %zu of %zu bytes: %s", sent, size, strerror(errno));
        sent += (size_t)step;
    }
}

void raw_say(int descriptor, const char* text)
{
    raw_send(descriptor, text, strlen(text));
}

/* The size, 0 at an ordinary end, -1 at a broken one. */
static ssize_t read_step(int descriptor, void* bytes, size_t capacity)
{
    wait_until_ready(descriptor, POLLIN);
    ssize_t size = recv(descriptor, bytes, capacity, 0);
    return size < 0 ? -1 : size;
}

size_t raw_read(int descriptor, void* bytes, size_t capacity)
{
    ssize_t size = read_step(descriptor, bytes, capacity);
    return size < 0 ? 0 : (size_t)size;
}

void raw_expect(int descriptor, const void* bytes, size_t size)
{
    char got[4096];
    size_t at = 0;
    while (at < size)
    {
        size_t want = size - at < sizeof(got) ? size - at : sizeof(got);
        size_t step = raw_read(descriptor, got, want);
        if (step == 0) fail_msg("it ended after %zu of %zu bytes", at, size);
        assert_memory_equal(got, (const char*)bytes + at, step);
        at += step;
    }
}

void raw_expect_text(int descriptor, const char* text)
{
    raw_expect(descriptor, text, strlen(text));
}

raw_end raw_expect_end(int descriptor)
{
    char byte;
    ssize_t size = read_step(descriptor, &byte, 1);
    if (size > 0) fail_msg("a byte 0x%02x came where the end was due", (unsigned)(unsigned char)byte);
    return size == 0 ? RAW_FIN : RAW_RESET;
}

bool raw_is_silent(int descriptor, uint64_t pause_us)
{
    return !is_ready(descriptor, POLLIN, (int)(pause_us / 1000));
}

size_t raw_move(int from, int to, const void* bytes, size_t size)
{
    char got[16384];
    size_t sent = 0, received = 0;
    uint64_t end_us = wait_cap_us();
    while (received < size)
    {
        struct pollfd wanted[2] = {{to, POLLIN, 0}, {from, POLLOUT, 0}};
        poll(wanted, sent < size ? 2 : 1, 100);
        ssize_t step = sent < size ? send(from, (const char*)bytes + sent, size - sent, MSG_NOSIGNAL) : 0;
        if (step > 0) sent += (size_t)step;
        else if (step < 0 && errno != EAGAIN) sent = size; /* broken: the rest is never sent */
        step = recv(to, got, sizeof(got), 0);
        if (step == 0 || (step < 0 && errno != EAGAIN)) break;
        if (step > 0)
        {
            assert_true(received + (size_t)step <= size);
            assert_memory_equal(got, (const char*)bytes + received, (size_t)step);
            received += (size_t)step;
        }
        if (wait_now_us() >= end_us) fail_msg("%zu of %zu bytes arrived, then nothing", received, size);
    }
    return received;
}
