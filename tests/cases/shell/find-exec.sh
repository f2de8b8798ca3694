find . -name x -exec rm {} \;
# expect 1 sh.command
