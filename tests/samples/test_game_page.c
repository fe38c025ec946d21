/* The web page of the sample fleet: what it serves, what it refuses, and what a browser makes of it. */

#include "support/scene/fleet.h"
#include "support/scene/page.h"
#include "support/source_tree.h"

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
    int size = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", method,
                        path, host);
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

/* Of the first list of that name in the history; it ends at its bracket. */
static size_t points_of(const char* list)
{
    char name[32];
    size_t points = 1;
    snprintf(name, sizeof name, "\"%s\":[", list);
    const char* at = strstr(ask_here("GET", "/history.json"), name);
    if (at == NULL) return 0;
    for (at += strlen(name); *at != '\0' && *at != ']'; at++) points += *at == ',';
    return points;
}

static void expect_in_answer(const char* words)
{
    if (strstr(answer, words) == NULL) fail_msg("no '%s' in:\n%s", words, answer);
}

/* Of the first process on the board. */
static uint64_t number_behind(const char* words)
{
    const char* at = strstr(answer, words);
    assert_non_null(at);
    return strtoull(at + strlen(words), NULL, 10);
}

/* All of its frames are in one of the bars, but for those of the last moment, which are shown some frames later. */
static void expect_frames_in_bars(void)
{
    uint64_t in_bars = 0;
    unsigned bars = 0;
    const char* list = "\"frame_bars\":{\"from_ms\":10,\"counts\":";
    const char* at = strstr(answer, list);
    assert_non_null(at);
    at += strlen(list);
    for (char* end; *at != ']'; at = end, bars++) in_bars += strtoull(at + 1, &end, 10);
    assert_int_equal(bars, 18);
    assert_in_range(in_bars + 1 + 15, number_behind("\"frames\":"), number_behind("\"frames\":") + 1 + 15);
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

    expect_frames_in_bars();

    FLEET_UNTIL(points_of("frame_us") >= 2);
    expect_in_answer("HTTP/1.1 200");
    expect_in_answer("application/json");
    expect_in_answer("{\"points\":");
    expect_in_answer("{\"name\":\"server-2\",\"frame_us\":[");
    assert_true(points_of("tick_us") >= 2);
    FLEET_UNTIL(points_of("ops_each_s") >= 2 && strstr(answer, "{\"name\":\"lock\",") != NULL);

    static const char* const nothing[] = {"/board",     "/history", "/../etc/passwd", "/%2e%2e/board.json",
                                          "/page.html", "//"};
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

/* How many seconds the line of the first server's frames has. */
static size_t points_of_drawing(void)
{
    const char* end = strstr(answer, "stroke:var(--frame)");
    const char* at = end;
    size_t points = 1;
    assert_non_null(end);
    while (strncmp(at, "points=\"", 8) != 0) at--;
    for (; at < end; at++) points += *at == ' ' && at[1] != 's';
    return points;
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
    FLEET_UNTIL(points_of("frame_us") >= 10);
    look_with_browser(name); /* which looks at the page for 4 seconds, and sees what was before */
    /* as the browser has put it on the page: the page's own source has none of these */
    static const char* const words[] = {
        ">server-1<",           ">server-2<", ">worker-1<", ">ready<",   "server-1: frame ", "<polyline points=\"0,",
        ">server-1 log.lines<", " s</small>", ">Borduria<", ">command<", "class=\"bar\"",    "</div>16</div>"};
    assert_true(points_of_drawing() >= 8);
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

/* ---- README's pictures ---------------------------------------------------------------------------------- */

static void keep(const char* name, const char* text)
{
    char path[SCRATCH_PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", fleet.folder, name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* What the page answers, without the head of HTTP. */
static void keep_answer(const char* path)
{
    char* body = strstr(ask_here("GET", path), "\r\n\r\n");
    assert_non_null(body);
    keep(path + 1, body + 4);
}

/* The exit status of draw.py, from and to the folder of the fleet. */
static int draw(void)
{
    char script[SOURCE_TREE_PATH_SIZE];
    char command[SOURCE_TREE_PATH_SIZE + 2 * SCRATCH_PATH_SIZE + 64];
    assert_true(source_tree_path(script, "samples/pictures/draw.py"));
    snprintf(command, sizeof command, "python3 -B '%s' '%s' '%s' 2>&1", script, fleet.folder, fleet.folder);
    return system(command);
}

static void expect_in_picture(const char* name, const char* words)
{
    char path[SCRATCH_PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", fleet.folder, name);
    char* text = page_read_file(path);
    if (strstr(text, words) == NULL) fail_msg("%s has no '%s':\n%s", name, words, text);
    free(text);
}

static void pictures_are_drawn_from_what_the_page_tells(void** state)
{
    (void)state;
    if (system("python3 -c '' > /dev/null 2>&1") != 0)
    {
        print_message("note: no Python 3: the pictures are not tested\n");
        skip();
    }
    start_with_page();
    FLEET_UNTIL(points_of("frame_us") >= 3 && strstr(answer, "{\"name\":\"lock\",") != NULL);
    keep_answer("/history.json");
    keep_answer("/board.json");
    keep("screen.txt", "\033[H\033[1mGuildhall fleet\033[0m   starting, 0 s\033[K\r\r\n\033[J"
                       "\033[H\033[1mGuildhall fleet\033[0m   playing, 1 s\033[K\r\r\n\033[K\r\r\n"
                       "\033[1mserver-1\033[0m  3 < 4\033[K\r\r\n   0.5 s ago  server-1 says so\033[K\r\r\n\033[J"
                       "\033[H\033[1mGuildhall fleet\033[0m   playing, 900 s\033[K\r\r\n\033[J");
    assert_int_equal(draw(), 0);
    static const char* const of_page[] = {
        "<svg ", ">server-1: <tspan ", ">server-2: <tspan ", ">16</text>", ">lock</text>", " /s</text>", "</svg>\n"};
    for (size_t i = 0; i < sizeof of_page / sizeof of_page[0]; i++) expect_in_picture("page.svg", of_page[i]);
    expect_in_picture("view.svg", "playing, 1 s</text>");
    expect_in_picture("view.svg", "><tspan class=\"b\">server-1</tspan>  3 &lt; 4</text>\n</svg>");
    keep("screen.txt", "nothing");
    assert_int_not_equal(draw(), 0);
    program_interrupt(&fleet.program);
    expect_good_end();
    static const char* const made[] = {"history.json", "board.json", "screen.txt", "page.svg", "view.svg"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
    {
        char path[SCRATCH_PATH_SIZE + 32];
        snprintf(path, sizeof path, "%s/%s", fleet.folder, made[i]);
        assert_int_equal(remove(path), 0);
    }
    expect_nothing_behind();
}

TEST_FILE(game_page, cmocka_unit_test(page_serves_itself_and_the_board_and_nothing_else),
          cmocka_unit_test(browser_shows_processes_charts_and_checks),
          cmocka_unit_test(pictures_are_drawn_from_what_the_page_tells));
