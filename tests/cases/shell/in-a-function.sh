f() {
  touch x
}
f
# expect 2 sh.command
