# The base runtime spec of the RuntimeClass, made of containerd's own: what a Pod cannot express.
#     ctr oci spec | jq -f base-spec.jq >/etc/containerd/codebox.json
# Sizes are those of the limits `disk` (64 MiB) and `pids` (64) of the preset `default`. A policy with
# other limits needs another RuntimeClass.
.process.rlimits = [
    {type: "RLIMIT_CORE", hard: 0, soft: 0},
    {type: "RLIMIT_NOFILE", hard: 1024, soft: 1024},
    {type: "RLIMIT_MEMLOCK", hard: 65536, soft: 65536},
    {type: "RLIMIT_FSIZE", hard: 67108864, soft: 67108864}
]
| .linux.resources.pids.limit = 64
| .mounts += [
    {destination: "/workspace", type: "tmpfs", source: "tmpfs",
     options: ["nosuid", "nodev", "noexec", "size=67108864", "nr_inodes=16384", "mode=0700", "uid=65532", "gid=65532"]},
    {destination: "/tmp", type: "tmpfs", source: "tmpfs",
     options: ["nosuid", "nodev", "noexec", "size=16777216", "nr_inodes=4096", "mode=1777"]}
]
