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
export PATH
let PATH=1
getopts ab LD_PRELOAD
{fd}>x
{BASH_ENV}>x
for ((PATH=0;PATH<1;PATH++)); do ls; done
local -n q=IFS
export "PATH=/tmp"
declare -x NODE_OPTIONS=--require=./x
env PATH=/tmp ls
PAGER=x ls
GIT_SSH=x ls
ls() { id; }
alias ls=id
coproc PATH { ls; }
read IFS < f
select PATH in /tmp; do ls; done
mapfile PATH < f
wait -p PATH
BASH_ALIASES[ls]=id
((ls, PATH++))
echo $((PATH=3))
: ${ENV=/tmp/x}
