# SPDX-License-Identifier: MIT
# Sourced by the bash that runs the cells of a session, when it starts: it is interactive so that interrupts and errors end the
# cell and not the shell; all else is as in a script. State that a shell left when it ended is taken over.
set +o history +o histexpand +o monitor
shopt -u expand_aliases checkwinsize sourcepath huponexit
unset HISTFILE HISTFILESIZE HISTSIZE MAILCHECK
PS0= PS1= PS2=

# The status of the cell that ended, to the kernel. Descriptor 9 is the session's stderr. A cell is a script, so its EXIT trap
# runs at its end. What an interrupt ended may have been the time limit, after which this shell is killed.
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
