/* SPDX-License-Identifier: MIT
 * Options about the authentication of callers, the file of shared tokens among them, and the names
 * of the server. */
#include "gateway/cli/settings/identity_options.h"

#include "gateway/identity/tokens.h"
#include "gateway/ipc/jail/trusted.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

size_t cbx_options_hosts(const struct cbx_options *options, char own[300],
                         const char *hosts[CBX_HOSTS_MAX + 1])
{
    size_t count = 0;
    const char *url = options->public_url != NULL ? strstr(options->public_url, "://") : NULL;
    for (; count < options->hosts.count && count < CBX_HOSTS_MAX; count++) {
        hosts[count] = options->hosts.items[count];
    }
    if (url != NULL) {
        snprintf(own, 300, "%s", url + 3);
        hosts[count++] = own;
    }
    return count;
}

int cbx_options_check_url(const char *url, struct cbx_err *err)
{
    const char *host = url != NULL ? strstr(url, "://") : NULL;
    bool good =
        url == NULL || (host != NULL && strlen(url) < 256 && host[3] != '\0' &&
                        (strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0));
    for (const char *p = good && host != NULL ? host + 3 : ""; *p != '\0' && good; p++) {
        good = (*p >= '0' && *p <= '9') || ((*p | 32) >= 'a' && (*p | 32) <= 'z') ||
               strchr(".-:[]", *p) != NULL;
    }
    if (!good) {
        return cbx_fail(err, CBX_EINVAL,
                        "--public-url is '%.200s', allowed is https://HOST or http://HOST, "
                        "maybe with :PORT, without a path",
                        url);
    }
    return 0;
}

static int read_all(int fd, struct cbx_buf *out, struct cbx_err *err)
{
    char chunk[65536];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof(chunk))) > 0) {
        int failed = cbx_buf_add_bytes(out, chunk, (size_t)n);
        if (failed) {
            return cbx_fail(err, CBX_EINVAL, "the file of tokens has more than %d bytes",
                            CBX_TOKENS_FILE_MAX);
        }
    }
    if (n < 0) {
        return cbx_fail(err, CBX_EINVAL, "the file of tokens cannot be read: %s", strerror(errno));
    }
    return 0;
}

int cbx_options_tokens_read(const struct cbx_options *options, struct cbx_buf *out,
                            struct cbx_err *err)
{
    static const struct cbx_trusted_kind kind = {
        .what = "the file of tokens",
        .advice = "it decides who is let in: give it to root or to the user of the gateway",
        .code = CBX_EINVAL,
        .file = true
    };
    CBX_AUTO_FD fd = -1;
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO(tokens) tokens = NULL;
    cbx_buf_init(&text, CBX_TOKENS_FILE_MAX);
    if (options->tokens_file == NULL) {
        return 0;
    }
    if (cbx_trusted_open(&kind, options->tokens_file, &fd, err) != 0) {
        err->code = CBX_EINVAL; /* also if the file is absent */
        return CBX_EINVAL;
    }
    int failed = read_all(fd, &text, err);
    if (failed) {
        return cbx_err_detail(err, "'%s'", options->tokens_file);
    }
    if (cbx_tokens_read(cbx_buf_str(&text), &tokens, err) != 0) {
        err->code = CBX_EINVAL;
        return cbx_err_detail(err,
                              "'%s'; allowed are lines that 'codebox token create' and 'codebox "
                              "token revoke' wrote",
                              options->tokens_file);
    }
    return cbx_buf_add(out, cbx_buf_str(&text));
}

void cbx_options_identity_config(const struct cbx_options *options, const struct cbx_buf *tokens,
                                 char folder[PATH_MAX], struct cbx_identity_config *out)
{
    const char *file = options->settings_path, *slash = file != NULL ? strrchr(file, '/') : NULL;
    snprintf(folder, PATH_MAX, "%.*s", slash != NULL ? (int)(slash - file) : 0,
             slash != NULL ? file : "");
    *out = (struct cbx_identity_config){
        .state_dir = options->state_dir,
        .principals = options->sections[CBX_SETTINGS_principals],
        .issuers = options->sections[CBX_SETTINGS_issuers],
        .folder = slash != NULL && slash != file ? folder : NULL,
        .tokens = options->tokens_file != NULL ? cbx_buf_str(tokens) : (struct cbx_str){ 0 },
        .public_url = options->public_url,
    };
}

int cbx_options_check_principals(const struct cbx_options *options,
                                 const struct cbx_policies *policies, struct cbx_err *err)
{
    static const enum cbx_settings_section sections[] = { CBX_SETTINGS_principals,
                                                          CBX_SETTINGS_issuers };
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        const struct cbx_yaml *section = options->sections[sections[i]];
        int failed = 0;
        if (section != NULL) {
            failed = cbx_principals_check_policies(section, policies, err);
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_listen_check(const struct cbx_listen_address *address, const struct cbx_identity *identity,
                     struct cbx_err *err)
{
    if (!address->loopback && identity == NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "--listen is '%s': whoever reaches an address that is not loopback could "
                        "run code, for nobody is authenticated; 'codebox token create --principal "
                        "NAME' makes a token, and from then on every caller needs one",
                        address->host);
    }
    return 0;
}
