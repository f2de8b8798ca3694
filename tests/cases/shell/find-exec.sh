find . -name x -exec id {} \;
# expect 1 sh.command
