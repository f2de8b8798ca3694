cat <<E
$(nohup x)
E
# expect 2 sh.command
