/* fold.c -- capital letters to small ones, by ranges of Unicode and without a locale. */

#include "guildhall/fold.h"

/* Every step-th character from first on, up to span behind it, becomes another that is as far behind `becomes`. All of
   them in one plane of 65,536 characters, which is left out. */
typedef struct fold_range
{
    uint16_t first;
    uint16_t becomes;
    uint8_t span;
    uint8_t step;
} fold_range;

#define FOLD(first, last, step, delta) {(uint16_t)(first), (uint16_t)((first) + (delta)), (last) - (first), step}

/* CaseFolding.txt of Unicode 14, its lines C and S, beyond ASCII; neighbours that fold alike are one row. */
static const fold_range fold_ranges[] = {
    FOLD(0xb5, 0xb5, 1, 775),        FOLD(0xc0, 0xd6, 1, 32),         FOLD(0xd8, 0xde, 1, 32),
    FOLD(0x100, 0x12e, 2, 1),        FOLD(0x132, 0x136, 2, 1),        FOLD(0x139, 0x147, 2, 1),
    FOLD(0x14a, 0x176, 2, 1),        FOLD(0x178, 0x178, 1, -121),     FOLD(0x179, 0x17d, 2, 1),
    FOLD(0x17f, 0x17f, 1, -268),     FOLD(0x181, 0x181, 1, 210),      FOLD(0x182, 0x184, 2, 1),
    FOLD(0x186, 0x186, 1, 206),      FOLD(0x187, 0x187, 1, 1),        FOLD(0x189, 0x18a, 1, 205),
    FOLD(0x18b, 0x18b, 1, 1),        FOLD(0x18e, 0x18e, 1, 79),       FOLD(0x18f, 0x18f, 1, 202),
    FOLD(0x190, 0x190, 1, 203),      FOLD(0x191, 0x191, 1, 1),        FOLD(0x193, 0x193, 1, 205),
    FOLD(0x194, 0x194, 1, 207),      FOLD(0x196, 0x196, 1, 211),      FOLD(0x197, 0x197, 1, 209),
    FOLD(0x198, 0x198, 1, 1),        FOLD(0x19c, 0x19c, 1, 211),      FOLD(0x19d, 0x19d, 1, 213),
    FOLD(0x19f, 0x19f, 1, 214),      FOLD(0x1a0, 0x1a4, 2, 1),        FOLD(0x1a6, 0x1a6, 1, 218),
    FOLD(0x1a7, 0x1a7, 1, 1),        FOLD(0x1a9, 0x1a9, 1, 218),      FOLD(0x1ac, 0x1ac, 1, 1),
    FOLD(0x1ae, 0x1ae, 1, 218),      FOLD(0x1af, 0x1af, 1, 1),        FOLD(0x1b1, 0x1b2, 1, 217),
    FOLD(0x1b3, 0x1b5, 2, 1),        FOLD(0x1b7, 0x1b7, 1, 219),      FOLD(0x1b8, 0x1b8, 1, 1),
    FOLD(0x1bc, 0x1bc, 1, 1),        FOLD(0x1c4, 0x1c4, 1, 2),        FOLD(0x1c5, 0x1c5, 1, 1),
    FOLD(0x1c7, 0x1c7, 1, 2),        FOLD(0x1c8, 0x1c8, 1, 1),        FOLD(0x1ca, 0x1ca, 1, 2),
    FOLD(0x1cb, 0x1db, 2, 1),        FOLD(0x1de, 0x1ee, 2, 1),        FOLD(0x1f1, 0x1f1, 1, 2),
    FOLD(0x1f2, 0x1f4, 2, 1),        FOLD(0x1f6, 0x1f6, 1, -97),      FOLD(0x1f7, 0x1f7, 1, -56),
    FOLD(0x1f8, 0x21e, 2, 1),        FOLD(0x220, 0x220, 1, -130),     FOLD(0x222, 0x232, 2, 1),
    FOLD(0x23a, 0x23a, 1, 10795),    FOLD(0x23b, 0x23b, 1, 1),        FOLD(0x23d, 0x23d, 1, -163),
    FOLD(0x23e, 0x23e, 1, 10792),    FOLD(0x241, 0x241, 1, 1),        FOLD(0x243, 0x243, 1, -195),
    FOLD(0x244, 0x244, 1, 69),       FOLD(0x245, 0x245, 1, 71),       FOLD(0x246, 0x24e, 2, 1),
    FOLD(0x345, 0x345, 1, 116),      FOLD(0x370, 0x372, 2, 1),        FOLD(0x376, 0x376, 1, 1),
    FOLD(0x37f, 0x37f, 1, 116),      FOLD(0x386, 0x386, 1, 38),       FOLD(0x388, 0x38a, 1, 37),
    FOLD(0x38c, 0x38c, 1, 64),       FOLD(0x38e, 0x38f, 1, 63),       FOLD(0x391, 0x3a1, 1, 32),
    FOLD(0x3a3, 0x3ab, 1, 32),       FOLD(0x3c2, 0x3c2, 1, 1),        FOLD(0x3cf, 0x3cf, 1, 8),
    FOLD(0x3d0, 0x3d0, 1, -30),      FOLD(0x3d1, 0x3d1, 1, -25),      FOLD(0x3d5, 0x3d5, 1, -15),
    FOLD(0x3d6, 0x3d6, 1, -22),      FOLD(0x3d8, 0x3ee, 2, 1),        FOLD(0x3f0, 0x3f0, 1, -54),
    FOLD(0x3f1, 0x3f1, 1, -48),      FOLD(0x3f4, 0x3f4, 1, -60),      FOLD(0x3f5, 0x3f5, 1, -64),
    FOLD(0x3f7, 0x3f7, 1, 1),        FOLD(0x3f9, 0x3f9, 1, -7),       FOLD(0x3fa, 0x3fa, 1, 1),
    FOLD(0x3fd, 0x3ff, 1, -130),     FOLD(0x400, 0x40f, 1, 80),       FOLD(0x410, 0x42f, 1, 32),
    FOLD(0x460, 0x480, 2, 1),        FOLD(0x48a, 0x4be, 2, 1),        FOLD(0x4c0, 0x4c0, 1, 15),
    FOLD(0x4c1, 0x4cd, 2, 1),        FOLD(0x4d0, 0x52e, 2, 1),        FOLD(0x531, 0x556, 1, 48),
    FOLD(0x10a0, 0x10c5, 1, 7264),   FOLD(0x10c7, 0x10c7, 1, 7264),   FOLD(0x10cd, 0x10cd, 1, 7264),
    FOLD(0x13f8, 0x13fd, 1, -8),     FOLD(0x1c80, 0x1c80, 1, -6222),  FOLD(0x1c81, 0x1c81, 1, -6221),
    FOLD(0x1c82, 0x1c82, 1, -6212),  FOLD(0x1c83, 0x1c84, 1, -6210),  FOLD(0x1c85, 0x1c85, 1, -6211),
    FOLD(0x1c86, 0x1c86, 1, -6204),  FOLD(0x1c87, 0x1c87, 1, -6180),  FOLD(0x1c88, 0x1c88, 1, 35267),
    FOLD(0x1c90, 0x1cba, 1, -3008),  FOLD(0x1cbd, 0x1cbf, 1, -3008),  FOLD(0x1e00, 0x1e94, 2, 1),
    FOLD(0x1e9b, 0x1e9b, 1, -58),    FOLD(0x1e9e, 0x1e9e, 1, -7615),  FOLD(0x1ea0, 0x1efe, 2, 1),
    FOLD(0x1f08, 0x1f0f, 1, -8),     FOLD(0x1f18, 0x1f1d, 1, -8),     FOLD(0x1f28, 0x1f2f, 1, -8),
    FOLD(0x1f38, 0x1f3f, 1, -8),     FOLD(0x1f48, 0x1f4d, 1, -8),     FOLD(0x1f59, 0x1f5f, 2, -8),
    FOLD(0x1f68, 0x1f6f, 1, -8),     FOLD(0x1f88, 0x1f8f, 1, -8),     FOLD(0x1f98, 0x1f9f, 1, -8),
    FOLD(0x1fa8, 0x1faf, 1, -8),     FOLD(0x1fb8, 0x1fb9, 1, -8),     FOLD(0x1fba, 0x1fbb, 1, -74),
    FOLD(0x1fbc, 0x1fbc, 1, -9),     FOLD(0x1fbe, 0x1fbe, 1, -7173),  FOLD(0x1fc8, 0x1fcb, 1, -86),
    FOLD(0x1fcc, 0x1fcc, 1, -9),     FOLD(0x1fd8, 0x1fd9, 1, -8),     FOLD(0x1fda, 0x1fdb, 1, -100),
    FOLD(0x1fe8, 0x1fe9, 1, -8),     FOLD(0x1fea, 0x1feb, 1, -112),   FOLD(0x1fec, 0x1fec, 1, -7),
    FOLD(0x1ff8, 0x1ff9, 1, -128),   FOLD(0x1ffa, 0x1ffb, 1, -126),   FOLD(0x1ffc, 0x1ffc, 1, -9),
    FOLD(0x2126, 0x2126, 1, -7517),  FOLD(0x212a, 0x212a, 1, -8383),  FOLD(0x212b, 0x212b, 1, -8262),
    FOLD(0x2132, 0x2132, 1, 28),     FOLD(0x2160, 0x216f, 1, 16),     FOLD(0x2183, 0x2183, 1, 1),
    FOLD(0x24b6, 0x24cf, 1, 26),     FOLD(0x2c00, 0x2c2f, 1, 48),     FOLD(0x2c60, 0x2c60, 1, 1),
    FOLD(0x2c62, 0x2c62, 1, -10743), FOLD(0x2c63, 0x2c63, 1, -3814),  FOLD(0x2c64, 0x2c64, 1, -10727),
    FOLD(0x2c67, 0x2c6b, 2, 1),      FOLD(0x2c6d, 0x2c6d, 1, -10780), FOLD(0x2c6e, 0x2c6e, 1, -10749),
    FOLD(0x2c6f, 0x2c6f, 1, -10783), FOLD(0x2c70, 0x2c70, 1, -10782), FOLD(0x2c72, 0x2c72, 1, 1),
    FOLD(0x2c75, 0x2c75, 1, 1),      FOLD(0x2c7e, 0x2c7f, 1, -10815), FOLD(0x2c80, 0x2ce2, 2, 1),
    FOLD(0x2ceb, 0x2ced, 2, 1),      FOLD(0x2cf2, 0x2cf2, 1, 1),      FOLD(0xa640, 0xa66c, 2, 1),
    FOLD(0xa680, 0xa69a, 2, 1),      FOLD(0xa722, 0xa72e, 2, 1),      FOLD(0xa732, 0xa76e, 2, 1),
    FOLD(0xa779, 0xa77b, 2, 1),      FOLD(0xa77d, 0xa77d, 1, -35332), FOLD(0xa77e, 0xa786, 2, 1),
    FOLD(0xa78b, 0xa78b, 1, 1),      FOLD(0xa78d, 0xa78d, 1, -42280), FOLD(0xa790, 0xa792, 2, 1),
    FOLD(0xa796, 0xa7a8, 2, 1),      FOLD(0xa7aa, 0xa7aa, 1, -42308), FOLD(0xa7ab, 0xa7ab, 1, -42319),
    FOLD(0xa7ac, 0xa7ac, 1, -42315), FOLD(0xa7ad, 0xa7ad, 1, -42305), FOLD(0xa7ae, 0xa7ae, 1, -42308),
    FOLD(0xa7b0, 0xa7b0, 1, -42258), FOLD(0xa7b1, 0xa7b1, 1, -42282), FOLD(0xa7b2, 0xa7b2, 1, -42261),
    FOLD(0xa7b3, 0xa7b3, 1, 928),    FOLD(0xa7b4, 0xa7c2, 2, 1),      FOLD(0xa7c4, 0xa7c4, 1, -48),
    FOLD(0xa7c5, 0xa7c5, 1, -42307), FOLD(0xa7c6, 0xa7c6, 1, -35384), FOLD(0xa7c7, 0xa7c9, 2, 1),
    FOLD(0xa7d0, 0xa7d0, 1, 1),      FOLD(0xa7d6, 0xa7d8, 2, 1),      FOLD(0xa7f5, 0xa7f5, 1, 1),
    FOLD(0xab70, 0xabbf, 1, -38864), FOLD(0xff21, 0xff3a, 1, 32),
};

/* Those of plane 1. */
static const fold_range fold_ranges_of_1[] = {
    FOLD(0x10400, 0x10427, 1, 40), FOLD(0x104b0, 0x104d3, 1, 40), FOLD(0x10570, 0x1057a, 1, 39),
    FOLD(0x1057c, 0x1058a, 1, 39), FOLD(0x1058c, 0x10592, 1, 39), FOLD(0x10594, 0x10595, 1, 39),
    FOLD(0x10c80, 0x10cb2, 1, 64), FOLD(0x118a0, 0x118bf, 1, 32), FOLD(0x16e40, 0x16e5f, 1, 32),
    FOLD(0x1e900, 0x1e921, 1, 34),
};

/* The last row that begins at or before the character, or the first one. */
static const fold_range* fold_find(const fold_range* rows, size_t count, uint32_t character)
{
    while (count > 1)
    {
        const size_t half = count / 2;
        if (rows[half].first <= character)
        {
            rows += half;
            count -= half;
        }
        else
        {
            count = half;
        }
    }
    return rows;
}

static uint32_t fold_character(uint32_t character)
{
    const uint32_t plane = character >> 16;
    const uint32_t place = character & 0xffff;
    const fold_range* range = plane == 0
                                  ? fold_find(fold_ranges, sizeof fold_ranges / sizeof(fold_range), place)
                                  : fold_find(fold_ranges_of_1, sizeof fold_ranges_of_1 / sizeof(fold_range), place);
    const uint32_t behind = place - range->first; /* in front of it: very far behind */
    if (plane > 1 || behind > range->span || behind % range->step != 0) return character;
    return plane << 16 | (range->becomes + behind);
}

static char fold_letter(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

/* How many bytes the character has that begins there, 2..4; 0: it is ASCII, or not well-formed UTF-8. */
static size_t fold_decode(gh_str text, size_t at, uint32_t* character)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)text.bytes[at];
    size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    size_t i;
    if (lead < 0xc2 || lead > 0xf4 || text.size - at < size) return 0;
    *character = lead & (0x7fu >> size);
    for (i = 1; i < size; i++)
    {
        unsigned char byte = (unsigned char)text.bytes[at + i];
        if ((byte & 0xc0) != 0x80) return 0;
        *character = *character << 6 | (byte & 0x3fu);
    }
    if (*character >= 0xd800 && *character < 0xe000) return 0;
    return *character < least[size] || *character > 0x10ffff ? 0 : size;
}

static size_t fold_encode(uint32_t character, char* out)
{
    if (character < 0x80)
    {
        out[0] = (char)character;
        return 1;
    }
    if (character < 0x800)
    {
        out[0] = (char)(0xc0 | character >> 6);
        out[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000)
    {
        out[0] = (char)(0xe0 | character >> 12);
        out[1] = (char)(0x80 | (character >> 6 & 0x3f));
        out[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | character >> 18);
    out[1] = (char)(0x80 | (character >> 12 & 0x3f));
    out[2] = (char)(0x80 | (character >> 6 & 0x3f));
    out[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

size_t gh_fold_ascii(void* context, gh_str text, char* out)
{
    size_t i;
    (void)context;
    for (i = 0; i < text.size; i++) out[i] = fold_letter(text.bytes[i]);
    return text.size;
}

size_t gh_fold_utf8(void* context, gh_str text, char* out)
{
    size_t at = 0;
    size_t size = 0;
    (void)context;
    while (at < text.size)
    {
        uint32_t character = 0;
        size_t taken = fold_decode(text, at, &character);
        if (taken == 0) out[size++] = fold_letter(text.bytes[at++]);
        else size += fold_encode(fold_character(character), out + size);
        at += taken;
    }
    return size;
}

size_t gh_fold_apply(gh_fold fold, void* context, gh_str text, char* out)
{
    size_t size = fold == NULL ? GH_FOLDED_SIZE_MAX + 1 : fold(context, text, out);
    if (size <= GH_FOLDED_SIZE_MAX) return size;
    if (text.size > 0) memcpy(out, text.bytes, text.size);
    return text.size;
}
