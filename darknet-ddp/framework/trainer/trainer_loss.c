/* Numbers that travel with a step's loss: a checksum of the parameters (by which ranks see that
 * theirs are equal), how many samples were replaced, and how much each rank has left to send
 * (-ddp_priority). */
#include "trainer/trainer_state.h"

/* After a step's last backward pass all ranks have the same parameters: its update is still to
 * come, and the last one's has been computed, in this step's forward pass at the latest. In a
 * period of local SGD they have not: then in the first step behind it. */
static void begin_to_verify(ddp_trainer *t, const ddp_train_position *now)
{
    if (!t->replica_check)
        return;
    t->comparison_due |= now->step % (size_t)t->config.verify_every == 0;
    if (!t->comparison_due || !ddp_trainer_in_sync(t))
        return;
    t->comparison_due = 0;
    ddp_loss_compare_number(t->loss, ddp_replica_check_checksum(t->replica_check, now->step));
    t->checksum_sent = 1;
}

/* The loss has arrived, and with it whether all ranks have the same parameters. */
static void verify(ddp_trainer *t)
{
    ddp_error err;

    if (!t->checksum_sent)
        return;
    t->checksum_sent = 0;
    if (ddp_loss_numbers_equal(t->loss))
        ddp_replica_check_note_equal(t->replica_check);
    else
        ddp_trainer_check(t, ddp_replica_check_name_difference(t->replica_check, &err), &err);
}

/* ---- what is left when backward ends (reducer.priority) ----
 * Ranks tell each other with the loss, and so all plan one order for the next step. */

enum { BACKLOG_UNIT = 1024, EXACT = 1 << 24 }; /* elements of a count; a sum of counts */

static void tell_backlog(ddp_trainer *t)
{
    size_t most = EXACT / (size_t)ddp_group_size(t->group), units;

    if (!t->config.reducer.priority || !ddp_reducer_syncs(t->reducer))
        return;
    units = ddp_reducer_backlog(t->reducer) / BACKLOG_UNIT;
    ddp_loss_send_count(t->loss, DDP_COUNT_BACKLOG, units < most ? units : most);
    t->backlog_sent = 1;
}

static void plan_order(ddp_trainer *t)
{
    if (!t->backlog_sent)
        return;
    t->backlog_sent = 0;
    ddp_reducer_adapt_order(t->reducer, ddp_loss_received_count(t->loss, DDP_COUNT_BACKLOG)
                                            / (size_t)ddp_group_size(t->group) * BACKLOG_UNIT);
}

/* ---- */

void ddp_trainer_send_with_loss(ddp_trainer *t, const ddp_train_position *now)
{
    begin_to_verify(t, now);
    ddp_trainer_send_bad_samples(t, now);
    tell_backlog(t);
}

void ddp_trainer_receive_with_loss(ddp_trainer *t)
{
    verify(t);
    plan_order(t);
}
