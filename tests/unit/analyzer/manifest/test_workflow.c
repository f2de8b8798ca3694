/* SPDX-License-Identifier: MIT
 * Workflows of GitHub and pipelines of GitLab: the code of steps, its language, and expressions in
 * it. */
#include "tests/unit/analyzer/manifest/manifest_rig.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define STEPS       "jobs:\n  a:\n    steps:\n"

static void each_step_is_a_piece_in_the_language_of_its_shell(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "on: push\n", "" },
        { STEPS "    - run: ls\n    - uses: x\n    - run: |\n        a\n        b\n",
          "shell<ls>4:13shell<a\nb\n>8:10" },
        { STEPS "    - {run: x, shell: 'python {0}'}\n    - {run: y, shell: bash -e {0}}\n",
          "line 5, column 31: did not find expected ',' or '}'" },
        { STEPS "    - {run: x, shell: python}\n    - {run: y, shell: 'bash -e {0}'}\n",
          "python<x>4:13shell<y>5:13" },
        { STEPS "    - {run: x, shell: pwsh}\n    - {run: y}\n", "shell<y>5:13" },
        { "defaults: {run: {shell: python}}\n" STEPS "    - run: x\n", "python<x>5:12" },
        { "jobs:\n  a:\n    runs-on: windows-latest\n    steps: [{run: x}, {run: y, shell: sh}]\n",
          "shell<y>4:29" },
        { STEPS "    - uses: actions/github-script@v7\n      with: {script: x}\n",
          "javascript<x>5:22" },
        { STEPS "    - {uses: a/b@v7, with: {script: x}}\n", "" },
    };
    check_pieces(".github/workflows/a.yml", cases, COUNT(cases));
}

static void expressions_are_words_that_are_not_known(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { STEPS "    - run: echo ${{ matrix.x }} y\n", "shell<echo ${EXPRESSION} y>4:33" },
        { STEPS "    - run: echo ${{ format('}}') }}\n", "shell<echo ${EXPRESSION}>4:17" },
        { STEPS "    - run: echo ${{ x\n", "shell<echo ${{ x>4:21" },
        { STEPS "    - {run: 'x = ${{ y }}', shell: python}\n", "python<x = EXPRESSION>4:18" },
    };
    check_pieces(".github/workflows/a.yml", cases, COUNT(cases));
}

static void text_that_a_stranger_chooses_is_code(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { STEPS "    - run: echo ${{ github.event.issue.title }}\n", "sh.command 4:17-48" },
        { STEPS "    - run: |\n        x\n        echo '${{ github.head_ref }}'\n",
          "sh.command 6:15-37" },
        { STEPS "    - run: echo ${{ GitHub.Event['pull_request'].head.ref || 'x' }}\n",
          "sh.command 4:17-68" },
        { STEPS "    - run: echo ${{ toJSON(github.event) }}\n", "sh.command 4:17-44" },
        { STEPS "    - run: echo ${{ github.event.commits[0].message }}\n", "sh.command 4:17-55" },
        { STEPS "    - {run: 'x(\"${{ github.event.comment.body }}\")', shell: python}\n",
          "sh.command 4:17-49" },
        { STEPS "    - run: echo ${{ github.event.number }} ${{ github.sha }} ${{ inputs.x }}\n",
          "" },
        { STEPS "    - run: echo ${{ 'github.head_ref' }}\n", "" },
        { STEPS "    - run: echo \"$T\"\n      env: {T: '${{ github.head_ref }}'}\n", "" },
    };
    check(".github/workflows/a.yml", cases, COUNT(cases));
}

static void composite_actions_have_steps_too(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "runs:\n  using: composite\n  steps:\n  - {run: x, shell: bash}\n", "shell<x>4:11" },
        { "runs: {using: node20, main: x.js}\n", "" },
        { "runs: []\n", "line 1, column 1: 'runs' is a list, allowed is a table" },
    };
    check_pieces("action.yml", cases, COUNT(cases));
}

static void scripts_of_gitlab_are_one_piece_each(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "stages: [a]\nvariables: {script: x}\nj:\n  script:\n  - a\n  - - b\n    - \"c\"\n"
          "  after_script: d\n",
          "shell<a\nb\nc\n>7:8shell<d\n>8:17" },
        { "before_script: [x]\ndefault: {before_script: [y]}\n", "shell<x\n>1:17shell<y\n>2:27" },
        { "spec: {inputs: {v: {}}}\n---\nj:\n  script: [echo $[[ inputs.v ]]]\n",
          "line 4, column 18: did not find expected ',' or ']'" },
        { "spec: {inputs: {v: {}}}\n---\nj:\n  script: ['echo $[[ inputs.v ]]']\n",
          "shell<echo ${INPUT}\n>4:32" },
        { "j:\n  script: [!reference [.a, script], x]\n", "shell<x\n>2:37" },
        { "j:\n  script:\n  - a: b\n", "line 3, column 5: a line of a script that is no text" },
        { "j: {trigger: x}\n.k: &k {script: [a]}\nl: {<<: *k}\n", "shell<a\n>2:18" },
    };
    check_pieces(".gitlab-ci.yml", cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_is_a_piece_in_the_language_of_its_shell),
        cmocka_unit_test(expressions_are_words_that_are_not_known),
        cmocka_unit_test(text_that_a_stranger_chooses_is_code),
        cmocka_unit_test(composite_actions_have_steps_too),
        cmocka_unit_test(scripts_of_gitlab_are_one_piece_each),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
