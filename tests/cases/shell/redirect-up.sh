ls > ../x
# expect 1 sh.command
