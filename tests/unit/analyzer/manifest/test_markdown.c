/* SPDX-License-Identifier: MIT
 * Fenced blocks of Markdown (CommonMark), their languages and prompts, and commands of skills. */
#include "tests/unit/analyzer/manifest/manifest_rig.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static void fences_follow_commonmark(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "```sh\na\n```\nb\n", "shell<a\n>2:2" },
        { "~~~ sh\na\n```\n~~~~\nb", "shell<a\n```\n>3:4" },
        { "````sh\na\n```\nb\n`````  \nc\n", "shell<a\n```\nb\n>4:2" },
        { "   ```sh\n   a\n     b\n  ```\n", "shell<a\n  b\n>3:7" },
        { "    ```sh\n    a\n    ```\n", "" },
        { "```sh\na", "shell<a>2:1" },
        { "``sh\na\n``\n", "" },
        { "``` sh`x\na\n```\n", "" },
        { "~~~ sh`x\na\n~~~\n", "shell<a\n>2:2" },
        { "```sh\n    ```\n```\n", "shell<    ```\n>2:8" },
        { "> ```sh\n> a\n>b\n> ```\nc\n", "shell<a\nb\n>3:3" },
        { "> ```sh\n> a\nb\n", "shell<a\n>2:4" },
        { "- x\n\n  ```sh\n  a\n  ```\n", "shell<a\n>4:4" },
        { "1. ```sh\n   a\n\n   b\n   ```\n", "shell<a\n\nb\n>4:5" },
        { "- ```sh\n  a\nb\n", "shell<a\n>2:4" },
        { "- x\n  - y\n\n        z\n    ```sh\n    a\n    ```\n", "shell<a\n>6:6" },
        { "10) > ```sh\n    > a\n    > ```\n", "shell<a\n>2:8" },
        { "-\t```sh\n\ta\n\t```\n", "shell<a\n>2:3" },
        { "text\n```sh\na\n```\n```sh\nb\n```", "shell<a\n>3:2shell<b\n>6:2" },
        { "<!--\n```sh\na\n```\n-->\n", "shell<a\n>3:2" },
    };
    check_pieces("a.md", cases, COUNT(cases));
}

static void the_first_word_of_the_info_string_is_the_language(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "```Python title=\"x\"\na\n```\n", "python<a\n>2:2" },
        { "```{python}\na\n```\n", "python<a\n>2:2" },
        { "```js{1,3}\na\n```\n", "javascript<a\n>2:2" },
        { "```tsx\na\n```\n```c\nb\n```\n", "typescript<a\n>2:2c<b\n>5:2" },
        { "```json\na\n```\n```\nb\n```\n```c++\nc\n```\n", "" },
    };
    check_pieces("a.markdown", cases, COUNT(cases));
}

static void lines_behind_prompts_are_code_and_the_others_output(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "```console\n$ a \\\n  b\nout\n$ c\n> d\n```\n", "shell<a \\\n  b\nc\nd\n>6:4" },
        { "```bash\n$ a\nout\n```\n", "shell<a\n>2:4" },
        { "```bash\n$x a\n```\n", "shell<$x a\n>2:5" },
        { "```pycon\n>>> a\n>>> if b:\n...     c\n...\nout\n```\n",
          "python<a\nif b:\n    c\n\n>5:4" },
        { "```python\n>>> a\n1\n```\n", "python<a\n>2:6" },
    };
    check_pieces("a.md", cases, COUNT(cases));
}

static void skills_have_commands_of_their_own(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "---\nname: x\nhooks:\n  Stop:\n    - hooks:\n        - {type: command, command: a}\n"
          "---\n```sh\nb\n```\n",
          "shell<a>6:36shell<b\n>9:2" },
        { "x: !`a b` and !`c`\n", "shell<a b>1:8shell<c>1:17" },
        { "```!\na\n```\n", "shell<a\n>2:2" },
        { "---\na: b: c\n---\n```sh\nb\n```\n", "shell<b\n>5:2" },
        { "---\n```sh\na\n```\n", "shell<a\n>3:2" },
    };
    check_pieces("x/SKILL.md", cases, COUNT(cases));
    static const struct expected ordinary[] = { { "!`a b`\n", "" } };
    check_pieces("a.md", ordinary, COUNT(ordinary));
}

static void blocks_in_other_languages_of_a_skill_are_noted(void **state)
{
    (void)state;
    struct cbx_manifest manifest;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 4096);
    const char *text = "```ruby\na\n```\n```json\n{}\n```\n```rs\nb\n```\n";
    assert_true(read_manifest("SKILL.md", text, &manifest, &out));
    assert_int_equal(manifest.skip_count, 2);
    assert_string_equal(manifest.skips[0].language.p, "Ruby");
    assert_string_equal(manifest.skips[1].language.p, "Rust");
    assert_true(read_manifest("a.md", text, &manifest, &out));
    assert_int_equal(manifest.skip_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences_follow_commonmark),
        cmocka_unit_test(the_first_word_of_the_info_string_is_the_language),
        cmocka_unit_test(lines_behind_prompts_are_code_and_the_others_output),
        cmocka_unit_test(skills_have_commands_of_their_own),
        cmocka_unit_test(blocks_in_other_languages_of_a_skill_are_noted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
