# Snapshot file
unalias -a 2>/dev/null || true
