PATH=/tmp:$PATH
ls
# expect 1 sh.command
