#!/usr/bin/env bash
# check_scripts.sh -- the server's scripts get into the library as they are meant: made smaller, a Lua text does the
# same, and each script has the same byte code; and what C is told of a script is what its head says. check_scripts.lua
# has the cases.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

# An action of check_scripts.lua, whichever premake there is. premake 4.3 ends with 0 whatever an action says.
lua_check() {
    local output
    output=$("$(either premake5 premake4)" --file=tests/checks/check_scripts.lua "$1" 2>&1) &&
        ! grep -q -v -E "^(Building configurations|Running action '$1')\.\.\.$|^Done" <<< "$output" && return
    say "$output"
    return 1
}

generate() { run_premake gmake; }

check 'the scripts are made' generate
check 'small texts do the same' lua_check cases
check 'numbers stand for what is never anything else' lua_check constants
check 'functions are made where they are first wanted' lua_check functions
check 'locals of libraries stand where they are wanted' lua_check locals
check 'what is no Lua is refused' lua_check faults
check 'heads say what they seem to say, or are refused' lua_check heads
check 'every script has the same byte code' lua_check code
check_summary
