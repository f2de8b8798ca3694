echo "${x:+(text ${y})}"; vim z
echo "${x:+($(vim) ${y})}"
{ echo \${x:+a; (vim x); }
# expect 1 sh.command
# expect 2 sh.command
# expect 3 sh.command
