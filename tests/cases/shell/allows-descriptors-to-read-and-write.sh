exec 3<>counter.txt
read -r n <&3 || n=0
exec 3>&-
exec 4<> "/tmp/x"
{ read -r x; } <>f
echo "a <> b"
x="a"$'\n'
