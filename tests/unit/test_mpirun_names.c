/* ddp-test: quick */
/* Which programs are an mpirun or its daemon, by name (launch/mpirun_names.h). */
#include "launch/mpirun_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void an_mpirun_may_have_a_folder_and_an_ending(void **state)
{
    static const char *const names[] = {"mpirun", "/usr/bin/mpiexec", "prterun", "mpirun.openmpi",
                                        "/opt/mpich/bin/mpiexec.hydra"};
    static const char *const others[] = {"mpirunner", "mpi", "srun", "", "x.mpirun", "mpirun/x"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_true(ddp_mpirun_is_name(names[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(ddp_mpirun_is_name(others[i]));
}

static void a_daemon_is_no_mpirun(void **state)
{
    (void)state;
    assert_true(ddp_mpirun_is_daemon_name("/usr/bin/orted"));
    assert_true(ddp_mpirun_is_daemon_name("prted"));
    assert_false(ddp_mpirun_is_daemon_name("mpirun"));
    assert_false(ddp_mpirun_is_name("orted"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_mpirun_may_have_a_folder_and_an_ending),
        cmocka_unit_test(a_daemon_is_no_mpirun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
