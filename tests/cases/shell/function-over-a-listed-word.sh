ls() { true; }
ls
# expect 1 sh.command
