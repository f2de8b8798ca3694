for PATH in /tmp; do ls; done
read -r PATH < f
printf -v PATH /tmp
((PATH=1))
: "${PATH:=/tmp}"
declare -n ref=PATH; ref=/tmp
mapfile -t BASH_ENV < f
BASH_CMDS[ls]=/tmp/x
hash -p /tmp/x ls
enable -f ./x.so x
let PATH=1
getopts ab LD_PRELOAD
exec {PATH}>x
read -a BASH_ENV < f
for ((PATH=0;PATH<1;PATH++)); do ls; done
local -n q=ENV
export "PATH=/tmp"
declare -x NODE_OPTIONS=--require=./x
env PATH=/tmp ls
PAGER=x ls
GIT_SSH=x ls
ls() { id; }
alias ls=id
coproc PATH { ls; }
read ENV < f
select PATH in /tmp; do ls; done
mapfile PATH < f
wait -p PATH
BASH_ALIASES[ls]=id
((ls, PATH++))
echo $((PATH=3))
: ${ENV=/tmp/x}
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
# expect 4 sh.evaluated
# expect 5 sh.command
# expect 6 sh.command
# expect 7 any.loader
# expect 7 sh.command
# expect 8 sh.command
# expect 8 sh.evaluated
# expect 9 sh.command
# expect 10 sh.command
# expect 11 sh.command
# expect 12 any.loader
# expect 12 sh.command
# expect 13 sh.command
# expect 14 any.loader
# expect 14 sh.command
# expect 15 sh.command
# expect 15 sh.evaluated
# expect 16 sh.command
# expect 17 sh.command
# expect 18 sh.command
# expect 19 sh.command
# expect 20 sh.command
# expect 21 sh.command
# expect 22 sh.command
# expect 23 sh.command
# expect 24 sh.command
# expect 25 sh.command
# expect 26 sh.command
# expect 27 sh.command
# expect 28 sh.command
# expect 29 sh.command
# expect 29 sh.evaluated
# expect 30 sh.evaluated
# expect 31 sh.evaluated
# expect 32 sh.command
