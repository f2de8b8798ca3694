npm x cowsay
# expect 1 sh.command
