/* dns_sockets.c -- sockets for a c-ares before 1.33, which writes to them so that a name server that hangs up on TCP
   ends the whole process by SIGPIPE. Later ones see to it themselves, and this file is empty. */

#include "dns_inside.h"

#if ARES_VERSION < 0x012100

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#if !defined(MSG_NOSIGNAL)
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE is there */
#endif

/* What c-ares does to sockets of its own: they never block, and no child process has them. */
static bool configure(int socket)
{
#if defined(SO_NOSIGPIPE)
    int on = 1;
    if (setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on) != 0) return false;
#endif
    return fcntl(socket, F_SETFL, O_NONBLOCK) == 0 && fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

static ares_socket_t open_socket(int family, int type, int protocol, void* context)
{
    int made = socket(family, type, protocol);
    (void)context;
    if (made < 0 || configure(made)) return made;
    close(made);
    return ARES_SOCKET_BAD;
}

static int close_socket(ares_socket_t from, void* context)
{
    (void)context;
    return close(from);
}

static int connect_socket(ares_socket_t from, const struct sockaddr* to, ares_socklen_t size, void* context)
{
    (void)context;
    return connect(from, to, size);
}

static ares_ssize_t receive_from(ares_socket_t from, void* bytes, size_t size, int flags, struct sockaddr* peer,
                                 ares_socklen_t* peer_size, void* context)
{
    (void)context;
    return recvfrom(from, bytes, size, flags, peer, peer_size);
}

static ares_ssize_t send_pieces(ares_socket_t to, const struct iovec* pieces, int count, void* context)
{
    struct iovec copies[8];
    struct msghdr message;
    int i;
    (void)context;
    memset(&message, 0, sizeof message);
    for (i = 0; i < count && i < 8; i++) copies[i] = pieces[i]; /* the others go next time */
    message.msg_iov = copies;
    message.msg_iovlen = (size_t)i;
    return sendmsg(to, &message, MSG_NOSIGNAL);
}

void gh_dns_use_sockets(struct ares_channeldata* channel)
{
    static const struct ares_socket_functions functions = {open_socket, close_socket, connect_socket, receive_from,
                                                           send_pieces};
    ares_set_socket_functions(channel, &functions, NULL);
}

#else

void gh_dns_use_sockets(struct ares_channeldata* channel)
{
    (void)channel;
}

#endif
