# SPDX-License-Identifier: MIT
# Copies the lines of the benchmarks, and adds to each figure its difference to the stored one in
# FILE. A figure is "ratio N", "N times that" or "N in all"; its name is the text before the first
# colon. With SAVE the script writes the figures to FILE, and keeps the stored figures that were not
# measured.
# Usage: awk -v file=FILE -v save=1 -f ratios.awk
BEGIN {
    while ((getline line < file) > 0) {
        split(line, part, "\t")
        if (part[2] == "") continue
        name[count++] = part[1]
        stored[part[1]] = part[2]
    }
}
function figure(line) {
    if (match(line, /ratio [0-9.]*[0-9]/)) return substr(line, RSTART + 6, RLENGTH - 6)
    if (match(line, /[0-9.]+ times that/)) return substr(line, RSTART, RLENGTH - 11)
    if (match(line, /[0-9.]+ in all/)) return substr(line, RSTART, RLENGTH - 7)
    return ""
}
{
    value = figure($0)
    difference = ""
    if (value != "" && index($0, ":") > 1) {
        what = substr($0, 1, index($0, ":") - 1)
        gsub(/^ +/, "", what)
        if (what in stored) difference = sprintf("  [%s stored, %+.0f %%]", stored[what], (value / stored[what] - 1) * 100)
        else name[count++] = what
        if (!(what in measured)) measured[what] = value
        if (!(what in stored)) stored[what] = value
    }
    print $0 difference
    fflush()
}
END {
    for (i = 0; save != "" && i < count; i++) printf "%s\t%s\n", name[i], (name[i] in measured) ? measured[name[i]] : stored[name[i]] > file
}
