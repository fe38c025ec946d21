/* The web page of the sample fleet: what it serves, what it refuses, and what a browser makes of it. */

#include "support/fleet.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ANSWER_SIZE (1024 * 1024)

static char answer[ANSWER_SIZE];
static char port_text[8];

/* A port that nobody had a moment ago. */
static uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int probe = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(probe >= 0 && bind(probe, (struct sockaddr*)&address, size) == 0);
    assert_int_equal(getsockname(probe, (struct sockaddr*)&address, &size), 0);
    close(probe);
    return ntohs(address.sin_port);
}

static void start_with_page(void)
{
    prepare_fleet("20", "0");
    snprintf(port_text, sizeof port_text, "%u", free_port());
    program_argument(&fleet.program, "--page");
    program_argument(&fleet.program, port_text);
    program_argument(&fleet.program, "--guard");
    program_argument(&fleet.program, "coarse");
    start_fleet();
    FLEET_UNTIL(both_play());
}

/* The whole answer, headers and body; the server closes when it is complete. */
static const char* ask(const char* method, const char* path, const char* host)
{
    char request[256];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)atoi(port_text));
    int link = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(link, (struct sockaddr*)&address, sizeof address), 0);
    int size = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                        method, path, host);
    assert_int_equal(send(link, request, (size_t)size, 0), size);
    size_t got = 0;
    ssize_t piece = 0;
    while ((piece = recv(link, answer + got, sizeof answer - 1 - got, 0)) > 0) got += (size_t)piece;
    answer[got] = '\0';
    close(link);
    return answer;
}

static const char* ask_here(const char* method, const char* path)
{
    char host[32];
    snprintf(host, sizeof host, "127.0.0.1:%s", port_text);
    return ask(method, path, host);
}

static void expect_in_answer(const char* words)
{
    if (strstr(answer, words) == NULL) fail_msg("no '%s' in:\n%s", words, answer);
}

static void page_serves_itself_and_the_board_and_nothing_else(void** state)
{
    (void)state;
    start_with_page();
    ask_here("GET", "/");
    expect_in_answer("HTTP/1.1 200");
    expect_in_answer("Content-Security-Policy: default-src 'none'");
    expect_in_answer("<title>Guildhall fleet</title>");

    ask_here("GET", "/board.json");
    expect_in_answer("HTTP/1.1 200");
    expect_in_answer("application/json");
    expect_in_answer("\"name\":\"server-1\"");
    expect_in_answer("\"frames\":");

    static const char* const nothing[] = {"/board", "/../etc/passwd", "/%2e%2e/board.json", "/page.html",
                                          "//"};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
    {
        ask_here("GET", nothing[i]);
        expect_in_answer("HTTP/1.1 404");
    }
    ask_here("POST", "/board.json");
    expect_in_answer("HTTP/1.1 405");
    ask("GET", "/board.json", "elsewhere.example");
    expect_in_answer("HTTP/1.1 403");

    program_interrupt(&fleet.program);
    expect_good_end();
    expect_nothing_behind();
}

static const char* browser(void)
{
    static const char* const names[] = {"chromium", "chromium-browser", "google-chrome"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    {
        char look[64];
        snprintf(look, sizeof look, "command -v %s > /dev/null 2>&1", names[i]);
        if (system(look) == 0) return names[i];
    }
    return NULL;
}

/* What the browser has made of the page after some seconds of its own, virtual time. */
static void look_with_browser(const char* name)
{
    char command[512];
    snprintf(command, sizeof command,
             "%s --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=%s/browser "
             "--virtual-time-budget=4000 --dump-dom http://127.0.0.1:%s/ 2>/dev/null",
             name, fleet.folder, port_text);
    FILE* dom = popen(command, "r");
    assert_non_null(dom);
    size_t size = fread(answer, 1, sizeof answer - 1, dom);
    answer[size] = '\0';
    assert_int_equal(pclose(dom), 0);
}

static void browser_shows_processes_charts_and_checks(void** state)
{
    (void)state;
    const char* name = browser();
    if (name == NULL)
    {
        print_message("note: no browser: what it shows of the page is not tested\n");
        skip();
    }
    start_with_page();
    FLEET_UNTIL(strstr(ask_here("GET", "/board.json"), "\"country\":\"Borduria\"") != NULL);
    look_with_browser(name);
    /* as the browser has put it on the page: the page's own source has none of these */
    static const char* const words[] = {">server-1<",           ">server-2<",
                                        ">worker-1<",           ">ready<",
                                        "server-1: frame ",     "<polyline points=\"0,",
                                        ">server-1 log.lines<", " s</small>",
                                        ">Borduria<",          ">command<",
                                        "class=\"bar\""};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) expect_in_answer(words[i]);
    assert_null(strstr(answer, ">NaN<"));
    assert_null(strstr(answer, ">undefined<"));
    char folder[SCRATCH_PATH_SIZE + 16];
    snprintf(folder, sizeof folder, "%s/browser", fleet.folder);
    scratch_remove(folder);
    program_interrupt(&fleet.program);
    expect_good_end();
    expect_nothing_behind();
}

TEST_FILE(game_page, cmocka_unit_test(page_serves_itself_and_the_board_and_nothing_else),
          cmocka_unit_test(browser_shows_processes_charts_and_checks));
