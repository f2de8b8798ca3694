source "$x"
. /etc/profile
source ./lib.sh "$x"
ls() { :; }; f() { . ./lib.sh; }
source <(cat x)
. /dev/stdin
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
# expect 4 sh.command
# expect 5 sh.command
# expect 6 sh.command
