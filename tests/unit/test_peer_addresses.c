/* ddp-test: quick */
/* How ranks that tell each other their hosts and networks are numbered, and where each listens. */
#include "base/net_interface.h"
#include "transport/peer_addresses.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above, in this order. */
#include <cmocka.h>

static ddp_peer_address peer(const char *host, const char *machine)
{
    ddp_peer_address c = {.count = 0};

    (void)snprintf(c.host, sizeof c.host, "%s", host);
    (void)snprintf(c.machine, sizeof c.machine, "%s", machine);
    return c;
}

static void add_address(ddp_peer_address *c, const char *address, int bits)
{
    c->networks[c->count].address = ddp_net_address_from(address);
    c->networks[c->count++].bits = bits;
}

static void check_order(const ddp_peer_address *peers, const int *order, const int *first, int size)
{
    int found_order[8], found_first[8];

    ddp_peer_addresses_order(peers, size, found_order, found_first);
    for (int r = 0; r < size; r++) {
        assert_int_equal(found_order[r], order[r]);
        assert_int_equal(found_first[r], first[r]);
    }
}

static void ranks_are_numbered_host_by_host(void **state)
{
    const ddp_peer_address a = peer("a", "1"), b = peer("b", "2"), c = peer("c", "3");
    const ddp_peer_address mixed[] = {b, a, b, c, a, b};

    (void)state;
    check_order(mixed, (const int[]){0, 2, 5, 1, 4, 3}, (const int[]){0, 0, 0, 3, 3, 5}, 6);
    check_order(mixed, (const int[]){0}, (const int[]){0}, 1);
}

static void a_name_is_not_a_machine(void **state)
{
    const ddp_peer_address peers[] = {peer("node", "1"), peer("node", "2"), peer("node", "1")};

    (void)state;
    check_order(peers, (const int[]){0, 2, 1}, (const int[]){0, 0, 2}, 3);
}

static void check_address(const ddp_peer_address *peers, int size, int rank, const char *want)
{
    char text[DDP_ADDRESS_TEXT];
    ddp_net_address found;
    ddp_error err;

    assert_int_equal(ddp_peer_listen_address(peers, size, rank, &found, &err), DDP_OK);
    ddp_net_address_text(&found, text);
    assert_string_equal(text, want);
}

static void ranks_of_one_host_listen_on_its_loopback(void **state)
{
    ddp_peer_address peers[] = {peer("a", "1"), peer("a", "1")};

    (void)state;
    add_address(&peers[0], "10.1.0.5", 16);
    check_address(peers, 2, 0, "127.0.0.1");
    check_address(peers, 2, 1, "127.0.0.1");
}

static void hosts_listen_on_the_network_that_all_share(void **state)
{
    ddp_peer_address peers[] = {peer("a", "1"), peer("b", "2"), peer("c", "3"), peer("a", "1")};

    (void)state;
    for (int r = 0; r < 4; r++) {
        char own[32];

        add_address(&peers[r], "172.17.0.1", 16); /* each host's own bridge of containers */
        if (r < 2 || r == 3) {
            (void)snprintf(own, sizeof own, "192.168.3.%d", r % 3 + 1);
            add_address(&peers[r], own, 24); /* of two hosts */
        }
        (void)snprintf(own, sizeof own, "10.1.%d.9", r % 3);
        add_address(&peers[r], own, 16);
    }
    check_address(peers, 4, 0, "10.1.0.9");
    check_address(peers, 4, 1, "10.1.1.9");
    check_address(peers, 4, 2, "10.1.2.9");
    check_address(peers, 4, 3, "10.1.0.9");
}

static void hosts_without_ipv4_listen_on_ipv6(void **state)
{
    ddp_peer_address peers[] = {peer("a", "1"), peer("b", "2")};

    (void)state;
    add_address(&peers[0], "172.17.0.1", 16); /* its own bridge of containers */
    add_address(&peers[1], "172.17.0.1", 16);
    add_address(&peers[0], "fd00:77::1", 64);
    add_address(&peers[1], "fd00:77::2", 64);
    check_address(peers, 2, 0, "fd00:77::1");
    check_address(peers, 2, 1, "fd00:77::2");
}

static void a_host_without_a_network_is_named(void **state)
{
    ddp_peer_address peers[] = {peer("a", "1"), peer("b", "2")};
    ddp_net_address found;
    ddp_error err;

    (void)state;
    add_address(&peers[0], "10.1.0.5", 16);
    for (int rank = 0; rank < 2; rank++) {
        assert_int_equal(ddp_peer_listen_address(peers, 2, rank, &found, &err), DDP_ERR_IO);
        assert_string_equal(err.text,
                            "host b has no network interface but lo that is up with an address");
    }
}

static void a_host_without_a_way_to_the_others_is_named(void **state)
{
    ddp_peer_address peers[] = {peer("a", "1"), peer("b", "2")};
    ddp_net_address found;
    ddp_error err;

    (void)state;
    add_address(&peers[0], "172.17.0.1", 16);
    add_address(&peers[1], "172.17.0.1", 16);
    assert_int_equal(ddp_peer_listen_address(peers, 2, 1, &found, &err), DDP_ERR_COMM);
    assert_string_equal(err.text,
                        "rank 1 (host b) has no network with an address towards the others");
}

static void a_rank_knows_its_own_host(void **state)
{
    char name[DDP_HOST_BYTES], want[DDP_HOST_BYTES + 128];
    ddp_peer_address c;
    ddp_error err;

    (void)state;
    ddp_host_name(name);
    assert_int_equal(ddp_peer_address_fill(&c, &err), DDP_OK);
    assert_string_equal(c.host, name);
    for (int i = 0; i < c.count; i++) {
        char text[DDP_ADDRESS_TEXT];

        ddp_net_address_text(&c.networks[i].address, text);
        assert_string_not_equal(text, "127.0.0.1");
        assert_string_not_equal(text, "::1");
    }
    ddp_group_use_interface("no-such-interface");
    assert_int_equal(ddp_peer_address_fill(&c, &err), DDP_ERR_IO);
    (void)snprintf(want, sizeof want,
                   "host %s has no network interface no-such-interface that is up with an address",
                   name);
    assert_string_equal(err.text, want);
    ddp_group_use_interface(NULL);
}

static void an_interface_is_named_or_found_by_its_network(void **state)
{
    char names[64];

    (void)state;
    ddp_net_interface_names("lo", names, sizeof names);
    assert_string_equal(names, "lo");
    ddp_net_interface_names("127.0.0.0/8", names, sizeof names);
    assert_string_equal(names, "lo");
    ddp_net_interface_names("no-such-interface", names, sizeof names);
    assert_string_equal(names, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_numbered_host_by_host),
        cmocka_unit_test(a_name_is_not_a_machine),
        cmocka_unit_test(ranks_of_one_host_listen_on_its_loopback),
        cmocka_unit_test(hosts_listen_on_the_network_that_all_share),
        cmocka_unit_test(hosts_without_ipv4_listen_on_ipv6),
        cmocka_unit_test(a_host_without_a_network_is_named),
        cmocka_unit_test(a_host_without_a_way_to_the_others_is_named),
        cmocka_unit_test(a_rank_knows_its_own_host),
        cmocka_unit_test(an_interface_is_named_or_found_by_its_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
