f() {
  nohup x
}
f
# expect 2 sh.command
