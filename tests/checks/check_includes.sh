#!/usr/bin/env bash
# check_includes.sh -- includes point down only, and no sources call each other in a circle.
#
#     binding  ->  a system (sdk/src/<system>)  ->  talk  ->  client  ->  wire  ->  geo  ->  base
#
# and a platform sees platform.h. In the sample server and in the bench there is no circle.
#
# A public header belongs to the layer in public_layer; whatever is not named there is the header of a system, which has
# a folder of its name, or <system>_<part>.h, what not every user of that system needs. No system includes another.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/check.sh"

readonly base_layer=0 geo_layer=1 wire_layer=2 client_layer=3 talk_layer=4 system_layer=5 binding_layer=6

# "FILE NAME" for each include; NAME with its quotes or angle brackets.
includes_of() {
    local file
    for file in "$@"; do
        sed -n -E "s|^[[:space:]]*#[[:space:]]*include[[:space:]]*([<\"][^>\"]*[>\"]).*|$file \1|p" "$file"
    done
}

public_layer() {
    case $1 in
    guildhall/base.h | guildhall/status.h | guildhall/fold.h | guildhall/platform.h) echo $base_layer ;;
    guildhall/geo.h) echo $geo_layer ;; # aggregate looks addresses up in it
    guildhall/reply.h | guildhall/message.h) echo $wire_layer ;; # what was read, as plain values
    guildhall/op.h) echo $wire_layer ;; # a plain head; the client moves it
    guildhall/client.h | guildhall/command.h) echo $client_layer ;; # command.h has the fence that others take
    *) echo $system_layer ;;
    esac
}

layer_of_folder() {
    case $1 in
    base) echo $base_layer ;;
    geo) echo $geo_layer ;;
    wire) echo $wire_layer ;;
    client) echo $client_layer ;;
    binding) echo $binding_layer ;; # what is asked of all systems
    talk) echo $talk_layer ;; # what chat and mailbox share
    *) if [ -d "sdk/src/$1" ]; then echo $system_layer; else echo none; fi ;;
    esac
}

# The folder of what a file includes: "FOLDER" for a file of sdk/src, for one beside the file too.
folder_of_include() {
    case $2 in
    */*) echo "${2%%/*}" ;;
    *) basename "$(dirname "$1")" ;;
    esac
}

# The system that a public header belongs to.
system_of_header() {
    local name
    name=$(basename "$1" .h)
    if [ -d "sdk/src/$name" ]; then echo "$name"; else echo "${name%%_*}"; fi
}

upward_includes() {
    local file name inner own own_layer their their_layer
    while read -r file name; do
        if [ "${name:0:1}" != '"' ]; then continue; fi
        inner=${name:1:-1}
        own=$(basename "$(dirname "$file")")
        own_layer=$(layer_of_folder "$own")
        case $inner in
        guildhall/*)
            their=$(system_of_header "$inner")
            their_layer=$(public_layer "$inner")
            ;;
        gh_scripts.h) their='' their_layer=$client_layer ;;
        gh_structs.h) their='' their_layer=$binding_layer ;;
        scripts/*_scripts.h) # what the heads of a system's scripts say
            their=${inner#scripts/} their=${their%_scripts.h}
            their_layer=$(layer_of_folder "$their")
            ;;
        *)
            their=$(folder_of_include "$file" "$inner")
            their_layer=$(layer_of_folder "$their")
            ;;
        esac
        if [ "$their_layer" = none ]; then
            echo "$file includes $inner, which is in no layer: write it from sdk/src or sdk/include on"
        elif [ "$their_layer" -gt "$own_layer" ]; then
            echo "$file includes $inner, which is above it"
        elif [ "$own_layer" -eq $system_layer ] && [ "$their_layer" -eq $system_layer ] && [ "$their" != "$own" ]; then
            echo "$file includes $inner: no system includes another"
        fi
    done < <(includes_of sdk/src/*/*.[ch])
}

# A system is a folder with the name of its public header.
homeless() {
    local path name
    find sdk/src -maxdepth 1 -type f
    for path in sdk/src/*/; do
        name=$(basename "$path")
        if [ "$(layer_of_folder "$name")" -eq $system_layer ] && [ ! -f "sdk/include/guildhall/$name.h" ]; then
            echo "$path has no public header, so it is no system"
        fi
    done
}

# Only what every C11 compiler has; the two libraries are looked at below.
foreign_includes() {
    includes_of sdk/src/*/*.[ch] | grep ' <' |
        grep -v -E ' <std(arg|bool|def|int|align|noreturn)\.h>$' |
        grep -v -E ' <(assert|ctype|errno|float|inttypes|limits|math|string)\.h>$' |
        grep -v -E ' <(hiredis/[a-z]+|xxhash|zlib)\.h>$'
}

public_includes() {
    local file name inner own own_layer their_layer
    while read -r file name; do
        inner=${name:1:-1}
        own=$(system_of_header "$file")
        own_layer=$(public_layer "${file#sdk/include/}")
        their_layer=$(public_layer "$inner")
        case $file:$name in
        *:'<stdbool.h>' | *:'<stddef.h>' | *:'<stdint.h>' | *:'<string.h>') ;;
        sdk/include/guildhall/guildhall.h:'"guildhall/'*) ;; # it is there to include them all
        "sdk/include/guildhall/${own}_"*".h:\"guildhall/$own.h\"") ;; # a part of a system
        *:'"guildhall/'*)
            if [ "$their_layer" -gt "$own_layer" ] || [ "$their_layer" -eq $system_layer ]; then
                echo "$file includes $inner, which is above or beside it"
            fi
            ;;
        *) echo "$file includes $name" ;;
        esac
    done < <(includes_of sdk/include/guildhall/*.h)
}

umbrella_gaps() {
    local path umbrella=sdk/include/guildhall/guildhall.h
    for path in sdk/include/guildhall/*.h; do
        if [ "$path" = "$umbrella" ]; then continue; fi
        grep -q -F "#include \"guildhall/${path##*/}\"" "$umbrella" || echo "$path is not in guildhall.h"
    done
}

# Everything below an operating system's folder knows platform.h, and of the SDK nothing else.
platform_includes() {
    includes_of platform/*/*.[ch] | grep ' "' | grep -v -E ' "guildhall/(platform|base|resolver|tls|embedded)\.h"$' |
        grep -v -E '^platform/resolver/.* "dns_[a-z]+\.h"$' | grep -v -E '^platform/tls/.* "tls_[a-z]+\.h"$' |
        grep -v -E '^platform/embedded/.* "store(_[a-z]+)?\.h"$'
}

# Samples show what a game can do, so they use what a game has, and their own folder.
sample_includes() {
    local file name inner folder
    while read -r file name; do
        inner=${name:1:-1}
        folder=${file#samples/}
        folder=samples/${folder%%/*}
        if [ "${name:0:1}" != '"' ] || [ -f "${file%/*}/$inner" ] || [ -f "$folder/$inner" ]; then continue; fi
        case $file:$inner in
        *:guildhall/*.h) ;;
        samples/engine_drop_in/*:guildhall.h) ;; # the amalgamation
        samples/game_server/fleet/page.c:game_page.h) ;; # its page as a C string, made by premake5.lua
        *) echo "$file includes $inner" ;;
        esac
    done < <(includes_of $(find samples -name '*.[ch]'))
}

# Who reads the sample server or the bench goes down, and never in a circle: of its rooms, a source with the header of
# its name, none includes one that includes it, by whatever way. The same holds for folders.
include_circles() {
    local root=$1 file name inner path
    while read -r file name; do
        inner=${name:1:-1}
        path=${file%/*}/$inner
        if [ ! -f "$path" ]; then path=$root/$inner; fi
        if [ -f "$path" ]; then echo "${file%.*} ${path%.*} ${file%/*}/ ${path%/*}/"; fi
    done < <(includes_of $(find "$root" -name '*.[ch]')) | tsort 2>&1 > /dev/null
}

# "FROM TO" for each source that includes or calls another; a source and its header are one, without the ending.
source_arrows() {
    awk '
        FNR == 1 {
            in_comment = 0
            room = FILENAME
            sub(/\.[ch]$/, "", room)
        }
        pass == 1 && /^[a-z].*gh_[a-z0-9_]+\(/ && !/^static/ && match($0, /gh_[a-z0-9_]+\(/) {
            home[substr($0, RSTART, RLENGTH - 1)] = room
        }
        pass == 1 && /^const .* = / && match($0, /gh_[a-z0-9_]+ = /) { home[substr($0, RSTART, RLENGTH - 3)] = room }
        pass == 1 { next }
        /^#include "/ {
            path = $2
            gsub(/"|\.h"/, "", path)
            if (path ~ /\//) path = "sdk/src/" path
            else { folder = room; sub(/[^\/]*$/, "", folder); path = folder path }
            if (path != room && path !~ /guildhall\//) print room, path
            next
        }
        FILENAME ~ /\.h$/ { next }
        {
            line = $0
            if (in_comment && !sub(/^.*\*\//, "", line)) next
            gsub(/\/\*([^*]|\*[^\/])*\*\//, "", line)
            in_comment = sub(/\/\*.*$/, "", line)
            for (; match(line, /gh_[a-z0-9_]+/); line = substr(line, RSTART + RLENGTH)) {
                name = substr(line, RSTART, RLENGTH)
                if (name in home && home[name] != room) print room, home[name]
            }
        }' pass=1 sdk/src/*/*.c pass=2 sdk/src/*/*.[ch]
}

# Whoever is called calls none of those who call it, over however many others.
call_circles() { source_arrows | sort -u | tsort 2>&1 > /dev/null; }

# In exactly one file, and that in its layer.
seen_by_one() {
    local pattern=$1 layer=$2 files
    files=$(includes_of $(find sdk platform -name '*.[ch]') | grep -E "$pattern" | cut -d ' ' -f 1 | sort -u)
    case $files in
    *$'\n'*) echo "more than one file includes it: ${files//$'\n'/ }" ;;
    "sdk/src/$layer/"*) ;;
    *) echo "included by '$files', which is not in sdk/src/$layer" ;;
    esac
}

# The client may be gone as soon as no op is busy, and then an op has none: nothing else may keep it for longer. What
# ops are begun on does, as it stands for the client that its begins would be given.
kept_clients() {
    grep -n -E '^ +(struct )?gh_client ?\* ?[a-z_]+;' $(find sdk -name '*.h') |
        grep -v -E '^sdk/include/guildhall/op.h:[0-9]+:    gh_client\* client; +/\* NULL: the op is not busy' |
        grep -v -E '^sdk/include/guildhall/op.h:[0-9]+:    gh_client\* client; +/\* by which ops are begun on it' |
        grep -v -E '^sdk/src/client/state.h:[0-9]+:    gh_client\* client; +/\* whose it is' |
        grep -v -E '^sdk/include/guildhall/client.h:[0-9]+:       gh_client\* client;$' # of its example
}

check_nothing 'includes point down only' upward_includes
check_nothing 'no circle of sources' call_circles
check_nothing 'every file belongs to a system or a layer' homeless
check_nothing 'the SDK needs the C library alone' foreign_includes
check_nothing 'public headers include each other downwards, and of C a little' public_includes
check_nothing 'guildhall.h has every public header' umbrella_gaps
check_nothing 'hiredis is seen by one file of wire' seen_by_one '<hiredis' wire
check_nothing 'xxHash is seen by one file of base' seen_by_one '<xxhash' base
check_nothing 'zlib is seen by one file of files' seen_by_one '<zlib' files
check_nothing 'the platform knows nothing of the SDK but its contract' platform_includes
check_nothing 'samples use the public headers' sample_includes
check_nothing 'the sample server has no circle' include_circles samples/game_server
check_nothing 'the bench has no circle' include_circles bench
check_nothing 'only an op, an object and its own nodes keep a client' kept_clients
check_summary
