echo ${x:-$(nohup y)}
# expect 1 sh.command
