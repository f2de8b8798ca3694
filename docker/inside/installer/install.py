# SPDX-License-Identifier: MIT
"""Resolves and installs Python packages in an installer container. The host is docker/packages/package_layers.c.

The host writes the job, one line of JSON, to standard input. The host keeps standard input open, and
this program ends when standard input is closed. The task "resolve" writes pip's report of the
packages to install to standard output. Standard error gets lines: "progress TEXT", and if the job
fails, lines of pip, and lines of this file, which begin with "codebox: ". The exit status is 0 if the
job succeeded.

The image pins pip, which is Debian's. pip runs in a process of its own, in which this file replaces
five functions. With them pip ends at a redirect to another host, at an index that does not answer,
and at a host other than the index whose address is not public. pip prints the packages that have
links but no wheel for this Python, and its report marks yanked packages. This program executes no
code of a package.
"""
import collections
import csv
import glob
import importlib.metadata
import ipaddress
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import sys
import sysconfig
import threading
import zipfile

LIBRARY = "/codebox/installer/lib"
TARGET = "/packages/python"
# The folders with the modules of the sandbox image: Debian's, and those of a user's own image.
IMAGE = [folder for folder in ("/usr/lib/python3/dist-packages", sysconfig.get_path("purelib"), "/usr/lib/codebox/environment") if os.path.isdir(folder)]
SCRATCH = "/packages/.scratch"  # on the file system of TARGET, because pip moves unpacked files
REACH = "/tmp/reach.json"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
LINE_MAX, LINES_KEPT = 4096, 200


class Failure(Exception):
    pass


def tell(text):
    line = "".join(c if " " <= c <= "~" else "?" for c in text[:LINE_MAX])
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


# --- pip, in a process of its own ------------------------------------------------------------------------------------------


def origin(url):
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.scheme}://{parts.hostname}:{port}"


def stop(text):
    """Ends pip at once. Otherwise pip continues without the page or the file, and reports that there is no such package."""
    print(f"codebox: {text}", flush=True)
    os._exit(3)


def explain(reason):
    text = str(reason)
    if "timed out" in text or "Timeout" in text:
        return "timed-out"
    if "ssl" in text.lower():
        return "not-trusted"
    return "unreachable"


def end_of(url):
    """Returns the host and the port of a URL."""
    host, _, port = origin(url).partition("://")[2].rpartition(":")
    return [host.rstrip(".").lower(), int(port)]


def check_addresses(create_connection):
    """Wraps urllib3's create_connection. An index may name files on any host: pip connects only to hosts
    with public addresses, and to the checked address."""
    from pip._internal.models.index import PyPI

    with open(REACH, encoding="ascii") as file:
        reach = json.load(file)
    index = end_of(reach["index"] or PyPI.url)

    def create_checked(address, *arguments, **named):
        host, port = address[0].rstrip(".").lower(), address[1]
        if [host, port] == index:
            return create_connection(address, *arguments, **named)
        found = [info[4][0] for info in socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)]
        for text in found:
            number = int(ipaddress.IPv4Address(text))
            if any(first <= number <= last for first, last in reach["unreachable"]):
                stop(f"address {host}:{port} {text}")
        return create_connection((found[0], port), *arguments, **named)

    return create_checked


def run_pip(arguments):
    sys.path.insert(0, LIBRARY)
    from urllib.parse import urljoin

    from pip._internal.cli.main import main
    from pip._internal.index import collector
    from pip._internal.index.package_finder import LinkEvaluator, LinkType
    from pip._internal.exceptions import NetworkConnectionError
    from pip._internal.models.installation_report import InstallationReport
    from pip._vendor.requests.sessions import SessionRedirectMixin
    from pip._vendor.urllib3.util import connection

    redirect_of, evaluate = SessionRedirectMixin.get_redirect_target, LinkEvaluator.evaluate_link
    describe = InstallationReport._install_req_to_dict

    def get_redirect_target(self, response):
        target = redirect_of(self, response)
        if target:
            there = urljoin(response.url, target)
            if origin(there) != origin(response.url):
                stop(f"redirect {origin(response.url)} {origin(there)}")
        return target

    def handle_get_simple_fail(link, reason, meth=None):
        if isinstance(reason, NetworkConnectionError) and reason.response is not None:
            status = reason.response.status_code
            if status not in (404, 410):
                stop(f"index-status {origin(link.url)} {status}")
        else:
            stop(f"index-{explain(reason)} {origin(link.url)}")

    def evaluate_link(self, link):
        if link.scheme == "file" and str(link.comes_from or "").startswith(("http:", "https:")):
            stop(f"file-link {link.filename}")  # pip would read the file from this container
        result = evaluate(self, link)
        if result[0] is LinkType.platform_mismatch or str(result[1]).startswith("No sources permitted"):
            print(f"codebox: no-wheel {self.project_name}", flush=True)
        return result

    def describe_requirement(requirement):
        """Adds the field that pip itself writes as of version 23.1."""
        return {**describe(requirement), "is_yanked": requirement.link.is_yanked}

    assert collector._handle_get_simple_fail
    InstallationReport._install_req_to_dict = staticmethod(describe_requirement)
    SessionRedirectMixin.get_redirect_target = get_redirect_target
    LinkEvaluator.evaluate_link = evaluate_link
    collector._handle_get_simple_fail = handle_get_simple_fail
    connection.create_connection = check_addresses(connection.create_connection)
    return main(arguments)


# --- the job ---------------------------------------------------------------------------------------------------------------


def report_progress(line, seen):
    if found := re.match(r"Collecting ([A-Za-z0-9._-]+)", line):
        text = f"collecting {found[1]}"
    elif found := re.match(r"\s+Downloading \S*?([A-Za-z0-9._]+)-[^-/\s]+-\S+\.whl \(([0-9.]+ (?:bytes|[kMG]?B))\)", line):
        text = f"downloading {found[1]} {found[2]}"
    else:
        return
    if text not in seen:
        seen.add(text)
        tell(f"progress {text}")


def pip(job, command, *arguments, environment=None):
    options = ["--isolated", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--no-color", "--retries", "1"]
    options += ["--timeout", str(job["answer_timeout_s"]), "--cert", job["certificates"]]
    words = [sys.executable, "-I", __file__, "pip", command, *options, "--progress-bar", "off", "--only-binary", ":all:", *arguments]
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})
    lines, no_wheel, seen = collections.deque(maxlen=LINES_KEPT), set(), set()
    while data := child.stdout.readline(LINE_MAX):
        line = data.decode("utf-8", "replace").rstrip()
        report_progress(line, seen)
        if line.startswith("codebox: no-wheel "):
            no_wheel.add(line.split()[2])
        elif line:
            lines.append(line)
    if child.wait() == 0:
        return
    for line in lines:
        found = re.match(r"ERROR: Could not find a version that satisfies the requirement ([A-Za-z0-9._-]+).*\(from versions: none\)", line)
        if found and canonical(found[1]) in no_wheel:
            tell(f"codebox: no-wheel {found[1]}")
        mismatch = re.match(r"\s+([A-Za-z0-9._-]+)(?:==\S+)? from ", line)
        if mismatch and any("DO NOT MATCH THE HASHES" in each for each in lines):
            tell(f"codebox: hash {mismatch[1]}")
    for line in lines:
        tell(line)
    raise Failure


def index_options(job):
    from urllib.parse import urlsplit

    if not job["index"]:
        return []
    parts = urlsplit(job["index"])
    options = ["--index-url", job["index"]]
    # pip ignores an index without TLS unless --trusted-host names its host. For an index with TLS,
    # that option switches verification off.
    return options + ["--trusted-host", parts.netloc.rpartition("@")[2]] if parts.scheme == "http" else options


def write_lines(path, lines):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


def check_complete(path):
    """Fails if a package of pip's report depends on a package that neither the report nor the image has:
    pip ran with --no-deps. Dependencies of extras are not checked; a lock file lists the dependencies
    of requested extras."""
    sys.path.insert(0, LIBRARY)
    from pip._vendor.packaging.requirements import InvalidRequirement, Requirement

    with open(path, encoding="utf-8") as file:
        packages = [item["metadata"] for item in json.load(file)["install"]]
    there = {canonical(package["name"]) for package in packages}
    there.update(canonical(each.metadata["Name"] or "") for each in importlib.metadata.distributions(path=IMAGE))
    for package in packages:
        for text in package.get("requires_dist", ()):
            try:
                needed = Requirement(text)
            except InvalidRequirement:
                continue
            if canonical(needed.name) not in there and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
                raise Failure(f"codebox: lacks {package['name']} {needed.name}")


def resolve(job):
    asked = write_lines("/tmp/requirements.txt", job["requirements"])
    # Installs each package of a lock file at its locked version, even if the image has the package.
    exact = ["--require-hashes", "--no-deps", "--ignore-installed"] if job.get("locked") else []
    pip(job, "install", "--dry-run", "--report", "/tmp/report.json", *index_options(job), *exact, "--requirement", asked)
    if exact:
        check_complete("/tmp/report.json")
    with open("/tmp/report.json", "rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()


def check_wheels(job, folder):
    """Adds up the sizes in the wheels' directories. zipfile fails when a file unpacks to more than its size there."""
    size = number = 0
    for path in glob.glob(f"{folder}/*"):
        with zipfile.ZipFile(path) as wheel:
            for entry in wheel.infolist():
                size, number = size + entry.file_size, number + 1
                check_caps(job, size, number)


def check_caps(job, size, number):
    if size > job["unpacked_bytes"]:
        raise Failure(f"codebox: too-large {job['unpacked_bytes'] >> 20}")
    if number > job["files"]:
        raise Failure(f"codebox: too-many {job['files']}")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def drop_start_up_code():
    """Removes the files that Python runs at its start, before the kernel installs the guard: the module
    `site` runs .pth files and imports sitecustomize and usercustomize, and Debian's sitecustomize
    imports apport_python_hook if that module exists."""
    for name in os.listdir(TARGET):
        if name.endswith(".pth") or name.partition(".")[0] in ("sitecustomize", "usercustomize", "apport_python_hook"):
            path = os.path.join(TARGET, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def owners_of_modules(job):
    """Maps each module of the image to the packages that contain it. The image's list names only modules
    that programs import; the metadata of the packages names the others."""
    owners = {name.partition(".")[0]: set() for folder in IMAGE for name in os.listdir(folder)}
    listed = [(package["name"], package["modules"]) for package in job["image"]]
    for distribution in importlib.metadata.distributions(path=IMAGE):
        listed.append((distribution.metadata["Name"], (distribution.read_text("top_level.txt") or "").split()))
    for package, modules in listed:
        for module in modules:
            owners.setdefault(module, set()).add(package)
    return owners


def written_names():
    """Yields (package, its folder of metadata, name in TARGET) for each file that pip wrote. Reads pip's
    records, which list every written file, and possibly others."""
    for record in glob.glob(f"{TARGET}/*.dist-info/RECORD"):
        folder = pathlib.Path(record).parent
        package = importlib.metadata.PathDistribution(folder).metadata["Name"]
        with open(record, encoding="utf-8", newline="") as file:
            for row in filter(None, csv.reader(file)):
                inside = [part for part in os.path.normpath(row[0]).split("/") if part != ".."]
                yield canonical(package), folder.name, inside[0] if inside else ""


def imported_by_image(modules):
    """Returns the members of `modules` that modules of Python or of the image import if they exist, as
    pandas imports bottleneck."""
    names = b"|".join(re.escape(module.encode()) for module in modules)
    imports = re.compile(
        rb"^[ \t]*(?:from[ \t]+|import[ \t]+(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t]*)*)(" + names + rb")\b"
        rb"|import\w*\(\s*['\"](" + names + rb")\b",
        re.MULTILINE,
    )
    found = set()
    for root in (*IMAGE, os.path.dirname(os.__file__)):
        for folder, folders, files in os.walk(root):
            folders[:] = [each for each in folders if each not in ("tests", "test", "__pycache__")]
            for name in files:
                if name.endswith(".py"):
                    text = pathlib.Path(folder, name).read_bytes()
                    found.update((match[1] or match[2]).decode() for match in imports.finditer(text))
    return found


def may_bring(job, package, module):
    """Returns whether the package may contain the module: the two have one name, or the list of
    providers, for modules whose package has another name, has the package."""
    return canonical(module) == package or package in job.get("providers", {}).get(module, ())


def check_foreign(job, writers):
    """Fails if a package contains a module with the name of another package, and a module of the image or
    of Python imports that name: the module would run as a part of the importing library."""
    foreign = {}
    for name, packages in writers.items():
        module = name.partition(".")[0]
        strangers = [package for package in packages if not may_bring(job, package, module)]
        if strangers and module.isidentifier() and os.path.lexists(os.path.join(TARGET, name)):
            foreign[module] = min(strangers)
    for module in sorted(imported_by_image(foreign) if foreign else ()):
        owner = min(job.get("providers", {}).get(module, ()), default=canonical(module))
        raise Failure(f"codebox: brings {foreign[module]} {module} {owner}")


def check_modules(job):
    """Fails if a package replaces a module of Python, or a module of the image that belongs to a package
    of another name, even if that package is also installed: the kernel imports some of these modules,
    and Python imports one of them at its start."""
    owners = owners_of_modules(job)
    writers = collections.defaultdict(set)
    for package, metadata, name in written_names():
        if name.endswith(".dist-info") and name != metadata:
            raise Failure(f"codebox: brings {package} {name} {name.partition('-')[0]}")
        writers[name].add(package)
    for name in sorted(os.listdir(TARGET)):
        module = name.partition(".")[0]
        allowed = {canonical(owner) for owner in owners.get(module, ())}
        writer = min(writers[name], default="a-package")
        if module in sys.stdlib_module_names and not name.endswith(".dist-info"):
            raise Failure(f"codebox: brings {writer} {module} Python")
        if module in owners and not name.endswith(".dist-info") and not (writers[name] and writers[name] <= allowed):
            raise Failure(f"codebox: brings {writer} {module} {min(owners[module], default='the-image')}")
    check_foreign(job, writers)


def make_harmless(job):
    """Fails if the layer has an entry that is neither a folder nor a regular file with one name. Removes
    the special bits of the others; all users can read them, and only their owner can write them."""
    size = number = 0
    for folder, folders, files in os.walk(TARGET, topdown=False):
        for name in files + folders:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if stat.S_ISDIR(status.st_mode):
                os.chmod(path, 0o755)
            elif stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                size, number = size + status.st_size, number + 1
                os.chmod(path, 0o755 if status.st_mode & 0o100 else 0o644)
            else:
                raise Failure(f"codebox: no-file {os.path.basename(path)}")
            check_caps(job, size, number)
    os.chmod(TARGET, 0o755)


def compile_modules():
    """Compiles the modules for the kernel, which reads a compiled file next to its source. compileall
    executes no code, and skips a file that does not compile."""
    words = [sys.executable, "-I", "-m", "compileall", "-q", "--invalidation-mode", "timestamp", TARGET]
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def install(job):
    wanted = write_lines("/tmp/wanted.txt", (f"{name}=={version} --hash={hash}" for name, version, hash in job["packages"]))
    wheels = "/tmp/wheels"
    exact = ["--no-deps", "--require-hashes", "--requirement", wanted]
    pip(job, "download", "--dest", wheels, *index_options(job), *exact)
    check_wheels(job, wheels)
    tell(f"progress installing {len(job['packages'])} packages")
    os.mkdir(SCRATCH)
    pip(job, "install", "--no-index", "--find-links", wheels, "--no-compile", "--target", TARGET, *exact, environment={"TMPDIR": SCRATCH})
    shutil.rmtree(SCRATCH)
    shutil.rmtree(f"{TARGET}/bin", ignore_errors=True)
    drop_start_up_code()
    check_modules(job)
    make_harmless(job)
    compile_modules()
    make_harmless(job)


def watch_host():
    """Ends this program, and with it the container, when the host closes standard input: without a host, no process removes the container."""
    while os.read(0, 4096):
        pass
    os._exit(4)


def read_job():
    data = b""
    while not data.endswith(b"\n"):
        part = os.read(0, 1 << 16)
        if not part:
            os._exit(4)
        data += part
    job = json.loads(data)
    with open(REACH, "w", encoding="ascii") as file:
        json.dump({"index": job["index"], "unreachable": job["unreachable"]}, file)
    job["certificates"] = CERTIFICATES
    if job["ca"]:
        job["certificates"] = "/tmp/certificates.pem"
        with open(job["certificates"], "w", encoding="utf-8") as file:
            if os.path.exists(CERTIFICATES):
                with open(CERTIFICATES, encoding="utf-8") as own:
                    file.write(own.read() + "\n")
            file.write(job["ca"])
    return job


def main():
    if sys.argv[1:2] == ["pip"]:
        return run_pip(sys.argv[2:])
    job = read_job()
    threading.Thread(target=watch_host, daemon=True).start()
    try:
        {"resolve": resolve, "install": install}[job["task"]](job)
    except (Failure, OSError, ValueError, zipfile.BadZipFile) as error:
        if str(error):
            tell(str(error))
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
