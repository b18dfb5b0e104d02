/* Gives Gloo's pairs connections that our own code has made. (A pair is Gloo's end of the
 * connection between two ranks.)
 *
 * Gloo's own way to connect takes whoever comes first to a port for the peer. So ranks first
 * connect by our code, which checks a key (transport/peer_connections.h). Then a Gloo pair connects
 * to a socket of this process, on the loopback address, and dup3 replaces the pair's end of that
 * connection by the connection with the peer.
 *
 * Gloo also listens on a port: on Debian 12 for each new pair, on Debian 13 once for all pairs of a
 * device. The port is closed when the first pair with it is made, on Gloo's own thread, which alone
 * accepts connections. So no pair gets the connection of a stranger. */
#include "transport/gloo_peer.h"

#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/device.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <future>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ddp_gloo
{

using gloo::transport::tcp::Address;
using gloo::transport::tcp::Device;
using gloo::transport::tcp::Handler;

namespace
{

Handler *handler_of(gloo::transport::Pair *pair)
{
    return dynamic_cast<Handler *>(pair);
}

struct descriptor {
    explicit descriptor(int number) : fd(number)
    {
    }
    ~descriptor()
    {
        (void)close(fd);
    }
    descriptor(const descriptor &) = delete;
    descriptor &operator=(const descriptor &) = delete;

    const int fd;
};

[[noreturn]] void fail_to(const char *what)
{
    throw std::runtime_error(std::string("cannot ") + what + ": " + std::strerror(errno));
}

sockaddr_in listen_here(int fd)
{
    sockaddr_in at{};
    socklen_t size = sizeof at;

    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, reinterpret_cast<sockaddr *>(&at), sizeof at) || listen(fd, SOMAXCONN)
        || getsockname(fd, reinterpret_cast<sockaddr *>(&at), &size))
        fail_to("listen on 127.0.0.1");
    return at;
}

/* Return 1 if the socket fd listens. */
int listens(int fd)
{
    int value = 0;
    socklen_t size = sizeof value;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value;
}

/* Return this process's descriptor of a socket that has that address by `name` (getsockname,
 * getpeername), and listens or does not, as is_listener says. -1: there is none. */
int find(int (*name)(int, sockaddr *, socklen_t *), const sockaddr_in &at, int is_listener)
{
    std::unique_ptr<DIR, int (*)(DIR *)> all(opendir("/proc/self/fd"), closedir);

    while (const dirent *entry = all ? readdir(all.get()) : nullptr) {
        int fd = std::atoi(entry->d_name);
        sockaddr_in found{};
        socklen_t size = sizeof found;

        if (name(fd, reinterpret_cast<sockaddr *>(&found), &size) == 0
            && found.sin_family == AF_INET && found.sin_port == at.sin_port
            && found.sin_addr.s_addr == at.sin_addr.s_addr && listens(fd) == is_listener)
            return fd;
    }
    if (!all)
        fail_to("read /proc/self/fd");
    return -1;
}

/* Work for Gloo's own thread. */
class errand : public Handler
{
  public:
    errand(Device &device, std::function<void()> work) : task(std::move(work))
    {
        std::future<void> done = task.get_future();

        device.registerDescriptor(begin.fd, EPOLLIN, this);
        done.wait();
        device.unregisterDescriptor(begin.fd, this); /* waits until that thread has left it */
        done.get();
    }
    void handleEvents(int) override
    {
        eventfd_t ignored;

        if (eventfd_read(begin.fd, &ignored) == 0)
            task();
    }

  private:
    const descriptor begin{eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::packaged_task<void()> task;
};

/* Close the listening socket fd, and leave Gloo, which still closes it, a descriptor that nobody
 * can connect to. */
void close_listener(Device &device, int fd, Handler *handler)
{
    const descriptor nothing(eventfd(0, EFD_CLOEXEC));

    if (dup3(nothing.fd, fd, O_CLOEXEC) < 0)
        fail_to("close Gloo's port");
    device.registerDescriptor(fd, 0, handler);
}

/* Make a pair that nobody can connect to. Until then this process may listen on no port of
 * 127.0.0.1 that it chose after the first pair: Debian 13's Gloo names the first pair's port for
 * all, which is free again. */
gloo::transport::Pair *make_pair(ddp_gloo_link *x, int rank)
{
    gloo::transport::Pair *pair = nullptr;

    errand(*x->device, [&] {
        pair = x->context->createPair(rank).get();
        const sockaddr_storage at = Address(pair->address().bytes()).getSockaddr();
        int listener = find(getsockname, reinterpret_cast<const sockaddr_in &>(at), 1);

        if (listener >= 0)
            close_listener(*x->device, listener, handler_of(pair));
    });
    return pair;
}

} // namespace

std::shared_ptr<Device> make_device()
{
    gloo::transport::tcp::attr attr("127.0.0.1");

    attr.ai_family = AF_INET;
    return std::dynamic_pointer_cast<Device>(gloo::transport::tcp::CreateDevice(attr));
}

void adopt(ddp_gloo_link *x, int rank, int fd)
{
    const descriptor peer(fd);
    gloo::transport::Pair *pair = make_pair(x, rank);
    const descriptor ours(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in here = listen_here(ours.fd);
    sockaddr_in lower = here;
    int gloos;

    /* In Gloo the end with the lower address waits for the other. 0.0.0.0 connects to this host. */
    lower.sin_addr.s_addr = htonl(INADDR_ANY);
    pair->connect(Address(reinterpret_cast<sockaddr *>(&lower), sizeof lower).bytes());
    gloos = find(getpeername, here, 0);
    if (gloos < 0)
        throw std::runtime_error("cannot find Gloo's socket in /proc/self/fd");
    x->device->unregisterDescriptor(gloos, handler_of(pair));
    if (dup3(peer.fd, gloos, O_CLOEXEC) < 0)
        fail_to("hand a connection to Gloo");
    x->device->registerDescriptor(gloos, EPOLLIN, handler_of(pair));
}

} // namespace ddp_gloo
