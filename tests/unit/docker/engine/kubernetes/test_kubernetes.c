/* SPDX-License-Identifier: MIT
 * Sandboxes as Pods of a cluster: what is asked of an API server, and its faults. */
#include "docker/engine/kubernetes/kube.h"
#include "docker/sandbox/sandbox.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "tests/unit/docker/engine/kubernetes/fake_cluster.h"

static struct cbx_engine *engine;
static struct cbx_sandbox_config config = { .instance = "unit", .secret = "secret" };
static struct cbx_err err;
static struct cbx_limits limits;

static int begin_test(void **state)
{
    (void)state;
    cluster_start();
    cbx_limits_default(&limits);
    limits.isolation = CBX_ISOLATION_CONTAINER;
    limits.memory_bytes = 256 << 20;
    limits.disk_bytes = 16 << 20;
    memset(&err, 0, sizeof(err));
    assert_int_equal(cbx_engine_new(cluster.host, &engine, &err), 0);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    cbx_engine_free(engine);
    cluster_stop();
    return 0;
}

static int prepare(struct cbx_sandbox **out)
{
    return cbx_sandbox_prepare(engine, &config, "python", &limits, NULL, out, &err);
}

static struct cbx_sandbox *prepared(void)
{
    struct cbx_sandbox *sandbox = NULL;
    if (prepare(&sandbox) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    return sandbox;
}

static struct cbx_permit permit_for(const char *source)
{
    struct cbx_permit p = { .decision = "d1",
                            .session = "s1",
                            .principal = "ann",
                            .policy = "strict",
                            .language = "ipython",
                            .action = CBX_ACTION_RUN,
                            .limits = limits };
    p.source_sha256 = cbx_sha256_of(cbx_str_of(source));
    return p;
}

static void assert_fails(int code, const char *text, const char *detail)
{
    CBX_AUTO(sandbox) sandbox = NULL;
    assert_int_equal(prepare(&sandbox), code);
    assert_string_equal(err.text, text);
    if (strstr(err.detail, detail) == NULL) {
        fail_msg("'%s' is not in '%s'", detail, err.detail);
    }
}

static int count_watches(void)
{
    pthread_mutex_lock(&fake.lock);
    int count = cluster.watches;
    pthread_mutex_unlock(&fake.lock);
    return count;
}

static void assert_no_pod_left(void)
{
    FAKE_AWAIT(json_object_size(cluster.pods) == 0);
}

/* --- a sandbox -------------------------------------------------------------------------------- */

static void a_program_runs_in_a_pod(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = prepared();
    struct cbx_permit p = permit_for("1");
    struct cbx_result result = { 0 };
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), 0);
    p.ledger = *cbx_sandbox_ledger(sandbox);
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), NULL, &result, &err), 0);
    assert_int_equal(result.status, CBX_RUN_OK);
    cbx_result_done(&result);
    cbx_sandbox_free(cbx_steal(&sandbox));
    assert_no_pod_left();
    assert_string_equal(cluster.token, "first");
}

static void a_restarted_gateway_adopts_the_sandbox_of_a_pod(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = prepared();
    struct cbx_permit p = permit_for("1");
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), 0);
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_TAG) != NULL);
    CBX_AUTO(sandbox) again = NULL;
    if (cbx_sandbox_adopt(engine, &config, cbx_sandbox_id(sandbox), &again, &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    assert_string_equal(cbx_sandbox_session(again), "s1");
    CBX_AUTO_JSON ids = NULL;
    assert_int_equal(cbx_engine_container_running(engine, CBX_LABEL_INSTANCE "=unit", &ids, &err),
                     0);
    assert_int_equal(json_array_size(ids), 1);
    assert_string_equal(json_string_value(json_array_get(ids, 0)), cbx_sandbox_id(sandbox));
    cbx_sandbox_detach(cbx_steal(&sandbox));
}

static void many_pods_start_at_once_by_one_watch(void **state)
{
    (void)state;
    struct cbx_sandbox *all[12];
    for (size_t i = 0; i < 12; i++) {
        all[i] = prepared();
    }
    assert_int_equal(count_watches(), 1);
    for (size_t i = 0; i < 12; i++) {
        cbx_sandbox_free(all[i]);
    }
    assert_no_pod_left();
}

/* --- faults of the API server ----------------------------------------------------------------- */

static void a_full_quota_is_said_with_the_time_to_retry(void **state)
{
    (void)state;
    cluster.status = 403;
    cluster.message = "pods \"x\" is forbidden: exceeded quota: boxes, requested: pods=1";
    assert_fails(CBX_EQUOTA, "the cluster's quota for sandboxes is used up", "ResourceQuota");
    assert_true(err.retry_s > 0);
    assert_no_pod_left();
}

static void refusals_of_the_cluster_name_the_remedy(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *message, *text, *detail;
    } rows[] = {
        { 403, "pods is forbidden: User \"u\" cannot create resource \"pods\"",
          "the gateway lacks a right in the cluster", "pods/exec (create, get)" },
        { 403, "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": seccomp",
          "the cluster's Pod security refuses sandboxes", "label the namespace" },
        { 403, "pods \"x\" is forbidden: pod rejected: RuntimeClass \"codebox\" not found",
          "the cluster has no RuntimeClass of this name", "--runtime" },
        { 404, "namespaces \"boxes\" not found", "the cluster has no such namespace", "create it" },
        { 422, "Pod \"x\" is invalid: spec.x: Required value",
          "the cluster refuses the sandbox's Pod", "spec.x" },
        { 500, "failed calling webhook \"w\": connection refused",
          "an admission webhook of the cluster refuses sandboxes", "exclude" },
        { 503, "etcdserver: leader changed",
          "the cluster refused to create a pod (HTTP status 503)", "leader changed" },
        { 401, "Unauthorized", "the cluster does not accept the gateway's credentials", "renew" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cluster.status = rows[i].status;
        cluster.message = rows[i].message;
        assert_fails(CBX_EENGINE, rows[i].text, rows[i].detail);
    }
}

static void an_overloaded_api_server_is_asked_again(void **state)
{
    (void)state;
    cluster.busy = 2;
    CBX_AUTO(sandbox) sandbox = prepared();
    assert_non_null(sandbox);
}

static void a_token_that_was_rotated_is_read_again(void **state)
{
    (void)state;
    char path[128];
    cluster_write(path, "token", "second\n");
    cluster.token_refused = 1;
    CBX_AUTO(sandbox) sandbox = prepared();
    assert_non_null(sandbox);
    assert_string_equal(cluster.token, "second");
}

static void an_api_server_that_is_gone_is_said_with_its_address(void **state)
{
    (void)state;
    shutdown(cluster.listening, SHUT_RDWR);
    for (int i = 0; i < cluster.connections; i++) {
        shutdown(cluster.fds[i], SHUT_RDWR);
    }
    assert_fails(CBX_EENGINE, "the cluster does not answer", "http://127.0.0.1:");
}

static void a_pod_whose_creation_was_repeated_is_removed(void **state)
{
    (void)state;
    cluster.lost_posts = 1;
    assert_fails(CBX_EBUSY, "the cluster is changing the sandbox already", "already exists");
    assert_non_null(strstr(cluster.calls, "remove"));
    assert_no_pod_left();
}

static void only_names_that_a_request_path_can_have_are_listed(void **state)
{
    (void)state;
    CBX_AUTO_JSON ids = NULL;
    cluster.list =
        "{\"items\":[{\"metadata\":{\"name\":\"codebox-1/../../secrets/"
        "x\"}},{\"metadata\":{\"name\":"
        "\"codebox-0000000000000000000000000000000000000000000000000000000x-long\"}},{\"metadata\":"
        "{\"name\":7}},{\"metadata\":{\"name\":\"\"}},{},5,{\"metadata\":{\"name\":\"codebox-2\"},"
        "\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"state\":{\"running\":{}}}]}}]"
        "}";
    assert_int_equal(cbx_engine_container_running(engine, CBX_LABEL_INSTANCE "=unit", &ids, &err),
                     0);
    assert_int_equal(json_array_size(ids), 1);
    assert_string_equal(json_string_value(json_array_get(ids, 0)), "codebox-2");
}

static void a_list_that_does_not_end_fails(void **state)
{
    (void)state;
    CBX_AUTO_JSON ids = NULL;
    cluster.list = "{\"metadata\":{\"continue\":\"again\"},\"items\":[]}";
    assert_int_equal(cbx_engine_container_running(engine, CBX_LABEL_INSTANCE "=unit", &ids, &err),
                     CBX_EENGINE);
    assert_string_equal(err.text, "the cluster's list of pods does not end");
}

static void a_token_that_was_rotated_before_exec_is_read_again(void **state)
{
    (void)state;
    char path[128];
    cluster_write(path, "token", "second\n");
    cluster.exec_unauthorized = 1;
    CBX_AUTO(sandbox) sandbox = prepared();
    assert_non_null(sandbox);
    assert_string_equal(cluster.exec_token, "second");
}

static void an_api_server_that_restarts_loses_no_sandbox(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = prepared();
    struct cbx_permit p = permit_for("1");
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), 0);
    FAKE_AWAIT(strchr(fake.containers[0].received, CBX_FRAME_TAG) != NULL);
    pthread_mutex_lock(&fake.lock);
    cluster.exec_busy = 2;
    pthread_mutex_unlock(&fake.lock);
    CBX_AUTO(sandbox) again = NULL;
    if (cbx_sandbox_adopt(engine, &config, cbx_sandbox_id(sandbox), &again, &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    cbx_sandbox_detach(cbx_steal(&sandbox));
}

static void streams_of_another_protocol_are_not_used(void **state)
{
    (void)state;
    cluster.protocol = "v5.channel.k8s.io";
    assert_fails(CBX_EENGINE, "the cluster did not open the sandbox's streams",
                 CBX_WEBSOCKET_PROTOCOL);
    assert_no_pod_left();
    cluster.protocol = NULL;
    cluster.other_key = true;
    assert_fails(CBX_EENGINE, "the cluster did not open the sandbox's streams",
                 CBX_WEBSOCKET_PROTOCOL);
    assert_no_pod_left();
}

static void the_error_of_an_ended_bridge_has_the_reason(void **state)
{
    (void)state;
    cluster.exec_status =
        "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"command terminated with "
        "non-zero exit code: exit status 4\",\"reason\":\"NonZeroExitCode\",\"details\":{"
        "\"causes\":[{\"reason\":\"ExitCode\",\"message\":\"4\"}]}}";
    assert_fails(CBX_EIO, "starting a sandbox: the sandbox's bridge ended with exit code 4",
                 "command terminated");
    cluster.exec_status =
        "{\"status\":\"Failure\",\"message\":\"error executing command in container: stat "
        "/codebox/bridge: no such file or directory\",\"reason\":\"InternalError\",\"code\":500}";
    assert_fails(CBX_EIO, "starting a sandbox: the cluster could not run the sandbox's bridge",
                 "/codebox/bridge: no such file");
    cluster.exec_status = "{\"status\":\"Success\"}";
    memset(&err, 0, sizeof(err));
    assert_fails(CBX_EIO, "starting a sandbox: the sandbox is gone", "");
    assert_no_pod_left();
}

static void a_pod_whose_container_has_ended_is_gone(void **state)
{
    (void)state;
    struct cbx_attach *attach = NULL;
    CBX_AUTO(sandbox) sandbox = prepared();
    cluster_end_pod(cbx_sandbox_id(sandbox), "OOMKilled", 137);
    assert_int_equal(cbx_engine_container_attach(engine, cbx_sandbox_id(sandbox), &attach, &err),
                     CBX_ENOTFOUND);
    assert_string_equal(err.text, "the sandbox is gone");
    assert_non_null(strstr(err.detail, "OOMKilled"));
    assert_int_equal(cbx_engine_container_attach(engine, "codebox-0", &attach, &err),
                     CBX_ENOTFOUND);
    assert_string_equal(err.text, "the sandbox is gone");
}

/* --- faults in a run -------------------------------------------------------------------------- */

static const char *pod_in_run; /* the name of the Pod */

static void run_in(struct cbx_sandbox *sandbox, void (*on_run)(struct fake_container *),
                   struct cbx_result *out)
{
    struct cbx_permit p = permit_for("1");
    pod_in_run = cbx_sandbox_id(sandbox);
    fake.on_run = on_run;
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), 0);
    p.ledger = *cbx_sandbox_ledger(sandbox);
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), NULL, out, &err), 0);
}

/* The program ends while the API server is away. */
static void restart_api_server(struct fake_container *c)
{
    shutdown(c->fd, SHUT_RDWR);
    cluster.exec_busy = 6; /* more than an exec repeats */
    c->fd = -1;
    fake_end_run(c, CBX_DONE_ENDED, 0);
}

static void an_api_server_that_restarts_loses_no_run(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = prepared();
    CBX_AUTO_DONE(result) result = { 0 };
    run_in(sandbox, restart_api_server, &result);
    assert_int_equal(result.status, CBX_RUN_OK);
    assert_false(result.session_lost);
    assert_int_equal(fake_received(&fake.containers[0], CBX_FRAME_RUN), 1);
    assert_int_equal(fake.count, 1);
}

static void delete_pod(struct fake_container *c)
{
    shutdown(c->fd, SHUT_RDWR);
    json_object_del(cluster.pods, pod_in_run);
}

static void evict(struct fake_container *c)
{
    shutdown(c->fd, SHUT_RDWR);
    json_object_set_new(json_object_get(cluster.pods, pod_in_run), "status",
                        json_pack("{s:s,s:s,s:s,s:[{s:{s:{s:s,s:i}}}]}", "phase", "Failed",
                                  "reason", "Evicted", "message",
                                  "The node was low on resource: memory.", "containerStatuses",
                                  "state", "terminated", "reason", "Error", "exitCode", 137));
}

static void a_run_whose_pod_is_deleted_or_evicted_is_lost(void **state)
{
    (void)state;
    static void (*const faults[])(struct fake_container *) = { delete_pod, evict };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        char loss[CBX_RESULT_LOSS_BYTES];
        CBX_AUTO(sandbox) sandbox = prepared();
        CBX_AUTO_DONE(result) result = { 0 };
        run_in(sandbox, faults[i], &result);
        assert_int_equal(result.status, CBX_RUN_LOST);
        assert_int_equal(result.silent, CBX_SILENT_TAKEN);
        assert_true(result.session_lost);
        assert_non_null(strstr(cbx_result_loss(&result, loss),
                               "sandbox evicted or removed by its cluster, silent since 2"));
    }
}

static void run_out_of_memory(struct fake_container *c)
{
    shutdown(c->fd, SHUT_RDWR);
    json_object_set_new(json_object_get(cluster.pods, pod_in_run), "status",
                        json_pack("{s:s,s:[{s:{s:{s:s,s:i}}}]}", "phase", "Failed",
                                  "containerStatuses", "state", "terminated", "reason", "OOMKilled",
                                  "exitCode", 137));
}

static void a_run_whose_pod_has_no_memory_left_is_not_lost(void **state)
{
    (void)state;
    CBX_AUTO(sandbox) sandbox = prepared();
    CBX_AUTO_DONE(result) result = { 0 };
    run_in(sandbox, run_out_of_memory, &result);
    assert_int_equal(result.status, CBX_RUN_OOM);
}

/* --- faults of the watch ---------------------------------------------------------------------- */

static void a_watch_that_is_too_old_or_breaks_begins_anew(void **state)
{
    (void)state;
    struct cbx_sandbox *all[3];
    all[0] = prepared();
    FAKE_AWAIT(cluster.watches == 1);
    cluster.too_old = 1;
    all[1] = prepared();
    FAKE_AWAIT(cluster.watches == 2);
    cluster.half_events = 1;
    all[2] = prepared();
    FAKE_AWAIT(cluster.watches == 3);
    for (size_t i = 0; i < 3; i++) {
        cbx_sandbox_free(all[i]);
    }
}

static void a_pod_whose_events_are_lost_is_read(void **state)
{
    (void)state;
    struct cbx_sandbox *first = prepared();
    cluster.no_events = true;
    CBX_AUTO(sandbox) sandbox = prepared();
    assert_non_null(sandbox);
    cbx_sandbox_free(first);
}

static void watches_that_end_at_once_are_not_repeated_without_pause(void **state)
{
    (void)state;
    cluster.empty_watches = true;
    CBX_AUTO(sandbox) sandbox = prepared();
    assert_non_null(sandbox);
    struct timespec second = { .tv_sec = 1 };
    nanosleep(&second, NULL);
    assert_in_range(count_watches(), 2, 10);
}

static void a_version_that_would_change_the_request_is_not_used(void **state)
{
    (void)state;
    cluster.list = "{\"metadata\":{\"resourceVersion\":\"5&fieldSelector=x\"},\"items\":[]}";
    CBX_AUTO(sandbox) sandbox = prepared();
    assert_non_null(sandbox);
    assert_int_equal(count_watches(), 0);
}

static void an_engine_is_freed_while_the_api_server_is_silent(void **state)
{
    (void)state;
    cluster.silent_list = true;
    cbx_sandbox_free(prepared());
    int64_t began = cbx_clock_ms();
    cbx_engine_free(cbx_steal(&engine));
    assert_true(cbx_clock_ms() - began < 3000);
}

static void a_ping_has_a_limit_while_the_api_server_is_overloaded(void **state)
{
    (void)state;
    cluster.overloaded = true;
    int64_t began = cbx_clock_ms();
    assert_int_equal(cbx_engine_ping(engine, 800, &err), CBX_EBUSY);
    assert_true(cbx_clock_ms() - began < 2000);
}

/* --- Pods that have ended --------------------------------------------------------------------- */

static void remove_ended_after(int64_t keep_ms)
{
    cbx_kube_of(engine)->ended_keep_ms = keep_ms;
}

static bool has_pod(const char *name)
{
    pthread_mutex_lock(&fake.lock);
    bool has = json_object_get(cluster.pods, name) != NULL;
    pthread_mutex_unlock(&fake.lock);
    return has;
}

static void a_pod_that_ended_is_removed_while_the_gateway_runs(void **state)
{
    (void)state;
    remove_ended_after(1);
    CBX_AUTO(sandbox) sandbox = prepared();
    CBX_AUTO(sandbox) other = prepared();
    cluster_end_pod(cbx_sandbox_id(sandbox), "Completed", 0);
    FAKE_AWAIT(json_object_size(cluster.pods) == 1);
    assert_true(has_pod(cbx_sandbox_id(other)));
    CBX_AUTO(sandbox) later = prepared(); /* the watch goes on */
    assert_non_null(later);
}

static void its_state_can_be_read_for_a_while(void **state)
{
    (void)state;
    struct cbx_container_state now = { 0 };
    CBX_AUTO(sandbox) sandbox = prepared();
    CBX_AUTO(sandbox) other = prepared();
    cluster_end_pod(cbx_sandbox_id(sandbox), "OOMKilled", 137);
    cbx_sandbox_free(cbx_steal(&other)); /* a later event */
    FAKE_AWAIT(json_object_size(cluster.pods) == 1);
    assert_int_equal(cbx_engine_container_state(engine, cbx_sandbox_id(sandbox), 0, &now, &err), 0);
    assert_true(now.oom_killed && !now.running);
}

static void pods_that_ended_before_the_watch_are_removed(void **state)
{
    (void)state;
    remove_ended_after(1);
    cluster_add_ended("codebox-before", "unit");
    cluster_add_ended("codebox-other", "another");
    CBX_AUTO(sandbox) sandbox = prepared();
    FAKE_AWAIT(json_object_get(cluster.pods, "codebox-before") == NULL);
    assert_true(has_pod("codebox-other"));
    assert_true(has_pod(cbx_sandbox_id(sandbox)));
}

/* Also if the API server sends its events in this instance's watch. */
static void a_pod_of_another_instance_is_never_removed(void **state)
{
    (void)state;
    remove_ended_after(1);
    CBX_AUTO(sandbox) sandbox = prepared();
    CBX_AUTO(sandbox) other = prepared();
    cluster_add_ended("codebox-other", "another");
    cluster_end_pod("codebox-other", "Completed", 0);
    cluster_end_pod(cbx_sandbox_id(sandbox), "Completed", 0);
    FAKE_AWAIT(json_object_size(cluster.pods) == 2);
    assert_true(has_pod("codebox-other"));
    assert_true(has_pod(cbx_sandbox_id(other)));
}

/* --- Pods that do not run --------------------------------------------------------------------- */

static void an_image_that_cannot_be_pulled_is_said_at_once(void **state)
{
    (void)state;
    cluster.reason = "ErrImagePull";
    cluster.waiting = "rpc error: code = NotFound desc = registry.test/codebox-python: not found";
    assert_fails(CBX_EENGINE, "the node cannot pull the sandbox's image", "codebox image push");
    assert_no_pod_left();
}

static void a_missing_seccomp_profile_names_the_remedy(void **state)
{
    (void)state;
    cluster.reason = "CreateContainerError";
    cluster.waiting = "failed to generate spec opts: failed to load seccomp profile";
    assert_fails(CBX_EENGINE, "the node lacks the seccomp profile of the settings",
                 "docker/engine/seccomp.json");
    assert_no_pod_left();
}

static void no_room_on_any_node_is_busy_after_the_time_to_start(void **state)
{
    (void)state;
    cluster.reason = "Unschedulable";
    int64_t began = cbx_clock_ms();
    assert_fails(CBX_EBUSY, "no node of the cluster has room for a sandbox", "Insufficient memory");
    assert_true(err.retry_s > 0 && cbx_clock_ms() - began >= 1900);
    assert_no_pod_left();
}

static void an_evicted_pod_is_busy(void **state)
{
    (void)state;
    cluster.evicts = true;
    assert_fails(CBX_EBUSY, "a node of the cluster evicted the sandbox", "low on resource");
    assert_no_pod_left();
}

static void a_pod_without_its_bridge_leaves_nothing(void **state)
{
    (void)state;
    cluster.silent_exec = false;
    fake.no_hello = true;
    CBX_AUTO(sandbox) sandbox = NULL;
    assert_int_not_equal(prepare(&sandbox), 0);
    assert_no_pod_left();
}

/* --- admission webhooks ----------------------------------------------------------------------- */

static json_t *spec_of(json_t *pod)
{
    return json_object_get(pod, "spec");
}

static json_t *container_of(json_t *pod)
{
    return json_array_get(json_object_get(spec_of(pod), "containers"), 0);
}

static void add_sidecar(json_t *pod)
{
    json_array_append_new(json_object_get(spec_of(pod), "containers"),
                          json_pack("{s:s}", "name", "proxy"));
}

static void add_init(json_t *pod)
{
    json_object_set_new(spec_of(pod), "initContainers", json_pack("[{s:s}]", "name", "init"));
}

static void add_volume(json_t *pod)
{
    json_array_append_new(json_object_get(spec_of(pod), "volumes"),
                          json_pack("{s:s,s:{s:s}}", "name", "host", "hostPath", "path", "/"));
}

static void unconfine(json_t *pod)
{
    json_object_set_new(json_object_get(spec_of(pod), "securityContext"), "seccompProfile",
                        json_pack("{s:s}", "type", "Unconfined"));
}

static void give_capability(json_t *pod)
{
    json_object_set_new(
        json_object_get(json_object_get(container_of(pod), "securityContext"), "capabilities"),
        "add", json_pack("[s]", "NET_ADMIN"));
}

static void other_image(json_t *pod)
{
    json_object_set_new(container_of(pod), "image", json_string("evil"));
}

static void add_variable(json_t *pod)
{
    json_array_append_new(json_object_get(container_of(pod), "env"),
                          json_pack("{s:s,s:s}", "name", "LD_PRELOAD", "value", "x"));
}

static void add_label(json_t *pod)
{
    json_object_set_new(json_object_get(json_object_get(pod, "metadata"), "labels"), "network",
                        json_string("open"));
}

static void annotate(json_t *pod)
{
    json_object_set_new(
        json_object_get(pod, "metadata"), "annotations",
        json_pack("{s:s}", "container.apparmor.security.beta.kubernetes.io/sandbox", "unconfined"));
}

static void own(json_t *pod)
{
    json_object_set_new(json_object_get(pod, "metadata"), "finalizers", json_pack("[s]", "x/y"));
}

static void share_network(json_t *pod)
{
    json_object_set_new(spec_of(pod), "hostNetwork", json_true());
}

static void forget_user_namespace(json_t *pod)
{
    json_object_del(spec_of(pod), "hostUsers");
}

static void more_memory(json_t *pod)
{
    json_object_set_new(json_object_get(json_object_get(container_of(pod), "resources"), "limits"),
                        "memory", json_string("8Gi"));
}

static void a_pod_that_a_webhook_changed_does_not_run(void **state)
{
    (void)state;
    static const struct {
        void (*mutate)(json_t *pod);
        const char *field;
    } rows[] = {
        { add_sidecar, "spec.containers is" },
        { add_init, "spec.initContainers is" },
        { add_volume, "spec.volumes is" },
        { unconfine, "spec.securityContext.seccompProfile" },
        { give_capability, "capabilities.add" },
        { other_image, "spec.containers[].image is \"evil\"" },
        { add_variable, "spec.containers[].env is" },
        { add_label, "metadata.labels.network" },
        { annotate, "metadata.annotations.container.apparmor" },
        { own, "metadata.finalizers" },
        { share_network, "spec.hostNetwork is true" },
        { forget_user_namespace, "'host-users: true'" },
        { more_memory, "resources.limits.memory is \"8Gi\"" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cluster.mutate = rows[i].mutate;
        assert_fails(CBX_EENGINE, "the cluster changed the sandbox's Pod, so it does not run",
                     rows[i].field);
        assert_no_pod_left();
    }
}

static void place_and_canonicalise(json_t *pod)
{
    json_t *limits_of = json_object_get(json_object_get(container_of(pod), "resources"), "limits");
    json_object_set_new(limits_of, "memory", json_string("256Mi"));
    json_object_set_new(json_object_get(pod, "metadata"), "annotations",
                        json_pack("{s:s}", "seccomp.security.alpha.kubernetes.io/pod",
                                  "localhost/codebox/sandbox.json"));
    json_object_set_new(spec_of(pod), "nodeSelector", json_pack("{s:s}", "pool", "x"));
    json_object_set_new(spec_of(pod), "overhead", json_pack("{s:s}", "cpu", "10m"));
    json_array_append_new(json_object_get(spec_of(pod), "tolerations"),
                          json_pack("{s:s}", "key", "pool"));
}

static void a_pod_that_was_placed_and_written_in_other_units_runs(void **state)
{
    (void)state;
    cluster.mutate = place_and_canonicalise;
    CBX_AUTO(sandbox) sandbox = prepared();
    assert_non_null(sandbox);
}

/* --- what a cluster does not have ------------------------------------------------------------- */

static void a_missing_image_names_the_file_that_lacks_it(void **state)
{
    (void)state;
    struct cbx_sandbox *sandbox = NULL;
    assert_int_equal(cbx_sandbox_prepare(engine, &config, "c", &limits, NULL, &sandbox, &err),
                     CBX_EENGINE);
    assert_non_null(strstr(err.text, "the cluster's images file has no image 'codebox-c:latest'"));
}

static bool has_folder(const struct cbx_engine_needs *needs, const char *folder)
{
    for (size_t i = 0; i < needs->folder_count; i++) {
        if (strcmp(needs->folders[i], folder) == 0) {
            return true;
        }
    }
    return false;
}

static void files_that_the_settings_name_stay_readable_wherever_they_are(void **state)
{
    (void)state;
    char path[128], images[128], text[512], folder[80];
    struct cbx_engine_needs needs;
    snprintf(folder, sizeof(folder), "%s/elsewhere", cluster.folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    cluster_write(images, "elsewhere/images.json", "{}");
    snprintf(text, sizeof(text),
             "namespace: boxes\nimages: %s/images.json\nregistry-credentials: /a/config.json\n"
             "registry-ca: /b/ca.pem\n",
             folder);
    cluster_write(path, "settings.yaml", text);
    cbx_engine_prepare(cluster.host, NULL, &needs);
    assert_true(has_folder(&needs, cluster.folder));
    assert_true(has_folder(&needs, folder));
    assert_true(has_folder(&needs, "/a"));
    assert_true(has_folder(&needs, "/b"));
    unlink(images);
    rmdir(folder);
}

static void the_runtimes_are_runtime_classes(void **state)
{
    (void)state;
    limits.isolation = CBX_ISOLATION_GVISOR;
    struct cbx_sandbox *sandbox = NULL;
    assert_int_not_equal(prepare(&sandbox), 0);
    config.gvisor_runtime = "gvisor";
    sandbox = prepared();
    config.gvisor_runtime = NULL;
    assert_non_null(strstr(fake.containers[0].create_body, "\"runtimeClassName\":\"gvisor\""));
    cbx_sandbox_free(sandbox);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)
    const struct CMUnitTest tests[] = {
        TEST(a_program_runs_in_a_pod),
        TEST(a_restarted_gateway_adopts_the_sandbox_of_a_pod),
        TEST(many_pods_start_at_once_by_one_watch),
        TEST(a_full_quota_is_said_with_the_time_to_retry),
        TEST(refusals_of_the_cluster_name_the_remedy),
        TEST(an_overloaded_api_server_is_asked_again),
        TEST(a_token_that_was_rotated_is_read_again),
        TEST(an_api_server_that_is_gone_is_said_with_its_address),
        TEST(a_pod_whose_creation_was_repeated_is_removed),
        TEST(only_names_that_a_request_path_can_have_are_listed),
        TEST(a_list_that_does_not_end_fails),
        TEST(a_token_that_was_rotated_before_exec_is_read_again),
        TEST(an_api_server_that_restarts_loses_no_sandbox),
        TEST(streams_of_another_protocol_are_not_used),
        TEST(the_error_of_an_ended_bridge_has_the_reason),
        TEST(a_pod_whose_container_has_ended_is_gone),
        TEST(an_api_server_that_restarts_loses_no_run),
        TEST(a_run_whose_pod_is_deleted_or_evicted_is_lost),
        TEST(a_run_whose_pod_has_no_memory_left_is_not_lost),
        TEST(a_watch_that_is_too_old_or_breaks_begins_anew),
        TEST(a_pod_whose_events_are_lost_is_read),
        TEST(watches_that_end_at_once_are_not_repeated_without_pause),
        TEST(a_version_that_would_change_the_request_is_not_used),
        TEST(an_engine_is_freed_while_the_api_server_is_silent),
        TEST(a_ping_has_a_limit_while_the_api_server_is_overloaded),
        TEST(a_pod_that_ended_is_removed_while_the_gateway_runs),
        TEST(its_state_can_be_read_for_a_while),
        TEST(pods_that_ended_before_the_watch_are_removed),
        TEST(a_pod_of_another_instance_is_never_removed),
        TEST(an_image_that_cannot_be_pulled_is_said_at_once),
        TEST(a_missing_seccomp_profile_names_the_remedy),
        TEST(no_room_on_any_node_is_busy_after_the_time_to_start),
        TEST(an_evicted_pod_is_busy),
        TEST(a_pod_without_its_bridge_leaves_nothing),
        TEST(a_pod_that_a_webhook_changed_does_not_run),
        TEST(a_pod_that_was_placed_and_written_in_other_units_runs),
        TEST(a_missing_image_names_the_file_that_lacks_it),
        TEST(files_that_the_settings_name_stay_readable_wherever_they_are),
        TEST(the_runtimes_are_runtime_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
