LD_PRELOAD=./x.so ls
# expect 1 sh.command
