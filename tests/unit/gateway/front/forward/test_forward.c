/* SPDX-License-Identifier: MIT
 * Requests over links; a thread is the process of links and the other replica. */
#include "gateway/front/forward/forward.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "gateway/ipc/wire/replica_channel.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINKS_MAX = 8 };

static struct {
    struct cbx_replicas replicas;
    struct cbx_forwarder *forwarder;
    int channel[2];
    atomic_int opened, links[LINKS_MAX];
    const char *first; /* response to the first request of each link */
    bool goes_on;      /* every request of the first link is answered, no other link is accepted */
    char asked[1024];  /* the first words of its requests */
    pthread_t thread;
} rig;

/* Answers a request; false at the end of the link. */
static bool serve_request(int fd)
{
    char bytes[4096];
    ssize_t n = read(fd, bytes, sizeof(bytes) - 1);
    if (n <= 0) {
        return false;
    }
    bytes[n] = '\0';
    size_t len = strlen(rig.asked);
    snprintf(rig.asked + len, sizeof(rig.asked) - len, "%.*s, ", (int)strcspn(bytes, "\r"), bytes);
    assert_true(write(fd, rig.first, strlen(rig.first)) > 0);
    return true;
}

static void *serve_links(void *context)
{
    (void)context;
    int fd;
    char tag;
    struct cbx_err err;
    while (cbx_wire_receive_fd(rig.channel[1], &fd, &tag, &err) == 0) {
        rig.links[rig.opened] = fd;
        rig.opened++;
        assert_true(write(fd, CBX_LINK_UP, strlen(CBX_LINK_UP)) > 0);
        while (serve_request(fd) && rig.goes_on) {
        }
    }
    return NULL;
}

static int begin(void **state)
{
    static const char *const rows[] = { "a=h:1", "b=h:2" };
    struct cbx_err err;
    (void)state;
    rig.opened = 0;
    rig.goes_on = false;
    rig.asked[0] = '\0';
    assert_int_equal(cbx_replicas_read("a", rows, 2, &rig.replicas, &err), 0);
    assert_int_equal(cbx_wire_pair(rig.channel, &err), 0);
    rig.forwarder = cbx_forwarder_new(&rig.replicas, rig.channel[0]);
    return pthread_create(&rig.thread, NULL, serve_links, NULL);
}

static int end(void **state)
{
    (void)state;
    shutdown(rig.channel[0], SHUT_RDWR);
    cbx_forwarder_free(rig.forwarder); /* closes the links that wait for a request */
    pthread_join(rig.thread, NULL);
    for (int i = 0; i < rig.opened; i++) {
        close(rig.links[i]);
    }
    close(rig.channel[0]);
    close(rig.channel[1]);
    return 0;
}

static int send_request(const char *method)
{
    const struct cbx_http_request request = {
        .method = cbx_str_of(method), .path = CBX_STR("/v1/sessions"), .address = "", .id = "r"
    };
    struct cbx_http_response response = { 0 };
    cbx_forward(rig.forwarder, &rig.replicas.others[0], &request, NULL, &response);
    json_decref(response.json);
    json_decref(response.relayed);
    free(response.bytes);
    return response.status;
}

static void a_link_that_is_silent_is_replaced_for_what_only_reads(void **state)
{
    (void)state;
    rig.first = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert_int_equal(send_request("GET"), 200);
    assert_int_equal(rig.opened, 1);
    assert_int_equal(send_request("GET"), 200); /* the first link gives no answer */
    assert_int_equal(rig.opened, 2);
    assert_int_equal(send_request("POST"),
                     200); /* nor does the second one confirm that it is open */
    assert_int_equal(rig.opened, 3);
}

static void what_may_change_something_goes_over_a_link_that_was_confirmed(void **state)
{
    (void)state;
    rig.first = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    rig.goes_on = true;
    assert_int_equal(send_request("GET"), 200);
    assert_int_equal(send_request("POST"), 200);
    assert_int_equal(send_request("POST"), 200);
    assert_int_equal(rig.opened, 1);
    end(NULL); /* the links are closed: the thread has written what it saw */
    assert_string_equal(rig.asked, "GET /v1/sessions HTTP/1.1, GET /livez HTTP/1.1, POST "
                                   "/v1/sessions HTTP/1.1, GET /livez HTTP/1.1, POST "
                                   "/v1/sessions HTTP/1.1, ");
    begin(NULL);
}

static void a_link_whose_replica_says_that_it_is_not_well_is_replaced(void **state)
{
    (void)state;
    rig.first = "HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno";
    rig.goes_on = true;
    assert_int_equal(send_request("GET"), 503);
    shutdown(rig.channel[1], SHUT_RDWR); /* no other link is accepted */
    assert_int_equal(send_request("POST"), 503);
    end(NULL);
    assert_null(strstr(rig.asked, "POST"));
    begin(NULL);
}

static void a_link_that_is_closed_is_replaced(void **state)
{
    (void)state;
    rig.first = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert_int_equal(send_request("GET"), 200);
    shutdown(rig.links[0], SHUT_RDWR);
    assert_int_equal(send_request("GET"), 200);
    assert_int_equal(rig.opened, 2);
}

static void a_response_that_is_none_is_502_only_for_what_may_have_an_effect(void **state)
{
    (void)state;
    rig.first = "SSH-2.0-x\r\n\r\n";
    assert_int_equal(send_request("GET"), 503);
    assert_int_equal(send_request("POST"), 502);
}

static void a_response_that_is_larger_than_what_may_be_collected_fails(void **state)
{
    (void)state;
    rig.first = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nlarger";
    cbx_forwarder_set_max_bytes(rig.forwarder, 6);
    for (int i = 0; i < 3; i++) { /* nothing is held after a response */
        assert_int_equal(send_request("POST"), 200);
    }
    cbx_forwarder_set_max_bytes(rig.forwarder, 5);
    assert_int_equal(send_request("POST"), 502);
    assert_int_equal(send_request("GET"), 503);
}

static void a_replica_does_not_set_the_headers_that_protect_a_browser(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool has_policy;
    } rows[] = { { "/v1/sessions", false }, { "/", true } };
    rig.first = "HTTP/1.1 200 OK\r\nX-Request-Id: 0\r\ncache-control: public\r\n"
                "X-Content-Type-Options: none\r\nStrict-Transport-Security: max-age=0\r\n"
                "Content-Security-Policy: default-src *\r\nContent-Type: text/html\r\n"
                "Content-Length: 2\r\n\r\nok";
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct cbx_http_request request = {
            .method = CBX_STR("POST"), .path = cbx_str_of(rows[i].path), .address = "", .id = "r"
        };
        struct cbx_http_response response = { 0 };
        cbx_forward(rig.forwarder, &rig.replicas.others[0], &request, NULL, &response);
        assert_int_equal(response.status, 200);
        assert_int_equal(json_object_size(response.relayed), rows[i].has_policy ? 2 : 1);
        assert_non_null(json_object_get(response.relayed, "Content-Type"));
        assert_int_equal(json_object_get(response.relayed, "Content-Security-Policy") != NULL,
                         rows[i].has_policy);
        json_decref(response.relayed);
        free(response.bytes);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_link_that_is_silent_is_replaced_for_what_only_reads,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            what_may_change_something_goes_over_a_link_that_was_confirmed, begin, end),
        cmocka_unit_test_setup_teardown(a_link_whose_replica_says_that_it_is_not_well_is_replaced,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_link_that_is_closed_is_replaced, begin, end),
        cmocka_unit_test_setup_teardown(
            a_response_that_is_none_is_502_only_for_what_may_have_an_effect, begin, end),
        cmocka_unit_test_setup_teardown(a_response_that_is_larger_than_what_may_be_collected_fails,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_replica_does_not_set_the_headers_that_protect_a_browser,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
