x='a/b]c' y=a
echo "${x%%]*}" "${x##*\]}" "${x//$y\/}" "${x//[]]/_}"
echo a$/b | sed -e s/b$/c/ | grep c$
cat > page.php <<EOF
\$a = array(1, $y);
EOF
cat <<EOF

\\begin{document} (text)
EOF
{ read -r first; cat; } <<< "$x"$'\n'
