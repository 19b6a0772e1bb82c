#!/bin/sh
# The floors and their rooms, checked: includes go down only, from server/ to proto/ to kernels/, and
# inside a floor from its last room to its first. Each library has one door. Prints every include
# line that looks the wrong way, and for each floor its rooms and arrows; exits 1 when one looks up.
cd "$(dirname "$0")/.." || exit 2
status=0

# The rooms of a floor, lowest first; `.` is the floor's own folder.
rooms_of() {
    case $1 in
    kernels) echo . cpu cuda ;;
    proto) echo . number json request answer ;;
    server) echo base log config memory net access tensors files jobs . console http life follow ;;
    esac
}

sources() {
    find "$1" -name '*.[ch]' -o -name '*.cc' -o -name '*.inc' -o -name '*.cu' -o -name '*.cuh'
}

# forbid PATTERN WHAT FILE...: no include line of these files may match PATTERN.
forbid() {
    pattern=$1 what=$2
    shift 2
    if [ $# = 0 ]; then
        echo "$what: no file was found, so nothing was checked"
        status=1
    fi
    if lines=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$pattern" \
        "$@" /dev/null); then
        printf '%s:\n%s\n' "$what" "$lines"
        status=1
    fi
}

# look_inside FLOOR: an arrow is a pair of rooms of which one includes the other.
look_inside() {
    sources "$1" | xargs grep -HE "^#include \"$1/" | awk -F: -v floor="$1" -v order="$(rooms_of "$1")" '
        function room_of(path, parts) {
            return split(path, parts, "/") > 2 ? parts[2] : "."
        }
        BEGIN {
            for (count = split(order, names, " "); ++i <= count;)
                level[names[i]] = i
        }
        {
            split($2, quoted, "\"")
            from = room_of($1)
            to = room_of(quoted[2])
            if (!(from in level) || !(to in level)) {
                print "a room that tests/layers.sh does not know: " $0
                failed = 1
            }
            if (from == to)
                next
            if (!((from, to) in seen)) {
                seen[from, to] = 1
                arrows++
                upward += level[to] > level[from]
            }
            if (level[to] > level[from])
                print $1 " looks up to " quoted[2]
        }
        END {
            if (NR == 0)
                print floor ": no include line was found, so nothing was checked"
            printf "%-8s %2d rooms, %2d arrows, %d upward\n", floor, count, arrows, upward
            exit failed || upward > 0 || NR == 0
        }' || status=1
}

# shellcheck disable=SC2046 # file names of this project hold no blanks
{
    forbid '(server|proto)/' 'kernels/ looks up' $(sources kernels)
    forbid 'server/' 'proto/ looks up' $(sources proto)
    forbid 'microhttpd' 'libmicrohttpd outside server/http/ and server/follow/metrics.c' \
        $(sources kernels) $(sources proto) \
        $(sources server | grep -vE '^server/(http/|follow/metrics\.c$)')
    forbid 'gnutls' 'GnuTLS outside server/net/tls.c and server/access/digest.c' \
        $(sources kernels) $(sources proto) \
        $(sources server | grep -vE '^server/(net/tls|access/digest)\.c$')
    forbid '(cjson/)?cJSON' 'cJSON outside proto/ and server/follow/standing.c' \
        $(sources kernels) $(sources server | grep -v '^server/follow/standing\.c$')
    forbid 'pthread' 'pthread outside server/' $(sources kernels) $(sources proto)
    forbid '(cuda|cub/)' 'CUDA outside kernels/cuda/' \
        $(sources kernels | grep -v '^kernels/cuda/') $(sources proto) $(sources server)
    forbid 'tests/' 'the product includes a test' \
        $(sources kernels) $(sources proto) $(sources server)
    # tensord-follow is a program of its own, which has times, settings and the log of the server.
    forbid 'server/(memory|net|access|tensors|files|jobs|http|console|life|rules|server)' \
        'tensord-follow includes the server' $(sources server/follow)
}
for floor in kernels proto server; do
    look_inside "$floor"
done
exit $status
