/* command_scripts.c -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#include "client/script_text.h"

static const char command_text[] =
    "\377\300\377\241(\244\377r\270\n";
const gh_script_text gh_command_lua = {
    command_text, sizeof command_text - 1, 32,
    GH_SCRIPT_command, 0x0000000000000000ull};

static const char fenced_text[] =
    "\377(\203\367\377-\277\377_\206a\377Q\377l\221type\377<)\236\377\267\326a"
    "\377Qd\330b\226%S+ \377S([hrf]) \377\024[ \377\":*"
    "]*\324\307b\202\357(d\377\015a<17\377\015c<17\202\232a)<\377\225"
    "2\377\003\377\251\377\210\333\377\020c\377U\300\240e\335\377\265\204\221d\377\037h'\331\213"
    "\352\212\261\317\232c)\246e\377:e\255\332\377\220FENCED\377\210\333\377\020c"
    "\377U\377z\250h\377\206d wi\377\260\377\210\377zf\377yce\204\214\240\377\266"
    ",\377r={\244\377\266,2)},{\244\377r,2)\377P";
const gh_script_text gh_fenced_lua = {
    fenced_text, sizeof fenced_text - 1, 515,
    GH_SCRIPT_fenced, 0x0000000004000000ull};
