/* net.c -- the engine's sockets, over those of POSIX. */

#include "net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum
{
    NET_CONNECTIONS = 16
};

static struct
{
    bool used;
    int descriptor;
} connections[NET_CONNECTIONS];

static int net_free_place(void)
{
    for (int i = 0; i < NET_CONNECTIONS; i++)
        if (!connections[i].used) return i;
    return NET_NONE;
}

static int net_connect(int family, const struct sockaddr* name, socklen_t size)
{
    int descriptor = socket(family, SOCK_STREAM, 0);
    if (descriptor < 0) return -1;
    if (fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        if (connect(descriptor, name, size) == 0 || errno == EINPROGRESS) return descriptor;
    close(descriptor);
    return -1;
}

int net_dial(const char* host, uint16_t port)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    int place = net_free_place();
    int descriptor = -1;
    if (place == NET_NONE) return NET_NONE;
    if (port == 0 && strlen(host) < sizeof(local.sun_path))
    {
        memcpy(local.sun_path, host, strlen(host) + 1);
        descriptor = net_connect(AF_UNIX, (struct sockaddr*)&local, sizeof(local));
    }
    else if (port != 0 && inet_pton(AF_INET, host, &ipv4.sin_addr) == 1)
    {
        descriptor = net_connect(AF_INET, (struct sockaddr*)&ipv4, sizeof(ipv4));
    }
    if (descriptor < 0) return NET_NONE;
    connections[place].used = true;
    connections[place].descriptor = descriptor;
    return place;
}

net_state net_look(int connection)
{
    struct pollfd waiting = {.fd = connections[connection].descriptor, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof(error);
    if (poll(&waiting, 1, 0) == 0) return NET_DIALING;
    if (getsockopt(waiting.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return NET_FAILED;
    return NET_OPEN;
}

static int net_moved(ssize_t count)
{
    if (count > 0) return (int)count;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

int net_write(int connection, const void* bytes, size_t size)
{
    return net_moved(send(connections[connection].descriptor, bytes, size, MSG_NOSIGNAL));
}

int net_read(int connection, void* bytes, size_t size)
{
    return net_moved(recv(connections[connection].descriptor, bytes, size, 0));
}

void net_hang_up(int connection)
{
    close(connections[connection].descriptor);
    connections[connection].used = false;
}

uint64_t engine_time_us(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

bool engine_random(void* bytes, size_t size)
{
    FILE* file = fopen("/dev/urandom", "rb");
    bool filled = file != NULL && fread(bytes, 1, size, file) == size;
    if (file != NULL) fclose(file);
    return filled;
}
