/* SPDX-License-Identifier: MIT
 * Requirements with a version and hashes. */
#include "policies/versions/pinned.h"

#include "policies/packages.h"
#include "policies/versions/requirement.h"
#include "policies/versions/version.h"

#include <ctype.h>

static const struct cbx_str option = { .p = "--hash=sha256:", .len = 14 };
enum { SHA256_DIGITS = 64 };

bool cbx_pinned_is_sha256(struct cbx_str text)
{
    bool good = text.len == SHA256_DIGITS;
    for (size_t i = 0; good && i < text.len; i++) {
        good = (text.p[i] >= '0' && text.p[i] <= '9') || (text.p[i] >= 'a' && text.p[i] <= 'f');
    }
    return good;
}

bool cbx_pinned_is_plain_marker(struct cbx_str marker)
{
    bool good = marker.len > 0;
    for (size_t i = 0; good && i < marker.len; i++) {
        char c = marker.p[i];
        good = isalnum((unsigned char)c) || (c != '\0' && strchr("\" ._-+*!=<>~(),", c) != NULL);
    }
    return good;
}

struct cbx_str cbx_pinned_take_hash(struct cbx_str *hashes)
{
    struct cbx_str digits = cbx_str_sub(*hashes, option.len, option.len + SHA256_DIGITS);
    if (!cbx_str_starts(*hashes, option) || !cbx_pinned_is_sha256(digits)) {
        return CBX_STR("");
    }
    *hashes = cbx_str_sub(*hashes, option.len + SHA256_DIGITS, hashes->len);
    if (cbx_str_starts(*hashes, CBX_STR(" "))) {
        *hashes = cbx_str_sub(*hashes, 1, hashes->len);
    }
    return digits;
}

static bool are_hashes(struct cbx_str hashes)
{
    while (cbx_pinned_take_hash(&hashes).len > 0) {
        if (hashes.len == 0) {
            return true;
        }
    }
    return false;
}

/* "NAME==VERSION" or "NAME==VERSION ; MARKER", with no other blank. */
static bool read_requirement(struct cbx_str text, struct cbx_pinned *out)
{
    struct cbx_requirement r;
    struct cbx_pep440 version;
    if (!cbx_requirement_parse(text, &r) || r.extras.p != NULL || r.url.len > 0 ||
        !cbx_str_starts(r.specifiers, CBX_STR("=="))) {
        return false;
    }
    out->name = r.name;
    out->version = cbx_str_sub(r.specifiers, 2, r.specifiers.len);
    out->conditional = r.marker.p != NULL;
    size_t end = r.name.len + r.specifiers.len;
    if (out->conditional) {
        struct cbx_str rest = cbx_str_sub(text, end, text.len);
        if (!cbx_str_starts(rest, CBX_STR(" ; ")) || cbx_str_ends(rest, CBX_STR(" ")) ||
            !cbx_pinned_is_plain_marker(cbx_str_sub(rest, 3, rest.len))) {
            return false;
        }
        end = text.len;
    }
    bool plain = out->version.len > 0;
    for (size_t i = 0; plain && i < out->version.len; i++) {
        char c = out->version.p[i];
        plain = isalnum((unsigned char)c) || (c != '\0' && strchr(".+!_-", c) != NULL);
    }
    return plain && end == text.len && cbx_pep440_parse(out->version, &version);
}

bool cbx_pinned_parse(struct cbx_str line, struct cbx_pinned *out)
{
    *out = (struct cbx_pinned){ 0 };
    const char *at = line.len > 0 ? memmem(line.p, line.len, " --hash=", 8) : NULL;
    if (at == NULL || line.len > CBX_PINNED_BYTES_MAX) {
        return false;
    }
    size_t end = (size_t)(at - line.p);
    out->requirement = cbx_str_sub(line, 0, end);
    out->hashes = cbx_str_sub(line, end + 1, line.len);
    return !cbx_str_ends(line, CBX_STR(" ")) && are_hashes(out->hashes) &&
           read_requirement(out->requirement, out);
}
