/* SPDX-License-Identifier: MIT
 * Reports to the supervisor (docker/inside/confine/guard_report.h). */
#include "docker/inside/python_guard/python_guard.h"

#include "docker/inside/confine/guard_report.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

uint32_t cbx_hook_refused;

static uint64_t secret;
static PyObject *fallback; /* NULL: the supervisor is notified */

static long send_report(uint64_t what, const char *text)
{
    return syscall(SYS_prctl, CBX_REPORT_OPTION, what, text, text != NULL ? strlen(text) : 0,
                   secret);
}

void cbx_hook_introduce(PyObject *otherwise)
{
    while (getrandom(&secret, sizeof(secret), 0) != (ssize_t)sizeof(secret) || secret == 0) {
    }
    if (send_report(CBX_REPORT_SECRET, NULL) != 0) {
        fallback = otherwise;
        Py_INCREF(fallback);
    }
}

bool cbx_hook_report(uint32_t row, const char *what)
{
    if (fallback == NULL) {
        send_report(CBX_REPORT_REFUSED | row, what);
        return true;
    }
    PyObject *done = PyObject_CallFunction(fallback, "Is", (unsigned)row, what);
    Py_XDECREF(done);
    return done != NULL;
}

int cbx_hook_refuse(uint32_t row, const char *what, PyObject *name)
{
    if (!cbx_hook_report(row, what)) {
        return -1;
    }
    errno = EACCES;
    if (name != NULL) {
        PyErr_SetFromErrnoWithFilenameObject(PyExc_PermissionError, name);
    } else {
        PyErr_SetFromErrno(PyExc_PermissionError);
    }
    return -1;
}

bool cbx_hook_was_sent(uint8_t type, uint64_t offset)
{
    return fallback != NULL ||
           syscall(SYS_prctl, CBX_REPORT_OPTION, CBX_REPORT_FRAME | type, offset, 0, secret) == 0;
}

void cbx_hook_lines(bool may_start)
{
    send_report(may_start ? CBX_REPORT_LINES : CBX_REPORT_DONE, NULL);
}
