/* aggregate_lines.c -- lines to counts, as fast as memory allows.

   A line of the common form is taken apart in one pass: an IPv4 address digit by digit, the day compared with
   that of the line before, the rest looked at as far as it must be. Whatever is not of that form goes the
   slow way, which decides. */

#include "aggregate_room.h"

#define LINE_TIME_SIZE 8u /* "13:55:36" */

static bool line_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint32_t line_pair(const char* at)
{
    return (uint32_t)(at[0] - '0') * 10 + (uint32_t)(at[1] - '0');
}

/* ---- days ---------------------------------------------------------------------------------------------- */

bool gh_aggregate_is_day(const char* text)
{
    static const uint8_t lengths[13] = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint32_t year;
    uint32_t month;
    uint32_t day;
    size_t i;
    for (i = 0; i < GH_AGGREGATE_DAY_SIZE; i++)
        if (i == 4 || i == 7 ? text[i] != '-' : !line_is_digit(text[i])) return false;
    year = line_pair(text) * 100 + line_pair(text + 2);
    month = line_pair(text + 5);
    day = line_pair(text + 8);
    if (year < 2000 || year > 2099 || month < 1 || month > 12 || day < 1 || day > lengths[month]) return false;
    return month != 2 || day < 29 || year % 4 == 0; /* 2000 is a leap year, and the only century in the range */
}

/* NULL: no day, or no room for one more. */
static aggregate_day* line_find_day(gh_aggregate* aggregate, const char* text, bool* is_day)
{
    uint32_t i;
    aggregate_day* day;
    *is_day = true;
    for (i = 0; i < aggregate->day_count; i++)
        if (memcmp(aggregate->days[i].text, text, GH_AGGREGATE_DAY_SIZE) == 0) return &aggregate->days[i];
    *is_day = gh_aggregate_is_day(text);
    if (!*is_day || aggregate->day_count == aggregate->config.days_capacity) return NULL;
    day = &aggregate->days[aggregate->day_count++];
    memset(day, 0, sizeof *day);
    memcpy(day->text, text, GH_AGGREGATE_DAY_SIZE);
    return day;
}

/* False: malformed. */
static bool line_enter_day(gh_aggregate* aggregate, const char* text)
{
    bool is_day;
    aggregate_day* day = line_find_day(aggregate, text, &is_day);
    if (day == NULL && is_day) aggregate->full = true;
    aggregate->last_day = day;
    if (day == NULL) return is_day;
    aggregate->last_counts = gh_aggregate_counts_of(aggregate, day);
    return true;
}

/* ---- one line ------------------------------------------------------------------------------------------ */

/* "a.b.c.d" and a blank or tab behind it, each part of 1 to 3 digits without a leading 0. NULL: it is not;
   else where it ends. Reads at most 16 bytes, which must be there. */
static const char* line_parse_ipv4(const char* at, uint32_t* address)
{
    uint32_t value = 0;
    int part;
    for (part = 0; part < 4; part++)
    {
        uint32_t number = (uint32_t)(unsigned char)*at++ - '0';
        uint32_t digit = (uint32_t)(unsigned char)*at - '0';
        if (number > 9) return NULL;
        if (digit <= 9)
        {
            if (number == 0) return NULL;
            number = number * 10 + digit;
            digit = (uint32_t)(unsigned char)*++at - '0';
            if (digit <= 9)
            {
                number = number * 10 + digit;
                at++;
            }
        }
        if (number > 255) return NULL;
        value = value << 8 | number;
        if (part < 3 && *at++ != '.') return NULL;
    }
    *address = value;
    return *at == ' ' || *at == '\t' ? at : NULL;
}

static bool line_is_time(const char* text)
{
    return line_is_digit(text[0]) && line_is_digit(text[1]) && text[2] == ':' && line_is_digit(text[3]) &&
           line_is_digit(text[4]) && text[5] == ':' && line_is_digit(text[6]) && line_is_digit(text[7]) &&
           line_pair(text) < 24 && line_pair(text + 3) < 60 && line_pair(text + 6) < 61; /* a leap second */
}

static void line_count(gh_aggregate* aggregate, uint32_t node)
{
    if (aggregate->last_day == NULL) return; /* of a day that there is no room for */
    if (aggregate->lines == UINT32_MAX)
    {
        aggregate->full = true;
        return;
    }
    aggregate->lines++;
    if (node < aggregate->nodes)
    {
        aggregate->last_counts[node]++;
        return;
    }
    aggregate->last_day->unknown++;
    aggregate->lines_unknown++;
}

/* " 2011-10-10 13:55:36 e" with single blanks: the common form, from behind the address on. */
static bool line_has_common_rest(gh_aggregate* aggregate, const char* at, const char* end)
{
    const char* day = at + 1;
    const char* time = day + GH_AGGREGATE_DAY_SIZE + 1;
    if (end - at < (ptrdiff_t)(1 + GH_AGGREGATE_DAY_SIZE + 1 + LINE_TIME_SIZE + 2)) return false;
    if (*at != ' ' || day[GH_AGGREGATE_DAY_SIZE] != ' ' || time[LINE_TIME_SIZE] != ' ') return false;
    if ((unsigned char)time[LINE_TIME_SIZE + 1] <= ' ' || !line_is_time(time)) return false;
    if (aggregate->last_day != NULL && memcmp(aggregate->last_day->text, day, GH_AGGREGATE_DAY_SIZE) == 0) return true;
    return line_enter_day(aggregate, day);
}

/* The next field between blanks and tabs; empty at the end. */
static gh_str line_field(const char** at, const char* end)
{
    const char* begin;
    while (*at < end && (**at == ' ' || **at == '\t')) (*at)++;
    begin = *at;
    while (*at < end && **at != ' ' && **at != '\t') (*at)++;
    return gh_str_make(begin, (size_t)(*at - begin));
}

/* Of the action that is counted. */
static bool line_is_wanted(const gh_aggregate* aggregate, gh_str event)
{
    gh_str action = gh_name_str(&aggregate->action);
    return event.size >= action.size && memcmp(event.bytes, action.bytes, action.size) == 0;
}

static bool line_count_slowly(gh_aggregate* aggregate, const char* at, const char* end)
{
    gh_str address_text = line_field(&at, end);
    gh_str day = line_field(&at, end);
    gh_str time = line_field(&at, end);
    gh_str event = line_field(&at, end);
    gh_geo_address address;
    if (event.size == 0 || day.size != GH_AGGREGATE_DAY_SIZE || time.size != LINE_TIME_SIZE ||
        !line_is_time(time.bytes))
        return false;
    if (gh_geo_parse(address_text, &address) != GH_OK) return false;
    if (!line_is_wanted(aggregate, event))
    {
        const bool is_day = gh_aggregate_is_day(day.bytes);
        if (is_day) aggregate->lines_other++;
        return is_day;
    }
    if (!line_enter_day(aggregate, day.bytes)) return false;
    line_count(aggregate, address.is_ipv6 ? gh_geo_find_ipv6(aggregate->table, address.high, address.low)
                                          : gh_geo_find_ipv4(aggregate->table, (uint32_t)address.low));
    return true;
}

static bool line_is_blank(const char* at, const char* end)
{
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at == end;
}

/* A line without its \n. */
static void line_take(gh_aggregate* aggregate, const char* at, const char* end)
{
    if (end > at && end[-1] == '\r') end--;
    if (end - at > GH_AGGREGATE_LINE_MAX || !line_count_slowly(aggregate, at, end))
    {
        if (!line_is_blank(at, end)) aggregate->lines_malformed++;
    }
}

/* ---- many lines ---------------------------------------------------------------------------------------- */

/* All whole lines of a text. Returns where the last one ends. */
static const char* line_take_all(gh_aggregate* aggregate, const char* at, const char* end)
{
    const gh_geo* table = aggregate->table;
    for (;;)
    {
        const char* line_end = (const char*)memchr(at, '\n', (size_t)(end - at));
        const char* rest;
        uint32_t address;
        if (line_end == NULL) return at;
        if (aggregate->action.size == 0 && line_end - at >= 16 && line_end - at <= GH_AGGREGATE_LINE_MAX &&
            (rest = line_parse_ipv4(at, &address)) != NULL && line_has_common_rest(aggregate, rest, line_end))
            line_count(aggregate, gh_geo_find_ipv4(table, address));
        else line_take(aggregate, at, line_end);
        at = line_end + 1;
        if (at == end) return at;
    }
}

/* The beginning of a line waits for its end; one that is too long is only counted. */
static void line_carry(gh_aggregate* aggregate, const char* at, size_t size)
{
    size_t left = sizeof aggregate->carry - aggregate->carry_size;
    if (aggregate->skipping) return;
    if (size > left)
    {
        aggregate->lines_malformed++;
        aggregate->skipping = true;
        aggregate->carry_size = 0;
        return;
    }
    memcpy(aggregate->carry + aggregate->carry_size, at, size);
    aggregate->carry_size += (uint32_t)size;
}

void gh_aggregate_end_lines(gh_aggregate* aggregate)
{
    if (aggregate->carry_size > 0) line_take(aggregate, aggregate->carry, aggregate->carry + aggregate->carry_size);
    aggregate->carry_size = 0;
    aggregate->skipping = false;
}

static gh_status aggregate_check_add(const gh_aggregate* aggregate, gh_str bytes)
{
    if (!gh_aggregate_is_one(aggregate) || aggregate->table == NULL || aggregate->flushed) return GH_INVALID_AGGREGATE;
    return bytes.bytes == NULL && bytes.size > 0 ? GH_INVALID_BUFFER : GH_OK;
}

gh_status gh_aggregate_add(gh_aggregate* aggregate, gh_str bytes)
{
    gh_status status = aggregate_check_add(aggregate, bytes);
    const char* at = bytes.bytes;
    const char* end;
    if (status != GH_OK || bytes.size == 0) return status;
    end = at + bytes.size;
    if (aggregate->carry_size > 0 || aggregate->skipping)
    {
        const char* line_end = (const char*)memchr(at, '\n', bytes.size);
        line_carry(aggregate, at, (size_t)((line_end == NULL ? end : line_end) - at));
        if (line_end == NULL) return aggregate->full ? GH_FULL : GH_OK;
        gh_aggregate_end_lines(aggregate);
        at = line_end + 1;
    }
    if (at < end) at = line_take_all(aggregate, at, end);
    if (at < end) line_carry(aggregate, at, (size_t)(end - at));
    return aggregate->full ? GH_FULL : GH_OK;
}

gh_status gh_aggregate_add_line(gh_aggregate* aggregate, gh_str line)
{
    gh_status status = aggregate_check_add(aggregate, line);
    if (status != GH_OK) return status;
    gh_aggregate_end_lines(aggregate);
    if (line.size > 0 && line.bytes[line.size - 1] == '\n') line.size--;
    if (line.size > 0) line_take(aggregate, line.bytes, line.bytes + line.size);
    return aggregate->full ? GH_FULL : GH_OK;
}
