name=World
cat > page.html <<EOF
<h1>Hello $name</h1>
<p>$(date +%Y)</p>
EOF
cat <<'EOF' >> page.html
<p>literal $name</p>
EOF
wc -c < page.html
