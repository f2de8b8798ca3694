# The beginning of a path, or braces, say where it is.
read -r name < names.txt
rm -rf "/srv/$name"
rm -rf "../$name"
rm -rf {/srv,out}/old
rm -rf ../{a,b}
cp report.txt "/opt/$name"
# expect 3 sh.open-outside
# expect 4 sh.open-outside
# expect 5 sh.open-outside
# expect 6 sh.open-outside
# expect 7 sh.open-outside
