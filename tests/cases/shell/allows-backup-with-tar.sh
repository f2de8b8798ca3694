#!/bin/bash
set -e
src=project
dest=backups
stamp=$(date +%Y%m%d)
mkdir -p "$dest"
tar -czf "$dest/$src-$stamp.tar.gz" "$src"
tar -tzf "$dest/$src-$stamp.tar.gz" | wc -l
sha256sum "$dest/$src-$stamp.tar.gz" > "$dest/$src-$stamp.sha256"
ls -1t "$dest" | tail -n +6
find "$dest" -name '*.tar.gz' -mtime +7 -delete
