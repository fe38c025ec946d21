/* command_scripts.c -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#include "client/script_text.h"

static const char command_text[] =
    "\?\346\275`\015\334\344\204#";
const gh_script_text gh_command_lua = {
    command_text, 18, 32,
    GH_SCRIPT_command, 0x0000000000000000ull};

static const char fenced_text[] =
    "\236$\202\342\333=\332\355!0\023@>m\342v \227\355\361\22180\023\246\345\020G"
    "\236\025 \324\037.\n*\000\334\201B>\037,\324\246I\007\261\007\350\346\020\221=\335x"
    "O:\025\247\324Q\000SqJ\221\376\0168\345\313c\310\356\3570=\327l\0001n\236"
    "\010\322!\037 e\002\333#\240\322\276\220\333\257\015\265\010\000X\n\262\006R\260\344K\027"
    "4\306\2634\004\016\323s\315\006\020#\324H\266\240\016\001+$\006\371\200\016\323H\300\336"
    "\002\000\"\325e\037\010\324\344~\326\300\037\270\n\230\007\324\225\015\334\344\253\200\314";
const gh_script_text gh_fenced_lua = {
    fenced_text, 330, 515,
    GH_SCRIPT_fenced, 0x0000000004000000ull};
