# The words of a pipe are the command's.
printf '%s\n' -exec perl ';' | xargs find .
printf -- '-delete\n' | xargs find ../x
printf '1e id\n' | xargs -d '\n' sed -n
echo --to-command=id | xargs tar xf a.tar
echo system | xargs -I{} awk 'BEGIN { {}("id") }'
printf 'ls\nnohup x\n' | bash
# expect 2 sh.command
# expect 2 sh.option
# expect 3 sh.open-outside
# expect 4 sh.command
# expect 5 sh.option
# expect 6 sh.command
# expect 7 sh.command
