# SPDX-License-Identifier: MIT
# The bash of a session sources this file at its start. This bash is interactive, so that interrupts
# and errors end the cell and not the shell; all other options are those of a script. Prompts are
# empty, because a script has no prompts.
# The functions write records for the kernel (command/shell_state.h). A cell may call the functions
# with any text, so they evaluate no argument.
\builtin set +o history +o histexpand +o monitor
\builtin shopt -u expand_aliases checkwinsize sourcepath huponexit promptvars
\builtin unset HISTFILE HISTFILESIZE HISTSIZE MAILCHECK PROMPT_COMMAND
\builtin readonly MAILCHECK PROMPT_COMMAND
PS0= PS1= PS2=

# Prints the state of this shell: __codebox_print "$SHELLOPTS" TRAPS. The caller passes the traps,
# because `trap -p` in a function does not list all of them.
__codebox_print() {
    local -
    \set +xveu -f
    \builtin printf 'B\0v'
    \builtin declare -p
    local IFS=$' \t\n' __codebox_name
    \builtin printf '\0a'
    \builtin declare -F
    \builtin printf '\0t%s\0m' "${2:+$2$'\n'}"
    \builtin umask
    \builtin printf '\0d%s\0s%s\0o%s\0' "$PWD" "$BASHOPTS" "$1"
    for __codebox_name in $(\builtin compgen -A function); do
        \builtin printf f
        \builtin declare -f -- "$__codebox_name"
        \builtin printf '\0'
    done
    \builtin printf 'E\0'
}

# Sends the state to the kernel. While a cell runs, the report socket, descriptor 240, is closed and
# its copy is descriptor 10.
__codebox_save() {
    if [ -S /dev/fd/240 ]; then
        __codebox_print "$@" >&240
    else
        __codebox_print "$@" >&10
    fi
}

# Reports the status of a cell: __codebox_report STATUS "$SHELLOPTS". Descriptor 9 is the session's
# stderr, 247 the cell's input. A cell is a script, so its EXIT trap runs at its end. After an
# interrupt the function saves the state, because the time limit may kill this shell next.
__codebox_report() {
    local -
    \set +xveu
    \eval "\\set -- \"\$1\" \"\$2\" $(\builtin trap -p EXIT)"
    if [ "$5" != '{ __codebox_save "$SHELLOPTS" "$(\builtin trap -p)"; } 2>/dev/null' ]; then
        \trap -- '{ __codebox_save "$SHELLOPTS" "$(\builtin trap -p)"; } 2>/dev/null' EXIT
        \eval "$5" <&247 2>&9 9>&- 240>&- 241<&- 242<&- 243<&- 244<&- 245<&- 247<&-
    fi
    [ "$1" -le 128 ] || __codebox_save "$2" "$(\builtin trap -p)"
    \builtin printf 's%d\0' "$1" >&240
}
