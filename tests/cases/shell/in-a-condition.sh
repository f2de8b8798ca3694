if id; then
  nohup x
fi
# expect 1 sh.command
# expect 2 sh.command
