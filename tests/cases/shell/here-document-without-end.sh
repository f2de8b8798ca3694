x=1
cat <<EOF
$x
id
# expect 3 source.syntax
