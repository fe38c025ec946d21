/* page.c -- a web page of the fleet, by libmicrohttpd without threads: it is driven from our loop, like
   everything else. */

#include "page.h"

#include "game_page.h" /* made from page.html by the build */

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_SIZE       (256 * 1024)
#define CONNECTIONS_MAX 16u

struct page
{
    struct MHD_Daemon* daemon;
    const snapshot* shown;
    const history* past;
    uint32_t port;
    char json[JSON_SIZE];
};

/* What is served is ours alone: no scripts, pictures or frames from anywhere else. */
static const char* const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                                  "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

static enum MHD_Result answer(struct MHD_Connection* connection, unsigned status, const char* type, size_t size,
                              const char* bytes, enum MHD_ResponseMemoryMode mode)
{
    /* the library takes a pointer that is not const, and only reads through it in these modes */
    struct MHD_Response* response = MHD_create_response_from_buffer(size, (void*)(uintptr_t)bytes, mode);
    if (response == NULL) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result answer_text(struct MHD_Connection* connection, unsigned status, const char* words)
{
    return answer(connection, status, "text/plain", strlen(words), words, MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer_json(struct MHD_Connection* connection, const text* json)
{
    if (json->is_cut) return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "the answer is too large\n");
    return answer(connection, MHD_HTTP_OK, "application/json", json->size, json->bytes, MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result answer_board(page* p, struct MHD_Connection* connection)
{
    text t = text_in(p->json, sizeof p->json);
    snapshot_add_json(p->shown, &t);
    return answer_json(connection, &t);
}

static enum MHD_Result answer_history(page* p, struct MHD_Connection* connection)
{
    text t = text_in(p->json, sizeof p->json);
    history_add_json(p->past, &t);
    return answer_json(connection, &t);
}

/* A page from elsewhere must not reach us under another name that its owner lets point to 127.0.0.1. */
static bool is_for_us(const page* p, struct MHD_Connection* connection)
{
    char by_number[32];
    char by_name[32];
    const char* host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    snprintf(by_number, sizeof by_number, "127.0.0.1:%u", p->port);
    snprintf(by_name, sizeof by_name, "localhost:%u", p->port);
    return host != NULL && (strcmp(host, by_number) == 0 || strcmp(host, by_name) == 0);
}

static enum MHD_Result on_request(void* context, struct MHD_Connection* connection, const char* url, const char* method,
                                  const char* version, const char* upload, size_t* upload_size, void** state)
{
    page* p = context;
    (void)version, (void)upload, (void)upload_size, (void)state;
    if (!is_for_us(p, connection)) return answer_text(connection, MHD_HTTP_FORBIDDEN, "not for this host\n");
    if (strcmp(method, "GET") != 0) return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    if (strcmp(url, "/board.json") == 0) return answer_board(p, connection);
    if (strcmp(url, "/history.json") == 0) return answer_history(p, connection);
    if (strcmp(url, "/") == 0)
        return answer(connection, MHD_HTTP_OK, "text/html; charset=utf-8", sizeof game_page - 1, game_page,
                      MHD_RESPMEM_PERSISTENT);
    return answer_text(connection, MHD_HTTP_NOT_FOUND, "nothing here\n");
}

page* page_open(uint32_t port, const snapshot* shown, const history* past)
{
    page* p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p->port = port;
    p->shown = shown;
    p->past = past;
    p->daemon = MHD_start_daemon(MHD_USE_EPOLL, (uint16_t)port, NULL, NULL, on_request, p, MHD_OPTION_SOCK_ADDR,
                                 (struct sockaddr*)&loopback, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
                                 MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_END);
    if (p->daemon != NULL) return p;
    fprintf(stderr, "game_server: no page on port %u: %s\n", port, strerror(errno));
    free(p);
    return NULL;
}

void page_frame(page* p)
{
    if (p != NULL) MHD_run(p->daemon);
}

void page_close(page* p)
{
    if (p == NULL) return;
    MHD_stop_daemon(p->daemon);
    free(p);
}
