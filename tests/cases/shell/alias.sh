alias ls=rm
# expect 1 sh.command
