"""Checkpoints of objects with the variables of `testdata/training/follow.pbtxt`."""
import pathlib
import shutil

import tensorflow as tf

FOLDER = pathlib.Path(__file__).parents[2] / "testdata/training/objects"


def net():
    net = tf.Module()
    net.w, net.log = tf.Variable(2.5, name="w"), tf.Variable(-1.5, name="log_w")
    return net


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    tf.train.Checkpoint(net=net()).write(str(FOLDER / "named-7"))
    # All variables are called 'Variable'.
    tf.train.Checkpoint(w=tf.Variable(2.5), log_w=tf.Variable(-1.5)).save(str(FOLDER / "paths"))
    tf.train.Checkpoint(net=net(), other=tf.Variable(1.0)).save(str(FOLDER / "surplus"))
    (FOLDER / "checkpoint").unlink()


if __name__ == "__main__":
    main()
