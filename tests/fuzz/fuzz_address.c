/* fuzz_address.c -- addresses of configs and of redirects, against what their headers say of each form.

   The models look at the text from the other side: they take it apart at the marks, and print what they have read, as
   there is one way to write a number. */

#include "fuzz.h"

#include "client/state.h"
#include "wire/redirect.h"

#include <stdio.h>

#define SIZE_MAX_TRIED 400u

/* ---- what both have ---------------------------------------------------------------------------------------------- */

/* least..most in its one form; -1: it is none. */
static long number_of(gh_str text, long least, long most)
{
    char copy[8], again[24];
    if (text.size == 0 || text.size >= sizeof(copy)) return -1;
    memcpy(copy, text.bytes, text.size);
    copy[text.size] = 0;
    const long number = strtol(copy, NULL, 10);
    const int size = snprintf(again, sizeof(again), "%ld", number);
    if ((size_t)size != text.size || memcmp(again, text.bytes, text.size) != 0) return -1;
    return number >= least && number <= most ? number : -1;
}

static bool all_of(gh_str text, const char* letters)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.bytes[i] == 0 || strchr(letters, text.bytes[i]) == NULL) return false;
    return true;
}

#define DIGITS  "0123456789"
#define HEX     DIGITS "abcdefABCDEF"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static size_t times(gh_str text, char letter)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) count += text.bytes[i] == letter;
    return count;
}

/* Splits at the last of these letters. False: there is none. */
static bool split_last(gh_str text, char letter, gh_str* before, gh_str* behind)
{
    for (size_t i = text.size; i-- > 0;)
    {
        if (text.bytes[i] != letter) continue;
        *before = gh_str_make(text.bytes, i);
        *behind = gh_str_make(text.bytes + i + 1, text.size - i - 1);
        return true;
    }
    return false;
}

static bool looks_like_ipv6(gh_str host)
{
    return all_of(host, HEX ":.") && times(host, ':') >= 2 && host.size <= 45;
}

/* ---- addresses of a config --------------------------------------------------------------------------------------- */

static bool looks_like_ipv4(gh_str host)
{
    gh_str rest = host, part;
    if (times(host, '.') != 3) return false;
    for (int i = 0; i < 4; i++)
    {
        size_t size = 0;
        while (size < rest.size && rest.bytes[size] != '.') size++;
        part = gh_str_make(rest.bytes, size);
        rest = size < rest.size ? gh_str_make(rest.bytes + size + 1, rest.size - size - 1) : gh_str_make(NULL, 0);
        if (number_of(part, 0, 255) < 0) return false;
    }
    return true;
}

static gh_status model_of_path(gh_str path)
{
    return path.size >= 1 && path.size <= 100 && times(path, 0) == 0 ? GH_OK : GH_INVALID_ADDRESS;
}

static gh_status model_of_address(gh_str text, gh_str* host, long* port)
{
    gh_str digits;
    *host = gh_str_make(NULL, 0);
    *port = 0;
    if (text.size > 5 && memcmp(text.bytes, "unix:", 5) == 0)
        return model_of_path(gh_str_make(text.bytes + 5, text.size - 5));
    if (!split_last(text, ':', host, &digits)) return GH_INVALID_ADDRESS;
    *port = number_of(digits, 1, 65535);
    if (*port < 0) return GH_INVALID_ADDRESS;
    if (host->size >= 2 && host->bytes[0] == '[' && host->bytes[host->size - 1] == ']')
    {
        *host = gh_str_make(host->bytes + 1, host->size - 2);
        return looks_like_ipv6(*host) ? GH_OK : GH_INVALID_ADDRESS;
    }
    if (looks_like_ipv4(*host)) return GH_OK;
    return host->size >= 1 && host->size <= 253 && all_of(*host, LETTERS DIGITS "-._") ? GH_PENDING
                                                                                       : GH_INVALID_ADDRESS;
}

static void try_address(gh_str text)
{
    gh_address address;
    gh_str host;
    long port;
    const gh_status status = gh_address_parse(text, &address);
    const gh_status expected = model_of_address(text, &host, &port);
    if (status != expected)
        FUZZ_FAIL("\"%.*s\" is %s, not %s", GH_STR_ARG(text), gh_status_name(status), gh_status_name(expected));
    if (status != GH_OK && status != GH_PENDING) return;
    FUZZ_MUST(address.name.size == 0);
    if (address.kind == GH_ADDRESS_UNIX)
    {
        FUZZ_MUST(address.path.bytes == text.bytes + 5 && address.path.size == text.size - 5);
        return;
    }
    FUZZ_MUST(address.port == port && gh_str_equal(address.host, host));
    FUZZ_MUST(address.host.bytes == host.bytes);
    FUZZ_MUST((address.kind == GH_ADDRESS_IPV6) == (times(address.host, ':') > 0));
}

/* A list gives its parts, one after the other, and nothing is lost between them but the commas. */
static void try_list(gh_str text)
{
    gh_str list = text;
    const char* at = text.bytes;
    size_t parts = 0;
    for (; list.size > 0; parts++)
    {
        const gh_str part = gh_address_next(&list);
        FUZZ_MUST(part.bytes == at && times(part, ',') == 0);
        try_address(part);
        at += part.size;
        FUZZ_MUST(at == text.bytes + text.size || *at == ',');
        if (at < text.bytes + text.size) at++;
        FUZZ_MUST(list.size == (size_t)(text.bytes + text.size - at));
    }
    const size_t last = text.size > 0 && text.bytes[text.size - 1] == ',' ? 1 : 0;
    FUZZ_MUST(at == text.bytes + text.size && (text.size == 0 || parts + last == times(text, ',') + 1));
}

/* ---- redirects --------------------------------------------------------------------------------------------------- */

static bool begins(gh_str* text, const char* word)
{
    const size_t size = strlen(word);
    if (text->size < size || memcmp(text->bytes, word, size) != 0) return false;
    *text = gh_str_make(text->bytes + size, text->size - size);
    return true;
}

static gh_endpoint model_of_endpoint(gh_str text)
{
    gh_endpoint made = {GH_ENDPOINT_BAD, {NULL, 0}, 0};
    gh_str host, digits;
    if (!split_last(text, ':', &host, &digits)) return made;
    const long port = number_of(digits, 0, 65535);
    if (port < 0) return made;
    if (host.size > 2 && host.bytes[0] == '[' && host.bytes[host.size - 1] == ']')
        host = gh_str_make(host.bytes + 1, host.size - 2);
    const bool unknown = gh_str_equal(host, gh_str_literal("?"));
    const bool is_name = host.size <= 253 && all_of(host, LETTERS DIGITS "-._");
    if (host.size > 0 && !unknown && !is_name && !looks_like_ipv6(host)) return made;
    made.kind = unknown || port == 0 ? GH_ENDPOINT_NOWHERE : host.size == 0 ? GH_ENDPOINT_ASKED : GH_ENDPOINT_GIVEN;
    if (made.kind != GH_ENDPOINT_NOWHERE) made.port = (uint16_t)port;
    if (made.kind == GH_ENDPOINT_GIVEN) made.host = host;
    return made;
}

static gh_redirect model_of_redirect(gh_str text)
{
    gh_redirect made = {GH_REDIRECT_NONE, 0, {GH_ENDPOINT_NOWHERE, {NULL, 0}, 0}};
    if (begins(&text, "MOVED ")) made.kind = GH_REDIRECT_MOVED;
    else if (begins(&text, "ASK ")) made.kind = GH_REDIRECT_ASK;
    else if (gh_str_equal(text, gh_str_literal("MOVED")) || gh_str_equal(text, gh_str_literal("ASK")))
        made.kind = GH_REDIRECT_BROKEN;
    if (made.kind == GH_REDIRECT_NONE || made.kind == GH_REDIRECT_BROKEN) return made;
    size_t digits = 0;
    while (digits < text.size && text.bytes[digits] != ' ') digits++;
    const long slot = number_of(gh_str_make(text.bytes, digits), 0, 16383);
    if (digits < text.size)
        made.endpoint = model_of_endpoint(gh_str_make(text.bytes + digits + 1, text.size - digits - 1));
    else made.endpoint.kind = GH_ENDPOINT_BAD;
    if (slot < 0 || made.endpoint.kind == GH_ENDPOINT_BAD) made.kind = GH_REDIRECT_BROKEN;
    else made.slot = (uint16_t)slot;
    return made;
}

static void try_redirect(gh_str text)
{
    const gh_redirect got = gh_redirect_parse(text);
    const gh_redirect expected = model_of_redirect(text);
    if (got.kind != expected.kind)
        FUZZ_FAIL("\"%.*s\" is redirect %d, not %d", GH_STR_ARG(text), (int)got.kind, (int)expected.kind);
    if (got.kind == GH_REDIRECT_NONE || got.kind == GH_REDIRECT_BROKEN) return;
    FUZZ_MUST(got.slot == expected.slot && got.endpoint.kind == expected.endpoint.kind);
    FUZZ_MUST(got.endpoint.port == expected.endpoint.port);
    FUZZ_MUST(gh_str_equal(got.endpoint.host, expected.endpoint.host));
    FUZZ_MUST(got.endpoint.host.size == 0 || got.endpoint.host.bytes == expected.endpoint.host.bytes);
}

/* What the parsers read is in memory of exactly its size. */
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_input input = fuzz_input_of(data, size < SIZE_MAX_TRIED ? size : SIZE_MAX_TRIED);
    const uint8_t which = fuzz_byte(&input);
    const gh_str rest = fuzz_rest(&input);
    char* copy = fuzz_exact(rest.bytes, rest.size);
    const gh_str text = gh_str_make(copy, rest.size);
    switch (which % 3)
    {
    case 0: try_address(text); break;
    case 1: try_list(text); break;
    default: try_redirect(text); break;
    }
    fuzz_unpoison(copy, 1);
    free(copy);
    return 0;
}
