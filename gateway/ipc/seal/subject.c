/* SPDX-License-Identifier: MIT
 * Subjects as JSON. */
#include "gateway/ipc/seal/subject.h"

static const char *const action_names[] = {
    [CBX_ACTION_CHECK] = "check",     [CBX_ACTION_OPEN] = "open",
    [CBX_ACTION_RUN] = "run",         [CBX_ACTION_FILE] = "file",
    [CBX_ACTION_RESOLVE] = "resolve", [CBX_ACTION_INSTALL] = "install",
};
enum { ACTIONS = sizeof(action_names) / sizeof(action_names[0]) };

const char *cbx_action_name(enum cbx_action action)
{
    return (unsigned)action < ACTIONS ? action_names[action] : "check";
}

enum cbx_action cbx_action_of(struct cbx_str name)
{
    for (unsigned i = 0; i < ACTIONS; i++) {
        if (cbx_str_is(name, action_names[i])) {
            return (enum cbx_action)i;
        }
    }
    return CBX_ACTION_CHECK;
}

const struct cbx_asked *cbx_subject_asked(const struct cbx_subject *subject)
{
    return subject->asked != NULL ? subject->asked : &cbx_asked_nothing;
}

void cbx_claim_write(const char *name, struct cbx_str claim, json_t *into)
{
    if (claim.len > 0) {
        json_object_set_new(into, name, cbx_json_text(claim));
    }
}

void cbx_claim_copy(const json_t *from, json_t *into)
{
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)
#define CBX_CLAIM(member, max_bytes, meaning)                                                      \
    cbx_claim_write(#member, cbx_json_str(json_object_get(from, #member)), into);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
}

void cbx_subject_write(const struct cbx_subject *subject, json_t *into)
{
#define CBX_SUBJECT(member, max_bytes, in_permit, meaning)                                         \
    json_object_set_new(into, #member, cbx_json_text(subject->member));
#define CBX_CLAIM(member, max_bytes, meaning) cbx_claim_write(#member, subject->member, into);
#include "gateway/ipc/seal/subject.def"
#undef CBX_SUBJECT
}
