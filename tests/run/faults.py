#!/usr/bin/env python3
# ddp-test: ci cost=100
"""A few of the faults of scripts/faults.py, once each: those that no other test provokes. At the same steps in each run, or at those of
$DDP_TEST_SEED. By hand: scripts/faults.py -times 20."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FAULTS = ("SIGSEGV of a rank", "exit(0) of a rank", "a rank out of memory", "mpirun killed", "cable out for 3 s, 2 hosts",
          "link of 1 kbit/s for ever, 2 hosts", "a rank on another processor", "picture cut off", "label made bad",
          "backup folder moved away", "clock set back an hour")

sys.exit(subprocess.run([os.path.join(HERE, "..", "..", "scripts", "faults.py"), "-at_a_time", "4", "-seed", os.environ.get("DDP_TEST_SEED", "1"), *FAULTS],
                        env={**os.environ, "DDP_FAULTS_TIMEOUT_S": "10", "DDP_FAULTS_STEPS": "1200"}, check=False).returncode)
