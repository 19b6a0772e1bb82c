#!/bin/sh
# The console page as C: `sh embed.sh console.html >page.c` defines what server/console/page.h
# declares. The same page gives the same bytes, everywhere; coreutils, gzip, awk and sed do it.
set -eu
page=$1

# What stands between <TAG> and </TAG>, each alone on its line, as a browser hashes it.
inside() {
    awk -v open="<$1>" -v close_="</$1>" '
        $0 == close_ { on = 0 }
        on { print }
        $0 == open { on = 1; print "" }' "$page"
}

sha256() {
    sha256sum | cut -c1-64 | tr a-f A-F
}

# A source expression of Content-Security-Policy.
source_of() {
    printf "'sha256-%s'" "$(inside "$1" | sha256 | basenc --base16 -d | base64 -w0)"
}

# array NAME <bytes
array() {
    printf 'static const unsigned char %s[] = {\n' "$1"
    od -An -v -tx1 -w16 | sed 's/ \(..\)/0x\1,/g'
    printf '};\n'
}

tag=$(sha256 <"$page" | cut -c1-20)
printf '#include "server/console/page.h"\n\n'
array plain <"$page"
gzip -9nc "$page" | array gzipped
cat <<END
const struct console_form console_plain = {plain, sizeof plain, "\"$tag\""};
const struct console_form console_gzip = {gzipped, sizeof gzipped, "\"$tag-gz\""};
const char console_policy[] =
    "default-src 'none'; script-src $(source_of script); style-src $(source_of style); "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
END
