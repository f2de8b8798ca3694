export BASH_ENV=x
ls
# expect 1 sh.command
