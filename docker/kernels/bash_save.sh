# SPDX-License-Identifier: MIT
# Sourced in a shell that is about to end: saves variables, functions, folder, traps and options for the next shell.
{
    declare -p
    declare -f
    declare -Fx
    trap -p
    umask -p
    printf 'cd %q\n' "$PWD"
    shopt -p
    set +o
} >/tmp/codebox/state 2>/dev/null
