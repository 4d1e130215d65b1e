"""Recurrent cells and their gradients."""
import numpy as np
from case import Case, normal, tf

raw = tf.raw_ops
STATES = ["i", "cs", "f", "o", "ci", "co", "h"]


def small(seed, *shape):
    return .6 * normal(seed, *shape)


def lstm():
    case = Case("op_lstm", rtol=1e-5)
    steps, batch, inputs, hidden = 4, 3, 5, 2
    x = case.feed("x", small(1, steps, batch, inputs))
    first = case.feed("first", small(2, batch, inputs))
    weights = {
        "cs_prev": case.feed("cs", 2 * small(3, batch, hidden)),
        "h_prev": case.feed("h", small(4, batch, hidden)),
        "w": case.feed("w", small(5, inputs + hidden, 4 * hidden)),
        "wci": case.feed("wci", small(6, hidden)),
        "wcf": case.feed("wcf", small(7, hidden)),
        "wco": case.feed("wco", small(8, hidden)),
        "b": case.feed("b", small(9, 4 * hidden)),
    }
    d = {"cs_grad": case.feed("dcs", normal(10, steps, batch, hidden)),
         "h_grad": case.feed("dh", normal(11, steps, batch, hidden))}
    d_first = {name: x[0] for name, x in d.items()}
    length = case.feed("length", np.int64(steps - 1))
    whole = case.feed("whole", np.int64(steps))
    for peephole in [False, True]:
        for clip in [-1., .5, 3.]:
            made = raw.LSTMBlockCell(x=first, **weights, cell_clip=clip, use_peephole=peephole,
                                     forget_bias=.25)
            case.fetch(f"cell_{peephole}_{clip}", tf.stack(made))
            states = dict(zip(STATES[:6], made))
            case.fetch(f"cell_grad_{peephole}_{clip}", *raw.LSTMBlockCellGrad(
                x=first, **weights, **states, **d_first, use_peephole=peephole))
        for op, by, more in [(raw.BlockLSTM, raw.BlockLSTMGrad, {}),
                             (raw.BlockLSTM, raw.BlockLSTMGrad, {"cell_clip": .5, "forget_bias": .25}),
                             (raw.BlockLSTMV2, raw.BlockLSTMGradV2, {}),
                             (raw.BlockLSTMV2, raw.BlockLSTMGradV2, {"cell_clip": .5})]:
            for name, n in [("whole", whole), ("length", length)]:
                label = f"v{1 + (op is raw.BlockLSTMV2)}_{name}_{peephole}_{len(more)}"
                made = op(seq_len_max=n, x=x, **weights, use_peephole=peephole, **more)
                # The states of steps that are not computed are not initialized.
                case.fetch(label, tf.stack([y[:steps - 1] for y in made]))
                case.fetch(f"{label}_last", made.cs, made.h)
                made = by(seq_len_max=n, x=x, **weights, **made._asdict(), **d, use_peephole=peephole)
                case.fetch(f"{label}_grad", *made)
    made = raw.BlockLSTM(seq_len_max=whole, x=x, **weights, use_peephole=True, cell_clip=-1.)
    loss = tf.reduce_sum(made.h * d["h_grad"]) + tf.reduce_sum(made.cs * d["cs_grad"])
    case.fetch("gradients", *tf.gradients(loss, [x, *weights.values()]))
    case.write()


def halves():
    """TensorFlow rounds each intermediate result."""
    case = Case("op_lstm_half", rtol=4e-3, atol=4e-3)
    steps, batch, inputs, hidden = 3, 2, 3, 4
    shapes = {"x": [steps, batch, inputs], "cs_prev": [batch, hidden], "h_prev": [batch, hidden],
              "w": [inputs + hidden, 4 * hidden], "wci": [hidden], "wcf": [hidden], "wco": [hidden],
              "b": [4 * hidden]}
    given = {name: case.feed(name, small(i, *shape).astype(np.float16))
             for i, (name, shape) in enumerate(shapes.items())}
    length = case.feed("length", np.int64(steps))
    for op, by, name in [(raw.BlockLSTM, raw.BlockLSTMGrad, "v1"), (raw.BlockLSTMV2, raw.BlockLSTMGradV2, "v2")]:
        made = op(seq_len_max=length, **given, use_peephole=True)
        case.fetch(name, tf.stack(made))
        ones = tf.ones_like(made.h)
        case.fetch(f"{name}_grad", *by(seq_len_max=length, **given, **made._asdict(), cs_grad=ones, h_grad=ones,
                                       use_peephole=True))
    case.write()


def gru():
    case = Case("op_gru", rtol=1e-5)
    batch, inputs, hidden = 3, 5, 2
    operands = {
        "x": case.feed("x", small(1, batch, inputs)),
        "h_prev": case.feed("h", normal(2, batch, hidden)),
        "w_ru": case.feed("w_ru", small(3, inputs + hidden, 2 * hidden)),
        "w_c": case.feed("w_c", small(4, inputs + hidden, hidden)),
        "b_ru": case.feed("b_ru", small(5, 2 * hidden)),
        "b_c": case.feed("b_c", small(6, hidden)),
    }
    d_h = case.feed("dh", normal(7, batch, hidden))
    r, u, c, h = raw.GRUBlockCell(**operands)
    case.fetch("cell", r, u, c, h)
    case.fetch("grad", *raw.GRUBlockCellGrad(**operands, r=r, u=u, c=c, d_h=d_h))
    case.write()


if __name__ == "__main__":
    lstm()
    halves()
    gru()
