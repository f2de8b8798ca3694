awk '{ print $1 > "/etc/x" }' f
awk '{ print(1)(2) > "f" }' f
awk '{ print a[1 > 0] > "f" }' f
awk '{ print /"/ > "f" }' f
awk '{ if ($1) /"/; print "a" > "f" #"
}' f
awk '{ print "\"" > "f" }' f
awk '{ print x,
 y > "f" }' f
awk '{ print |& "x" }' f
gawk --profile=/etc/x '{ print }' f
awk --fi=prog f
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
# expect 4 sh.command
# expect 5 sh.command
# expect 7 sh.command
# expect 8 sh.command
# expect 10 sh.command
# expect 11 sh.command
# expect 12 sh.command
