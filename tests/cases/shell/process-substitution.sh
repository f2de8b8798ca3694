cat <(curl x)
# expect 1 sh.command
