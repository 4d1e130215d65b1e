"""Models of torchvision and transformers with random weights, as PyTorch exports them, with onnxruntime's results: more cases of tools/tests/onnx.rs.

    venv/bin/python tools/onnx/torch_models.py FOLDER [--dynamo] [MODEL ...]
    BEFROST_ONNX=FOLDER cargo test -p befrost-tools --test onnx

Classification, segmentation, detection, video, optical flow; encoders, decoders, both, of text, speech and pictures, small. Texts have a batch and a length
that are not known. `--dynamo` takes PyTorch's newer exporter. Each model that PyTorch or onnxruntime refuses is named. Needs torch, torchvision,
transformers (4), onnxscript, onnx and onnxruntime.
"""
import contextlib
import io
import json
import logging
import os
import sys
import warnings

# A script beside this one has the name of a package.
sys.path.remove(os.path.dirname(os.path.abspath(__file__)))

import numpy as np
import onnxruntime
import torch
import torchvision
import transformers

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
onnxruntime.set_default_logger_severity(4)

MODELS = {}

# torchvision: models by the modules that they are in, with the shape of a picture.
VISION = {
    torchvision.models: {
        "alexnet": (224, 224), "densenet121": (96, 96), "convnext_tiny": (96, 96), "efficientnet_b0": (96, 96), "efficientnet_v2_s": (96, 96),
        "googlenet": (224, 224), "inception_v3": (299, 299), "maxvit_t": (224, 224), "mnasnet0_5": (96, 96), "mobilenet_v2": (96, 96),
        "mobilenet_v3_small": (96, 96), "regnet_y_400mf": (96, 96), "resnet18": (96, 96), "resnext50_32x4d": (96, 96),
        "shufflenet_v2_x1_0": (96, 96), "squeezenet1_1": (96, 96), "swin_t": (224, 224), "swin_v2_t": (224, 224), "vgg11_bn": (224, 224),
        "vit_b_32": (224, 224),
    },
    torchvision.models.segmentation: {
        "fcn_resnet50": (96, 96), "deeplabv3_mobilenet_v3_large": (96, 96), "lraspp_mobilenet_v3_large": (96, 96),
    },
    torchvision.models.detection: {
        "fasterrcnn_mobilenet_v3_large_320_fpn": (160, 200), "ssdlite320_mobilenet_v3_large": (160, 200), "ssd300_vgg16": (160, 200),
        "retinanet_resnet50_fpn": (160, 200), "maskrcnn_resnet50_fpn": (160, 200), "keypointrcnn_resnet50_fpn": (160, 200),
        "fcos_resnet50_fpn": (160, 200),
    },
    torchvision.models.video: {"r3d_18": (8, 64, 64), "s3d": (16, 224, 224)},
}

TEXT = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=100)
PICTURE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8)
DECODER = dict(**TEXT, num_key_value_heads=2, use_cache=False)
BOTH = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
            vocab_size=100, use_cache=False)
# transformers: the prefix of the configuration, the model, and what differs from the defaults.
TEXTS = {
    "Bert": ("Model", TEXT), "Roberta": ("Model", dict(**TEXT, max_position_embeddings=40)), "Albert": ("Model", dict(**TEXT, embedding_size=16)),
    "DistilBert": ("Model", dict(dim=32, n_layers=2, n_heads=4, hidden_dim=48, vocab_size=100)), "Electra": ("Model", dict(**TEXT, embedding_size=16)),
    "DebertaV2": ("Model", dict(**TEXT, relative_attention=True, position_biased_input=False, pos_att_type=["p2c", "c2p"], max_relative_positions=8)),
    "MPNet": ("Model", dict(**TEXT, max_position_embeddings=40)),
    "GPT2": ("LMHeadModel", dict(n_embd=32, n_layer=2, n_head=4, vocab_size=100, n_positions=40, use_cache=False)),
    "GPTNeoX": ("ForCausalLM", dict(**TEXT, use_cache=False)), "Llama": ("ForCausalLM", DECODER),
    "Mistral": ("ForCausalLM", dict(**DECODER, sliding_window=4)), "Qwen2": ("ForCausalLM", DECODER),
    "Qwen3": ("ForCausalLM", dict(**DECODER, head_dim=8)), "Gemma2": ("ForCausalLM", dict(**DECODER, head_dim=8)),
    "Phi3": ("ForCausalLM", dict(**DECODER, pad_token_id=0)), "Mixtral": ("ForCausalLM", dict(**DECODER, num_local_experts=3)),
    "Bloom": ("ForCausalLM", dict(hidden_size=32, n_layer=2, n_head=4, vocab_size=100, use_cache=False)),
    "OPT": ("ForCausalLM", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=48, vocab_size=100, max_position_embeddings=40,
                                word_embed_proj_dim=32, use_cache=False)),
    "T5": ("Model", dict(d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, vocab_size=100, use_cache=False)),
    "Bart": ("Model", dict(**BOTH, max_position_embeddings=40)),
}
PICTURES = {
    "ViT": ("Model", PICTURE, (32, 32)), "DeiT": ("Model", PICTURE, (32, 32)), "Dinov2": ("Model", PICTURE, (40, 32)),
    "Beit": ("Model", dict(**PICTURE, use_relative_position_bias=True), (32, 32)),
    "Segformer": ("ForSemanticSegmentation", dict(hidden_sizes=[8, 16, 24, 32], depths=[1] * 4, num_attention_heads=[1, 2, 4, 4], decoder_hidden_size=16,
                                                  num_labels=5), (64, 64)),
    "MobileViT": ("Model", dict(image_size=64, hidden_sizes=[24, 32, 40], neck_hidden_sizes=[8, 16, 16, 24, 24, 32, 40]), (64, 64)),
    "Swinv2": ("Model", dict(image_size=32, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4), (32, 32)),
}


class Called(torch.nn.Module):
    """A model as a function of its inputs."""

    def __init__(self, model, call):
        super().__init__()
        self.model, self.call = model, call

    def forward(self, *inputs):
        return self.call(self.model, *inputs)


def transformer(prefix, suffix, changed):
    config = getattr(transformers, f"{prefix}Config")(**changed)
    config._attn_implementation = "eager"
    return getattr(transformers, prefix + suffix)(config)


def model(name, make, inputs, call=lambda made, *inputs: made(*inputs)):
    MODELS[name] = make, inputs, call


for module, of_module in VISION.items():
    for name, sizes in of_module.items():
        picture, options = torch.rand(1, 3, *sizes), {"weights": None}
        if module is torchvision.models.detection:
            picture, options["weights_backbone"] = [picture[0]], None
        elif module is torchvision.models.segmentation:
            options["weights_backbone"] = None
        elif name in ("googlenet", "inception_v3"):
            options["init_weights"] = False
        model(name, lambda module=module, name=name, options=options: getattr(module, name)(**options), (picture,))
frames = torch.rand(1, 3, 128, 128)
model("raft_small", lambda: torchvision.models.optical_flow.raft_small(weights=None), (frames, frames.flip(3)),
      lambda made, *frames: made(*frames, num_flow_updates=3)[-1])

words, present = torch.randint(3, 90, (2, 7)), torch.ones(2, 7, dtype=torch.long)
present[1, 5:] = 0
for prefix, (suffix, changed) in TEXTS.items():
    has_two = prefix in ("T5", "Bart")
    more = (lambda words: {"decoder_input_ids": words[:, :4]}) if has_two else (lambda words: {})
    model(prefix.lower(), lambda prefix=prefix, suffix=suffix, changed=changed: transformer(prefix, suffix, changed), (words, present),
          lambda made, words, present, more=more: made(input_ids=words, attention_mask=present, return_dict=False, **more(words))[0])
for prefix, (suffix, changed, sizes) in PICTURES.items():
    model(prefix.lower(), lambda prefix=prefix, suffix=suffix, changed=changed: transformer(prefix, suffix, changed), (torch.rand(1, 3, *sizes),),
          lambda made, picture: made(picture, return_dict=False)[0])
model("mamba", lambda: transformer("Mamba", "ForCausalLM", dict(hidden_size=32, num_hidden_layers=2, vocab_size=100, use_cache=False)), (words,),
      lambda made, words: made(input_ids=words, return_dict=False)[0])
model("whisper", lambda: transformer("Whisper", "Model", dict(**BOTH, num_mel_bins=16, max_source_positions=20, pad_token_id=0, bos_token_id=1,
                                                              eos_token_id=2, decoder_start_token_id=1)), (torch.rand(2, 16, 40), words),
      lambda made, sound, words: made(input_features=sound, decoder_input_ids=words, return_dict=False)[0])
model("wav2vec2", lambda: transformer("Wav2Vec2", "ForCTC", dict(**TEXT, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
                                                                 num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2)), (torch.rand(1, 800),),
      lambda made, sound: made(sound, return_dict=False)[0])
model("clip", lambda: transformer("CLIP", "Model", dict(text_config=dict(**TEXT, max_position_embeddings=40), vision_config=PICTURE, projection_dim=16)),
      (words, torch.rand(1, 3, 32, 32), present),
      lambda made, words, picture, present: made(input_ids=words, pixel_values=picture, attention_mask=present, return_dict=False)[0])


def export(name, path, dynamo):
    """Writes the model; returns its inputs."""
    make, inputs, call = MODELS[name]
    torch.manual_seed(0)
    made = Called(make().eval(), call).eval()
    options = dict(dynamo=True, opset_version=18, external_data=False, verbose=False)
    if not dynamo:
        is_text = len(inputs) == 2 and inputs[0] is words
        names = [f"x{i}" for i in range(len(inputs))]
        axes = {name: {0: "batch", 1: "length"} for name in names} if is_text else None
        options = dict(dynamo=False, opset_version=17, input_names=names, dynamic_axes=axes)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), torch.no_grad():
        torch.onnx.export(made, inputs, path, **options)
    return [tensor for value in inputs for tensor in (value if isinstance(value, list) else [value])]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--dynamo"]
    if not arguments:
        sys.exit(__doc__)
    for name in arguments[1:] or MODELS:
        folder = os.path.join(arguments[0], name)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "model.onnx")
        try:
            inputs = export(name, path, "--dynamo" in sys.argv)
            session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
            feeds = {given.name: np.asarray(tensor) for given, tensor in zip(session.get_inputs(), inputs)}
            results = session.run(None, feeds)
        except Exception as error:  # noqa: BLE001: whatever the exporters fail with
            print(f"{name}: {str(error).splitlines()[0][:150]}", flush=True)
            os.path.exists(path) and os.remove(path)
            os.rmdir(folder)
            continue
        case = {"inputs": {}, "outputs": {}, "atol": 1e-4 * max(1.0, *(float(abs(one).max(initial=0)) for one in results))}
        outputs = zip([given.name for given in session.get_outputs()], results)
        for kind, short, tensors in (("inputs", "in", feeds.items()), ("outputs", "out", outputs)):
            for i, (tensor, value) in enumerate(tensors):
                case[kind][tensor] = f"run0_{short}_{i}.npy"
                np.save(os.path.join(folder, case[kind][tensor]), value)
        with open(os.path.join(folder, "case.json"), "w") as file:
            json.dump(case, file)


if __name__ == "__main__":
    main()
