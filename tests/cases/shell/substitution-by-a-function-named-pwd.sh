d=$(pwd)
pwd() { echo ls; }
eval "$d"
$(pwd) -l
# expect 3 sh.command
# expect 4 sh.command
