/* SPDX-License-Identifier: MIT
 * The connection to the host, and the authentication of hosts by the sandbox's key.
 *
 * An engine whose attached streams would pass through a log (Kubernetes writes them to the log of
 * the node) starts docker/inside/bridge in the sandbox for each host instead. The bridge connects
 * to a socket of the supervisor. Programs of the sandbox can connect to the socket too, so two
 * conditions protect it: the parent of the peer is outside of the sandbox, which no program can
 * achieve, and the peer sends the key. */
#include "docker/inside/supervisor/supervisor.h"

#include "docker/inside/bridge/bridge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A new host sends the key and an ATTACH at once. */
enum {
    HEAD_BYTES = CBX_FRAME_KEY_BYTES + CBX_FRAME_HEAD_BYTES,
    OPENING_BYTES = HEAD_BYTES + CBX_FRAME_ATTACH_BYTES,
};

struct cbx_host cbx_host = { .in = STDIN_FILENO, .out = STDOUT_FILENO };

static struct {
    uint8_t key[CBX_FRAME_KEY_BYTES];
    bool has_key;
    uint64_t epoch; /* the highest one of a host */
    struct cbx_inbox inbox;
    uint64_t accepted; /* number of connections so far */
    int listener;      /* -1 = the host is at the standard streams */
    struct peer {
        int fd; /* -1 = none */
        uint8_t opening[OPENING_BYTES];
        size_t len;
        uint64_t number;     /* in the order of their arrival */
    } peers[CBX_HOST_PEERS]; /* connections that have not authenticated yet */
} h = { .listener = -1 };

/* --- frames ----------------------------------------------------------------------------------- */

static uint64_t epoch_of(const uint8_t attach[CBX_FRAME_ATTACH_BYTES])
{
    uint64_t epoch;
    memcpy(&epoch, attach + CBX_FRAME_NONCE_BYTES + sizeof(uint32_t), sizeof(epoch));
    return epoch;
}

static void write_mark(const uint8_t *nonce, uint8_t mark[CBX_FRAME_MARK_BYTES])
{
    memcpy(mark, h.key, sizeof(h.key));
    memcpy(mark + sizeof(h.key), nonce, CBX_FRAME_NONCE_BYTES);
}

bool cbx_host_attach(const uint8_t attach[CBX_FRAME_ATTACH_BYTES])
{
    uint8_t mark[CBX_FRAME_MARK_BYTES];
    if (epoch_of(attach) < h.epoch) {
        return false;
    }
    h.epoch = epoch_of(attach);
    write_mark(attach, mark);
    cbx_reply_mark(mark);
    return true;
}

/* The first bytes of the stream are the key. At a second occurrence of the key, a new host
 * begins: complete frames before it are valid, an incomplete one is dropped. */
static bool take_frames(size_t before, void (*take)(uint8_t, const uint8_t *, size_t))
{
    struct cbx_inbox *in = &h.inbox;
    if (!h.has_key) {
        if (in->len < sizeof(h.key)) {
            return true;
        }
        memcpy(h.key, in->bytes, sizeof(h.key));
        h.has_key = true;
        cbx_inbox_drop(in, sizeof(h.key));
        before = 0;
    }
    size_t from = before > sizeof(h.key) ? before - sizeof(h.key) : 0;
    for (uint8_t *found; from < in->len && (found = memmem(in->bytes + from, in->len - from, h.key,
                                                           sizeof(h.key))) != NULL;) {
        size_t end = (size_t)(found - in->bytes), behind = in->len - end;
        if (!cbx_inbox_take(in, end, 'h', take)) {
            return false;
        }
        cbx_inbox_drop(in, in->len - behind + sizeof(h.key));
        from = 0;
    }
    return cbx_inbox_take(in, in->len, 'h', take);
}

bool cbx_host_read(void (*take)(uint8_t, const uint8_t *, size_t))
{
    if (cbx_host.in < 0) {
        return true;
    }
    size_t before = h.inbox.len;
    return cbx_inbox_read(cbx_host.in, &h.inbox) && take_frames(before, take);
}

void cbx_host_lost(void)
{
    if (h.listener < 0) {
        cbx_die(); /* the engine closed the streams: no host can attach again */
    }
    cbx_close(&cbx_host.in);
    cbx_host.out = -1;
    cbx_inbox_drop(&h.inbox, h.inbox.len);
}

/* --- connections of bridges ------------------------------------------------------------------- */

/* A supervisor that was started again in the same container would take the key of any host, so it
 * must not find files of the first one's programs. */
static bool is_empty(const char *path)
{
    int entries = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (folder == NULL) {
        return false;
    }
    closedir(folder);
    return entries == 0;
}

bool cbx_host_open(void)
{
    struct sockaddr_un address;
    const char *bridged = getenv(CBX_BRIDGE_VARIABLE);
    bool streams = bridged == NULL || strcmp(bridged, "1") != 0;
    unsetenv(CBX_BRIDGE_VARIABLE); /* programs inherit the environment */
    for (size_t i = 0; i < CBX_HOST_PEERS; i++) {
        h.peers[i].fd = -1;
    }
    if (streams) {
        fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
        fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
        return true;
    }
    cbx_host = (struct cbx_host){ .in = -1, .out = -1 };
    h.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t len = cbx_bridge_address(&address);
    return is_empty("/workspace") && h.listener >= 0 &&
           bind(h.listener, (const struct sockaddr *)&address, len) == 0 &&
           listen(h.listener, CBX_HOST_PEERS) == 0;
}

int cbx_host_poll(struct pollfd *fds)
{
    if (h.listener < 0) {
        return 0;
    }
    int count = 0;
    fds[count++] = (struct pollfd){ .fd = h.listener, .events = POLLIN };
    for (size_t i = 0; i < CBX_HOST_PEERS; i++) {
        if (h.peers[i].fd >= 0) {
            fds[count++] = (struct pollfd){ .fd = h.peers[i].fd, .events = POLLIN };
        }
    }
    return count;
}

static bool is_from_outside(int fd)
{
    struct ucred peer = { 0 };
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 1 &&
           cbx_process_is_foreign(peer.pid);
}

/* The oldest connection makes room: a host that sends nothing must not keep others out. */
static void accept_peer(void)
{
    int fd = accept4(h.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 || !is_from_outside(fd)) {
        cbx_close(&fd);
        return;
    }
    struct peer *at = &h.peers[0];
    for (size_t i = 0; i < CBX_HOST_PEERS && at->fd >= 0; i++) {
        struct peer *other = &h.peers[i];
        at = other->fd < 0 || other->number < at->number ? other : at;
    }
    cbx_close(&at->fd);
    *at = (struct peer){ .fd = fd, .number = ++h.accepted };
}

/* True if the opening has the sandbox's key, or the first one. */
static bool is_authentic(const uint8_t opening[OPENING_BYTES])
{
    uint8_t difference = 0;
    uint32_t len;
    memcpy(&len, opening + CBX_FRAME_KEY_BYTES + 1, sizeof(len));
    for (size_t i = 0; i < CBX_FRAME_KEY_BYTES; i++) {
        difference |= opening[i] ^ h.key[i];
    }
    return (!h.has_key || difference == 0) && opening[CBX_FRAME_KEY_BYTES] == CBX_FRAME_ATTACH &&
           len == CBX_FRAME_ATTACH_BYTES;
}

/* A host with a lower epoch is told so: another gateway has taken the sandbox over. */
static void tell_fenced(int fd, const uint8_t *attach)
{
    struct cbx_bytes reply = { 0 };
    uint8_t mark[CBX_FRAME_MARK_BYTES];
    struct cbx_frame_hello hello = { .version = CBX_FRAME_VERSION, .run = CBX_HELLO_FENCED };
    write_mark(attach, mark);
    cbx_bytes_add(&reply, mark, sizeof(mark));
    cbx_frame_add(&reply, CBX_FRAME_HELLO, &hello, sizeof(hello), NULL, 0);
    (void)!send(fd, reply.p, reply.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    cbx_bytes_free(&reply);
}

/* The connection becomes the host's, and the last host's is closed. */
static void admit(struct peer *peer, void (*take)(uint8_t, const uint8_t *, size_t))
{
    const uint8_t *attach = peer->opening + HEAD_BYTES;
    if (!is_authentic(peer->opening)) {
        cbx_close(&peer->fd);
        return;
    }
    if (epoch_of(attach) < h.epoch) {
        tell_fenced(peer->fd, attach);
        cbx_close(&peer->fd);
        return;
    }
    memcpy(h.key, peer->opening, sizeof(h.key));
    h.has_key = true;
    cbx_host_lost();
    cbx_host = (struct cbx_host){ .in = peer->fd, .out = peer->fd };
    peer->fd = -1;
    take(CBX_FRAME_ATTACH, attach, CBX_FRAME_ATTACH_BYTES);
}

static void read_peer(struct peer *peer, void (*take)(uint8_t, const uint8_t *, size_t))
{
    ssize_t n = recv(peer->fd, peer->opening + peer->len, OPENING_BYTES - peer->len, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) { /* else poll(2) never waits */
        cbx_close(&peer->fd);
        return;
    }
    peer->len += n > 0 ? (size_t)n : 0;
    if (peer->len == OPENING_BYTES) {
        admit(peer, take);
    }
}

void cbx_host_serve(const struct pollfd *fds, int count,
                    void (*take)(uint8_t, const uint8_t *, size_t))
{
    bool ready = false;
    for (int i = 0; i < count; i++) {
        ready |= fds[i].revents != 0;
    }
    if (!ready) {
        return;
    }
    accept_peer();
    for (size_t i = 0; i < CBX_HOST_PEERS; i++) {
        if (h.peers[i].fd >= 0) {
            read_peer(&h.peers[i], take);
        }
    }
}
