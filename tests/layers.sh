#!/bin/sh
# The floors, checked: includes go down only (server -> proto -> kernels), and each library has one
# door. Prints every include line that looks the wrong way; exits 1 when there is one.
cd "$(dirname "$0")/.." || exit 2
status=0

# forbid PATTERN WHAT FILE...: no include line of these files may match PATTERN.
forbid() {
    pattern=$1 what=$2
    shift 2
    if lines=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$pattern" \
        "$@" /dev/null); then
        printf '%s:\n%s\n' "$what" "$lines"
        status=1
    fi
}

sources() {
    find "$1" -name '*.[ch]' -o -name '*.cc' -o -name '*.inc' -o -name '*.cu' -o -name '*.cuh'
}

# shellcheck disable=SC2046 # file names of this project hold no blanks
{
    forbid '(server|proto)/' 'kernels/ looks up' $(sources kernels)
    forbid 'server/' 'proto/ looks up' $(sources proto)
    forbid 'microhttpd' 'libmicrohttpd outside server/http_*.c' \
        $(sources kernels) $(sources proto) $(sources server | grep -v '^server/http_[a-z]*\.c$')
    forbid 'gnutls' 'GnuTLS outside server/tls.c and server/digest.c' \
        $(sources kernels) $(sources proto) $(sources server | grep -vE '^server/(tls|digest)\.c$')
    forbid '(cjson/)?cJSON' 'cJSON outside proto/' $(sources kernels) $(sources server)
    forbid 'pthread' 'pthread outside server/' $(sources kernels) $(sources proto)
    forbid '(cuda|cub/)' 'CUDA outside kernels/cuda/' \
        $(sources kernels | grep -v '^kernels/cuda/') $(sources proto) $(sources server)
    forbid 'tests/' 'the product includes a test' \
        $(sources kernels) $(sources proto) $(sources server)
}
exit $status
