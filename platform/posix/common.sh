# common.sh -- what the scripts share: folders, packages, builds, private servers, and an orderly end.
# For bash, sourced after "set -euo pipefail". A script calls its functions from any folder.
#
# Whatever a script starts or creates is noted in the lists below and is gone when the script ends, however it ends.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
progress_pause_s=15

scratch=          # a temporary folder; make_scratch
redis_address=    # of the private server; start_redis. Of a private fleet; start_fleet
fleet_process=    # start_fleet
redis_name=       # what the Sentinels of a private fleet call their master; start_fleet
owned_processes=() # ends in reverse order of their start

say() { printf '%s\n' "$*"; }
complain() { printf '%s\n' "$*" >&2; }
fail() {
    complain "$*"
    exit 1
}

# The comment at the head of the script that was started: what it does and how to call it.
show_usage() { sed -n -e '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[-1]}"; }

# --- the end ---------------------------------------------------------------------------------------------------------

is_running() { kill -0 "$1" 2> /dev/null; }

# A moment without a process of its own: a "sleep" would stay behind when the script is killed.
pause() { read -r -t "$1" -u "$never_written" || true; }
exec {never_written}<> <(:)

# Waits for a process that this shell started, through signals that only interrupt the waiting.
wait_for() {
    local code=0
    while :; do
        code=0
        wait "$1" 2> /dev/null || code=$?
        if ! is_running "$1"; then return "$code"; fi
    done
}

# TERM first, and KILL for what does not listen.
end_process() {
    local pid=$1 tries=100
    kill -TERM "$pid" 2> /dev/null || return 0
    kill -CONT "$pid" 2> /dev/null || true
    while is_running "$pid" && [ $((tries--)) -gt 0 ]; do pause 0.05; done
    kill -KILL "$pid" 2> /dev/null || true
    wait "$pid" 2> /dev/null || true
}

# Put in front of a command that must not even outlive a killed script. Linux only.
leash=()
if setpriv --pdeathsig KILL true 2> /dev/null; then leash=(setpriv --pdeathsig KILL); fi

own() { owned_processes+=("$1"); }

disown_process() {
    local pid rest=()
    for pid in "${owned_processes[@]}"; do
        if [ "$pid" != "$1" ]; then rest+=("$pid"); fi
    done
    owned_processes=("${rest[@]}")
}

at_end() {
    local code=$? i
    trap '' INT TERM HUP
    for ((i = ${#owned_processes[@]} - 1; i >= 0; i--)); do end_process "${owned_processes[i]}"; done
    if [ -n "$scratch" ]; then rm -rf "$scratch"; fi
    # With sudo, what was built belongs to whom the sources belong to.
    if [ "$(id -u)" -eq 0 ] && [ -d "$root/build" ] && [ -n "${SUDO_UID-}" ]; then
        chown -R --reference="$root" "$root/build" 2> /dev/null || true
    fi
    exit "$code"
}

trap_signals() {
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
}

trap at_end EXIT
trap_signals

make_scratch() {
    if [ -z "$scratch" ]; then scratch=$(mktemp -d "${TMPDIR:-/tmp}/guildhall.XXXXXX"); fi
}

# --- commands that take a while --------------------------------------------------------------------------------------

# Runs a command with its output in a file. The function named PROGRESS prints how far it is, now and then; "true" for
# none. The command's exit code is the result.
run_logged() {
    local log=$1 progress=$2 pid ticker= code=0
    shift 2
    "$@" > "$log" 2>&1 < /dev/null &
    pid=$!
    own "$pid"
    if [ "$progress" != true ]; then
        while pause "$progress_pause_s"; do "$progress" "$log"; done &
        ticker=$!
        own "$ticker"
    fi
    wait_for "$pid" || code=$?
    disown_process "$pid"
    if [ -n "$ticker" ]; then
        end_process "$ticker"
        disown_process "$ticker"
    fi
    return "$code"
}

# Runs a command for the person at the terminal. An interrupt is for the command, which may have a last word to say; the
# result is its exit code.
run_in_front() {
    local pid code=0
    set -m # a group of its own, so that control-C comes once, from here
    "${leash[@]}" "$@" < /dev/null &
    pid=$!
    set +m
    own "$pid"
    trap 'kill -INT "$pid" 2> /dev/null || true' INT
    trap 'kill -TERM "$pid" 2> /dev/null || true' TERM HUP
    wait_for "$pid" || code=$?
    trap_signals
    disown_process "$pid"
    return "$code"
}

# --- packages and builds ---------------------------------------------------------------------------------------------

setup() { bash "$root/platform/posix/setup.sh" "$@"; }

run_premake() {
    if command -v premake5 > /dev/null; then
        (cd "$root" && premake5 "$@")
    else
        (cd "$root" && premake4 --file=premake5.lua "$@")
    fi
}

processors() { nproc 2> /dev/null || getconf _NPROCESSORS_ONLN; }

# Two scripts at once must not build into the same folder at once.
with_build_lock() {
    local code=0
    mkdir -p "$root/build"
    if ! command -v flock > /dev/null; then
        "$@"
        return
    fi
    exec {build_lock}> "$root/build/.lock"
    flock "$build_lock"
    "$@" || code=$?
    exec {build_lock}>&-
    return "$code"
}

# make knows when a source or a header changed, but not when the flags did or when a source has gone: then the target
# is made anew from its first object. FOLDER has the makefiles, and beside them how they were at the last build.
forget_what_was_built_otherwise() {
    local folder=$1 makefile name
    for makefile in "$folder"/*.make; do
        name=$(basename "$makefile" .make)
        if cmp -s "$makefile" "$folder/obj/$name/built.make"; then continue; fi
        rm -rf "$folder/obj/$name" "$folder"/bin/*/"$name" "$folder"/bin/*/"lib$name.a"
        mkdir -p "$folder/obj/$name"
        cp "$makefile" "$folder/obj/$name/built.make"
    done
}

# A dry run, because "make -q" never says yes: the makefiles also echo. It may fail for what is not there yet.
would_compile() {
    local folder=$1 config=$2 commands
    shift 2
    commands=$(make -n -C "$folder" config="$config" "$@" 2> /dev/null) || return 0
    [[ $commands == *' -o '* ]]
}

build_now() {
    local folder=$1 config=$2 log=$1/build.log
    shift 2
    local options=()
    case $folder in
    "$root/build/sanitize" | "$root/build/coverage") options=("--${folder##*/}") ;;
    esac
    mkdir -p "$folder"
    if ! run_premake "${options[@]}" gmake > "$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
    forget_what_was_built_otherwise "$folder"
    # Nothing is said of a build that has nothing to do.
    if would_compile "$folder" "$config" "$@"; then
        say "build: $config${options:+ with ${options[*]}}: ${*:-everything}"
    fi
    if ! run_logged "$log" true make -k -C "$folder" -j "$(processors)" config="$config" "$@"; then
        grep -v -E '^(make|====|Creating|Linking|Archiving|[a-z_0-9]+\.c$)' "$log" | sed -n '1,60p' >&2 ||
            cat "$log" >&2
        complain "build: failed; all of it is in ${log#"$root"/}"
        return 1
    fi
}

# build [--sanitize|--coverage] CONFIG TARGET...
build() {
    local folder=$root/build
    case $1 in
    --sanitize | --coverage)
        folder=$root/build/${1#--}
        shift
        ;;
    esac
    with_build_lock build_now "$folder" "$@"
}

# --- private servers -------------------------------------------------------------------------------------------------

either() { command -v "$1" || command -v "$2"; }

# start_redis ARGUMENT... -- starts a server on a unix socket in the scratch folder, without a port, and waits until it
# answers. Sets redis_address. A second call starts a second server.
redis_count=0
start_redis() {
    local server cli folder pid tries=200
    make_scratch
    server=$(either redis-server valkey-server)
    cli=$(either redis-cli valkey-cli)
    redis_count=$((redis_count + 1))
    folder=$scratch/redis$redis_count
    mkdir "$folder"
    set -m # a group of its own: control-C is for the program, which still needs its server for a while
    "${leash[@]}" "$server" --port 0 --unixsocket "$folder/redis.sock" --dir "$folder" --save '' "$@" \
        > "$folder/log" 2>&1 < /dev/null &
    pid=$!
    set +m
    own "$pid"
    while [ "$("$cli" -s "$folder/redis.sock" ping 2> /dev/null)" != PONG ]; do
        if ! is_running "$pid" || [ $((tries--)) -eq 0 ]; then
            cat "$folder/log" >&2
            fail "the private redis-server did not start"
        fi
        pause 0.05
    done
    redis_address=unix:$folder/redis.sock
}

# start_fleet ARGUMENT... -- starts the servers of tests/fleet.sh, which says what the arguments are, and waits until
# all is well. Sets redis_address and redis_name. In the scratch folder, orders takes its input and answers has its
# output.
start_fleet() {
    local pid
    make_scratch
    mkfifo "$scratch/orders"
    : > "$scratch/answers"
    set -m # a group of its own: control-C is for the program, which still needs its servers for a while
    "${leash[@]}" bash "$root/tests/fleet.sh" "$@" <> "$scratch/orders" > "$scratch/answers" 2> "$scratch/fleet.log" &
    pid=$!
    set +m
    own "$pid"
    while ! grep -q '^addresses: ' "$scratch/answers"; do
        if ! is_running "$pid"; then
            cat "$scratch/fleet.log" >&2
            fail "the private fleet did not start"
        fi
        pause 0.1
    done
    fleet_process=$pid
    redis_address=$(sed -n 's/^addresses: //p' "$scratch/answers" | sed -n 1p)
    redis_name=$(sed -n 's/^name: //p' "$scratch/answers" | sed -n 1p)
}

# What the private fleet had to say, if it has ended by itself.
check_fleet() {
    if [ -z "$fleet_process" ] || is_running "$fleet_process"; then return 0; fi
    cat "$scratch/fleet.log" >&2
    complain "the private fleet has ended"
    return 1
}
