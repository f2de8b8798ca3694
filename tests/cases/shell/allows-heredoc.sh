cat <<EOF > notes.txt
Total: $(wc -l data.csv) at $(date)
EOF
cat <<'EOF'
not run: $(rm -rf /) `id`
EOF
