{ read -r a; cat; } <<< "x
y"
( cat ) <<< x
for i in a; do cat; done <<< "$1"
case x in x) cat;; esac <<< x
cat ${x}<<<y
cat "$(date)" <<< z
