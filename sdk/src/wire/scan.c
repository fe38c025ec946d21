/* scan.c -- walks over the values of a reply, and remembers how far it came. */

#include "wire/scan.h"

#include "wire/number.h"

#define SCAN_LINE_MAX   22u        /* bytes of a good number, and its line end                               */
#define SCAN_AROUND_MAX 23u        /* of a good value, bytes that do not count as text                       */
#define SCAN_COUNT_MAX  UINT32_MAX /* of values: more is not too large, but nonsense                         */
#define SCAN_DIGITS_MAX 19u        /* of an int64_t; they fit into a uint64_t                                */

size_t gh_scan_bytes_max(uint32_t text, uint32_t nodes)
{
    return (size_t)text + (size_t)nodes * SCAN_AROUND_MAX + SCAN_LINE_MAX + 1;
}

void gh_scan_begin(gh_scan* scan, uint32_t text, uint32_t nodes)
{
    memset(scan, 0, sizeof *scan);
    scan->text_left = text;
    scan->nodes_left = nodes - 1;
    scan->left[0] = 1;
}

/* The digits that these bytes begin with, as a number that stays as it is once it is beyond all bounds. */
static uint64_t scan_digits(const char* at, const char* end, uint32_t* count)
{
    const char* first = at;
    uint64_t number = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        if (at - first < (ptrdiff_t)SCAN_DIGITS_MAX) number = number * 10 + (uint64_t)(*at - '0');
    *count = (uint32_t)(at - first);
    return number;
}

/* "<number>\r\n", with a sign, with 19 digits, not all there, or with something wrong: that is told with the first byte
   that cannot be, so that it is the same however the bytes come. */
static gh_scanned scan_odd_number(const char* first, const char* end, int64_t* number, const char** behind)
{
    const bool negative = first < end && *first == '-';
    const char* at = negative ? first + 1 : first;
    uint32_t count;
    uint64_t digits = scan_digits(at, end, &count);
    if (count > 0 && *at == '0' && (count > 1 || negative)) return GH_SCAN_BROKEN;
    if (count > SCAN_DIGITS_MAX || digits > (uint64_t)INT64_MAX + (negative ? 1u : 0u)) return GH_SCAN_BROKEN;
    at += count;
    if (at == end) return GH_SCAN_MORE;
    if (count == 0 || at[0] != '\r') return GH_SCAN_BROKEN;
    if (at + 1 == end) return GH_SCAN_MORE;
    if (at[1] != '\n') return GH_SCAN_BROKEN;
    *number = !negative ? (int64_t)digits : -(int64_t)(digits - 1) - 1;
    *behind = at + 2;
    return GH_SCAN_WHOLE;
}

/* The line "<number>\r\n" behind the type's byte. WHOLE: *head is how many bytes that is, the type's too. */
static gh_scanned scan_number(const gh_scan* scan, const char* bytes, size_t size, int64_t* number, uint32_t* head)
{
    const char* first = bytes + scan->at + 1;
    const char* behind = gh_number_read(first, bytes + size, number);
    gh_scanned result = GH_SCAN_WHOLE;
    if (behind == NULL) result = scan_odd_number(first, bytes + size, number, &behind);
    if (result == GH_SCAN_WHOLE) *head = (uint32_t)(behind - first) + 1;
    return result;
}

/* A value of so many bytes is done with, and so are the arrays of which it was the last. */
static gh_scanned scan_take(gh_scan* scan, uint32_t size)
{
    scan->at += size;
    scan->left[scan->depth]--;
    while (scan->depth > 0 && scan->left[scan->depth] == 0) scan->depth--;
    return GH_SCAN_WHOLE;
}

static gh_scanned scan_array(gh_scan* scan, const char* bytes, size_t size)
{
    int64_t count;
    uint32_t head;
    gh_scanned result = scan_number(scan, bytes, size, &count, &head);
    if (result != GH_SCAN_WHOLE) return result;
    if (count < -1 || count > SCAN_COUNT_MAX) return GH_SCAN_BROKEN;
    if (count >= 0 && scan->depth == GH_SCAN_DEPTH_MAX) return GH_SCAN_BROKEN;
    if (count > (int64_t)scan->nodes_left) return GH_SCAN_TOO_LARGE;
    if (count >= 0 && scan->depth > 0) scan->nested = true;
    if (count <= 0) return scan_take(scan, head);
    scan->at += head;
    scan->nodes_left -= (uint32_t)count;
    scan->left[scan->depth]--;
    scan->left[++scan->depth] = (uint32_t)count;
    return GH_SCAN_WHOLE;
}

static gh_scanned scan_too_long(gh_scan* scan, uint64_t announced, uint32_t head)
{
    scan->long_size = announced;
    scan->long_head = head;
    return GH_SCAN_TOO_LONG;
}

static gh_scanned scan_string(gh_scan* scan, const char* bytes, size_t size)
{
    int64_t announced;
    uint32_t head;
    gh_scanned result = scan_number(scan, bytes, size, &announced, &head);
    if (result != GH_SCAN_WHOLE) return result;
    if (announced < -1) return GH_SCAN_BROKEN;
    if (announced == -1) return scan_take(scan, head);
    if ((uint64_t)announced >= scan->text_left) return scan_too_long(scan, (uint64_t)announced, head);
    if (size - scan->at < head + (size_t)announced + 2) return GH_SCAN_MORE;
    bytes += scan->at + head + (size_t)announced;
    if (bytes[0] != '\r' || bytes[1] != '\n') return GH_SCAN_BROKEN;
    scan->text_left -= (uint32_t)announced + 1;
    return scan_take(scan, head + (uint32_t)announced + 2);
}

static gh_scanned scan_integer(gh_scan* scan, const char* bytes, size_t size)
{
    int64_t number;
    uint32_t head;
    gh_scanned result = scan_number(scan, bytes, size, &number, &head);
    return result == GH_SCAN_WHOLE ? scan_take(scan, head) : result;
}

/* Of a status or an error. */
static gh_scanned scan_line(gh_scan* scan, const char* bytes, size_t size)
{
    const char* first = bytes + scan->at + 1;
    const char* from = scan->seen > scan->at ? bytes + scan->seen : first;
    const char* stop = bytes + size;
    const char* end = memchr(from, '\r', (size_t)(stop - from));
    const char* odd;
    size_t length;
    if (end != NULL) stop = end;
    odd = memchr(from, '\n', (size_t)(stop - from));
    if (odd != NULL) stop = odd;
    length = (size_t)(stop - first);
    if (length >= scan->text_left) return GH_SCAN_TOO_LARGE;
    if (odd != NULL) return GH_SCAN_BROKEN;
    scan->seen = (uint32_t)(stop - bytes);
    if (size - scan->seen < 2) return GH_SCAN_MORE;
    if (stop[1] != '\n') return GH_SCAN_BROKEN;
    scan->text_left -= (uint32_t)length + 1;
    return scan_take(scan, (uint32_t)length + 3);
}

/* A value, or the first line of an array. */
static gh_scanned scan_next(gh_scan* scan, const char* bytes, size_t size)
{
    switch (bytes[scan->at])
    {
    case ':': return scan_integer(scan, bytes, size);
    case '$': return scan_string(scan, bytes, size);
    case '*': return scan_array(scan, bytes, size);
    case '+':
    case '-': return scan_line(scan, bytes, size);
    default: return GH_SCAN_BROKEN;
    }
}

gh_scanned gh_scan_on(gh_scan* scan, const char* bytes, size_t size)
{
    while (scan->at < size)
    {
        gh_scanned result = scan_next(scan, bytes, size);
        if (result != GH_SCAN_WHOLE || scan->depth == 0) return result;
    }
    return GH_SCAN_MORE;
}
