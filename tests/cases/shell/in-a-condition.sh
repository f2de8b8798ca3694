if id; then
  touch x
fi
# expect 1 sh.command
# expect 2 sh.command
