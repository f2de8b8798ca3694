(ls; nohup x)
# expect 1 sh.command
