"""Helpers of the tests of resuming: a run of each command that can be ended and resumed."""
import os
import shutil
import signal
import subprocess

import darknet

COMMANDS = {"detector": darknet.detector_cfg, "classifier": darknet.classifier_cfg,
            "rnn": darknet.rnn_cfg}
FINAL = {"detector": "backup/tiny_final.weights", "classifier": "backup/tiny.weights",
         "rnn": "backup/tiny_final.weights"}


class Resume(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder, count=11)
        self.data.boxes()
        self.write("text", "to be or not to be, that is the question: " * 9)

    def cfg(self, command, **values):
        dropout = darknet.section("dropout", probability=.2)
        text = COMMANDS[command](**{"batch": 12, "subdivisions": 4, "max_batches": 20, **values})
        self.write("tiny.cfg", text.replace("[maxpool]", dropout + "[maxpool]"))

    def words(self, command, *options):
        if command == "rnn":
            return ("rnn", "train", "tiny.cfg", "-file", "text", "-backup", "backup", "-ddp",
                    *options)
        return (command, "train", "train.data", "tiny.cfg", "-ddp", *options)

    def straight(self, command, *options, ranks):
        """The weights of a run that nothing stops. Leaves an empty backup directory."""
        self.succeeds(*self.words(command, "-ddp_seed", "7", *options), ranks=ranks)
        weights = self.read(FINAL[command])
        self.empty()
        return weights

    def empty(self):
        shutil.rmtree(self.path("backup"))
        os.mkdir(self.path("backup"))

    def begin(self, *words, ranks, until, **options):
        """Start a run; returns it once `until` steps are over, or it ended."""
        job = darknet.start(darknet.command(*words, ranks=ranks), self.folder,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.addCleanup(darknet.end_group, job)
        job.text = ""
        for line in job.stdout:
            job.text += line
            until -= " avg, " in line
            if until <= 0:
                break
        return job

    def end(self, job):
        job.text += job.stdout.read()
        job.stdout.close()
        return job.wait(darknet.LIMIT_S)

    def ranks_of(self, job):
        return darknet.ranks_under(job.pid) or [job.pid]

    def trained(self):
        self.succeeds(*self.words("detector", "-ddp_seed", "7"))
        weights = self.read(FINAL["detector"])
        os.remove(self.path(FINAL["detector"]))
        os.remove(self.path(FINAL["detector"] + ".state"))
        return weights

    def everything(self):
        """The files below backup/, and what is in them."""
        return {os.path.relpath(os.path.join(folder, name), self.path("backup")): self.read(os.path.join(folder, name))
                for folder, _, names in os.walk(self.path("backup")) for name in names}

    def interrupted(self, *options):
        job = self.begin(*self.words("detector", *options), ranks=0, until=2)
        job.send_signal(signal.SIGINT)
        self.assertEqual(self.end(job), 0, job.text)
        return job

    def files(self):
        """What lies in backup/: a file that is written anew is another one."""
        return {name: os.stat(self.path("backup/" + name)).st_ino
                for name in self.saved()}
