# SPDX-License-Identifier: MIT
# Sourced by the bash of a session when it starts. It is interactive, so that interrupts and errors end the cell and not the shell;
# all other options are those of a script. The state that an earlier shell saved is restored.
set +o history +o histexpand +o monitor
shopt -u expand_aliases checkwinsize sourcepath huponexit
unset HISTFILE HISTFILESIZE HISTSIZE MAILCHECK
PS0= PS1= PS2=

# Reports the status of a cell to the kernel. Descriptor 9 is the session's stderr. A cell is a script, so its EXIT trap
# runs at its end. After an interrupt the state is saved, as the time limit may kill this shell next.
__codebox_report() {
    local -
    set +xveu
    eval "set -- $1 $(trap -p EXIT)"
    if [ "$4" != "$__codebox_exit" ]; then
        trap -- "$__codebox_exit" EXIT
        eval "$4" 2>&9 9>&-
    fi
    [ "$1" -le 128 ] || . /codebox/kernels/bash_save.sh
    printf '%d\n' "$1" >/tmp/codebox/done
}

if [ -r /tmp/codebox/state ]; then
    . /tmp/codebox/state 2>/dev/null
    rm -f /tmp/codebox/state
fi
__codebox_exit='. /codebox/kernels/bash_save.sh'
trap -- "$__codebox_exit" EXIT
echo 0 >/tmp/codebox/done
