/* command_scripts.c -- generated from the .lua files of sdk/src by premake5.lua; edit those. */
#include "client/script_text.h"

static const char command_text[] =
    "\?\346\215 SnC'\007";
const gh_script_text gh_command_lua = {
    command_text, 17, 32,
    GH_SCRIPT_command, 0x0000000000000000ull};

static const char fenced_text[] =
    "n&\202\347{=\336\355!0\015\340`\226n\001\260\335\036\037\206\006\323\000\200\026@'"
    "\236\002/\324\017.\007&\006\327\221BN\021-\324\306I\007\261\007\370\306@\241=\357\226"
    "O9\020\243\323q\020\0031:\241\376\n:\340k2\011\356\354\240=\324\234\020\016\354\372"
    "\000\035\364\360R\226\200=\006&\355j\231\255\336 X\020\240\305\000\273\000Uk\256kD"
    "\201L@A\356\240=\324\234\020\016\334X\246`\016\007($\010\371p\016\332Xp\336\001"
    "\001 \325E\037\005\3556\361\214S\037\005-\003\232\007\3158\345\3072\240\374";
const gh_script_text gh_fenced_lua = {
    fenced_text, 328, 515,
    GH_SCRIPT_fenced, 0x0000000004000000ull};
