fd -Hx id
fdfind . --exec-batch sh -c id
# expect 1 sh.command
# expect 2 sh.command
