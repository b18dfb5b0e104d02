/* ddp-test: quick tsan */
/* The connections over which ranks tell rank 0 that they live: support/watch/heartbeat.h. */
#include "heartbeats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
/* cmocka.h needs some of the above. */
#include <cmocka.h>

static void ranks_talk_and_strangers_do_not(void **state)
{
    ddp_heartbeat_invitation inv, wrong;
    ddp_heartbeat *zero, *one, *two, *stranger;
    char text[256] = "", answer[256] = "";
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_heartbeat_invite(&zero, &inv, 3, 1, NULL, &err), DDP_OK);
    assert_int_equal(inv.count, 1);
    ddp_net_address_text(&inv.at[0], answer);
    assert_non_null(strstr(answer, "127.0.0.1 port "));
    answer[0] = '\0';
    wrong = inv;
    wrong.key.bytes[DDP_KEY_BYTES - 1]++;
    stranger = heartbeats_join(&wrong, 1);
    heartbeats_poll(zero, text);
    assert_int_equal(ddp_heartbeat_link(zero, 1), DDP_LINK_AWAITED);
    heartbeats_poll(stranger, answer);
    assert_int_equal(ddp_heartbeat_link(stranger, 0), DDP_LINK_LOST);
    ddp_heartbeat_close(stranger);

    one = heartbeats_join(&inv, 1);
    two = heartbeats_join(&inv, 2);
    ddp_heartbeat_send(one, 0, 7, "hello", 5);
    ddp_heartbeat_send(two, 0, 8, NULL, 0);
    heartbeats_poll(zero, text);
    assert_string_equal(text, "1:7:hello 2:8: ");
    ddp_heartbeat_send(zero, 2, 9, "you", 3);
    heartbeats_poll(two, answer);
    assert_string_equal(answer, "0:9:you ");
    /* All are here: nobody listens any more. */
    assert_int_equal(ddp_heartbeat_join(&stranger, &inv, 1, 200, &err), DDP_ERR_COMM);
    assert_non_null(strstr(err.text, "127.0.0.1 port "));
    ddp_heartbeat_close(one);
    heartbeats_poll(zero, text);
    assert_int_equal(ddp_heartbeat_link(zero, 1), DDP_LINK_LOST);
    assert_int_equal(ddp_heartbeat_link(zero, 2), DDP_LINK_OPEN);
    ddp_heartbeat_close(two);
    ddp_heartbeat_close(zero);
}

/* Who connects and says nothing, or something else: more of them than there is room for. */
static void strangers_keep_no_rank_away(void **state)
{
    enum { STRANGERS = 300 };
    static const char garbage[64] = "GET / HTTP/1.1";
    ddp_heartbeat *zero, *one, *two;
    ddp_heartbeat_invitation inv;
    char text[256] = "";
    int fds[STRANGERS];
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_heartbeat_invite(&zero, &inv, 3, 1, NULL, &err), DDP_OK);
    for (int i = 0; i < STRANGERS; i++) {
        struct sockaddr_storage to;
        socklen_t size = ddp_net_address_sockaddr(&inv.at[0], &to);

        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fds[i], (void *)&to, size), 0);
        if (i % 2)
            assert_int_equal(send(fds[i], garbage, sizeof garbage, MSG_NOSIGNAL), sizeof garbage);
        if (i % 50 == 0)
            ddp_heartbeat_poll(zero, 1, heartbeats_note, text);
    }
    one = heartbeats_join(&inv, 1);
    two = heartbeats_join(&inv, 2);
    ddp_heartbeat_send(one, 0, 7, "hello", 5);
    heartbeats_poll(zero, text);
    assert_string_equal(text, "1:7:hello ");
    assert_int_equal(ddp_heartbeat_link(zero, 1), DDP_LINK_OPEN);
    assert_int_equal(ddp_heartbeat_link(zero, 2), DDP_LINK_OPEN);
    for (int i = 0; i < STRANGERS; i++)
        (void)close(fds[i]);
    ddp_heartbeat_close(one);
    ddp_heartbeat_close(two);
    ddp_heartbeat_close(zero);
}

/* Rank 0 may be busy, or without a core, until all the others have come. */
static void all_may_come_at_once(void **state)
{
    enum { ALL = 60 };
    ddp_heartbeat *zero, *others[ALL] = {0};
    ddp_heartbeat_invitation inv;
    ddp_error err;

    (void)state;
    assert_int_equal(ddp_heartbeat_invite(&zero, &inv, ALL, 1, NULL, &err), DDP_OK);
    for (int r = 1; r < ALL; r++)
        others[r] = heartbeats_join(&inv, r);
    for (int r = 1; r < ALL; r++) {
        char nothing[256] = "";

        for (int i = 0; i < 1000 && ddp_heartbeat_link(zero, r) == DDP_LINK_AWAITED; i++)
            ddp_heartbeat_poll(zero, 10, heartbeats_note, nothing);
        assert_int_equal(ddp_heartbeat_link(zero, r), DDP_LINK_OPEN);
    }
    for (int r = 1; r < ALL; r++)
        ddp_heartbeat_close(others[r]);
    ddp_heartbeat_close(zero);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_talk_and_strangers_do_not),
        cmocka_unit_test(strangers_keep_no_rank_away),
        cmocka_unit_test(all_may_come_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
