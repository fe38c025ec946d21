#!/usr/bin/env bash
# check_api.sh -- build/generated/api.json, which bindings are generated from, has every function, struct and enum that
# the compiler sees in the headers, and says of a struct what is in it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

make_scratch
api=build/generated/api.json

# The headers as the compiler sees them, on one line.
preprocess() { cc -std=c11 -Isdk/include -E -P -x c sdk/include/guildhall/guildhall.h | tr '\n' ' ' > "$scratch/seen"; }

functions_seen() {
    grep -o -E '__attribute__\(\(visibility\("default"\)\)\)[^;(]*\(' "$scratch/seen" |
        sed -n -E 's/.*\)\)\).*[ *](gh_[a-z0-9_]+)\($/\1/p' | sort
}
types_seen() { grep -o -E "typedef $1 gh_[a-z0-9_]+ *\{" "$scratch/seen" | awk '{ print $3 }' | tr -d '{' | sort; }

# NAMES of a section of the list.
names() { python3 -c 'import json, sys
for one in sorted(one["name"] for one in json.load(open(sys.argv[1]))[sys.argv[2]]): print(one)' $api "$1"; }

says() { python3 -c 'import json, sys
found = [one for one in json.load(open(sys.argv[1]))[sys.argv[2]] if one["name"] == sys.argv[3]]
sys.exit(0 if found and eval(sys.argv[4], {"one": found[0]}) else str(found))' $api "$@"; }

same() { diff <("${@:2}") <(names "$1"); }
is_long() { [ "$(names "$1" | wc -l)" -ge "$2" ]; }

check 'the headers go through the compiler' preprocess
check 'every function is in the list' same functions functions_seen
check 'every struct is in the list' same structs types_seen struct
check 'every enum is in the list' same enums types_seen enum
check 'these are many functions' is_long functions 100
check 'these are many structs' is_long structs 60
check 'a function has its parameters' says functions gh_lock_begin \
    'one["returns"] == "gh_status" and one["parameters"][2] == "gh_str name" and len(one["parameters"]) == 4'
check 'a function without parameters has none' says functions gh_version 'one["parameters"] == []'
check 'a struct has its fields' says structs gh_str 'one["fields"] == ["const char* bytes", "size_t size"]'
check 'an enum has its values' says enums gh_link_name 'one["values"] == ["GH_LINK_COMMANDS = 0", "GH_LINK_WAKE = 1"]'
check 'a status has its value and its sentence' says statuses GH_INVALID_LEASE \
    'one["value"] == -4375 and one["text"] == "the lease is out of range"'
check 'a constant has its value' says constants GH_NAME_SIZE_MAX 'one["value"] == "64"'
check_summary
