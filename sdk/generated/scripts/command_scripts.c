/* command_scripts.c -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#include "client/script_text.h"

static const char command_text[] =
    "\377\277\377\242(\245\377o\265\n";
const gh_script_text gh_command_lua = {
    command_text, sizeof command_text - 1, 32,
    GH_SCRIPT_command, 0x0000000000000000ull};

static const char fenced_text[] =
    "\377'\203\372\377-\277\220\262\206a\377O\377j\222type\3779)\237\377\266\325a"
    "\377Od\330b\232%S+ \377W([hrf]) \377\032[ \377#:*"
    "]*\324\306b\201\365(d\377\017a<17\377\017c<17\201\233a)<\377\224"
    "2\377\002\377\251\377\207\333\377\031c\377a\300\243e\336\377\264\204\222d\377\034h'\331\213"
    "\355\212\262\315\233c)\250e\377Ae\231\335\377\223FENCED\377\207\333\377\031c"
    "\377a\377y\247h\377\205d wi\377\257\377\207\377yf\377xce\204\214\243\377\265"
    ",\377o={\245\377\265,2)},{\245\377o,2)\377R";
const gh_script_text gh_fenced_lua = {
    fenced_text, sizeof fenced_text - 1, 515,
    GH_SCRIPT_fenced, 0x0000000004000000ull};
