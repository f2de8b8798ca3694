sudo -u root rm x
# expect 1 sh.command
