env -i -u A B=1 rm x
# expect 1 sh.command
