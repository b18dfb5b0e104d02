"""A data set and a network of one step, for tests of how runs start and end."""
import darknet

TRAIN = ("detector", "train", "train.data", "tiny.cfg")
PROMISED_S = 5  # README: so long after a signal all processes are gone


class Start(darknet.Case):
    def setUp(self):
        super().setUp()
        self.data = darknet.DataSet(self.folder)
        self.data.boxes()
        self.write("tiny.cfg", darknet.detector_cfg(max_batches=1))
