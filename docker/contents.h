/* SPDX-License-Identifier: MIT
 * What an image has: the runtime of its language, and the packages that programs may load. The build asks the image itself and stores
 * the answer as a label of the image (docker/images/build), so it belongs to the image's id and no sandbox can change it. Pure: a text
 * in, a checked list out. */
#ifndef CBX_DOCKER_CONTENTS_H
#define CBX_DOCKER_CONTENTS_H

#include "policies/base/auto.h"
#include "policies/base/buf.h"
#include "policies/base/json.h"

#define CBX_LABEL_CONTENTS "codebox.contents"

enum { CBX_CONTENTS_MAX_BYTES = 64 * 1024, CBX_CONTENTS_PACKAGES_MAX = 2000 };

/* A package. Names and versions have letters, digits and ".-_+~@/!" alone. */
struct cbx_image_package {
    struct cbx_str name, version;
    const json_t *modules; /* the names that programs import, strings; may be empty */
};

/* Borrowed from `json`. Zeroed memory is an empty list. */
struct cbx_contents {
    json_t *json;
    struct cbx_str runtime, runtime_version; /* "Python", "3.13.5" */
    struct cbx_image_package *packages;      /* in the order of the label */
    size_t count;
};

/* Reads a label: {"version":1, "runtime":{name,version}, "packages":[{name,version,modules}]}. CBX_EINVAL for anything else, CBX_ETOOBIG
 * above the limits; *out is then empty. Frees with cbx_contents_done. */
int cbx_contents_read(struct cbx_str label, struct cbx_contents *out, struct cbx_err *err);
void cbx_contents_done(struct cbx_contents *contents);
CBX_DEFINE_AUTO_DONE(contents)

/* The package of this name, as PEP 503 compares names; NULL when there is none. */
const struct cbx_image_package *cbx_contents_find(const struct cbx_contents *contents,
                                                  struct cbx_str name);

/* The package that has a module of this name, whatever its case; NULL when there is none. */
const struct cbx_image_package *cbx_contents_provider(const struct cbx_contents *contents,
                                                      struct cbx_str module);

/* Appends the names of at most three packages whose names, or modules, are like this one: "'scipy'", "'lxml' or 'html5lib'". False when
 * there are none. */
bool cbx_contents_add_nearest(const struct cbx_contents *contents, struct cbx_str name,
                              struct cbx_buf *out);

/* Appends one package: "numpy 1.24.2", and the modules where their names differ from the package's: "beautifulsoup4 4.11.2 (import bs4)". */
void cbx_image_package_add(const struct cbx_image_package *package, struct cbx_buf *out);

#endif
