rg --pre ./x a .
export RIPGREP_CONFIG_PATH=x
# expect 1 sh.command
# expect 2 sh.command
