#!/bin/sh
# The layout of the sources, checked: every file is as clang-format leaves it (.clang-format). Prints
# where one is not; exits 1 then, and 77 without the version that Debian 12 has, as each version lays
# out a little differently. `clang-format -i FILE` mends a file.
cd "$(dirname "$0")/.." || exit 2
if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    echo 'clang-format 14 is not installed'
    exit 77
fi
files=$(find kernels proto server tests -name '*.[ch]' -o -name '*.cc' -o -name '*.inc' -o -name '*.cu' -o -name '*.cuh')
if [ -z "$files" ]; then
    echo 'no file was found, so nothing was checked'
    exit 1
fi
# shellcheck disable=SC2086 # file names of this project hold no blanks
clang-format --dry-run -Werror $files
