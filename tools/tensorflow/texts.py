"""Strings joined, hashed, encoded, compressed and split. What is stored of them are their fingerprints."""
import gzip
import zlib

import numpy as np
from case import Case, tf

raw = tf.raw_ops
BUCKETS = (1 << 63) - 1


def fingerprints(case, name, texts):
    case.fetch(name, raw.StringToHashBucketFast(input=texts, num_buckets=BUCKETS))


def joined():
    case = Case("op_string_joins")
    box = tf.constant(np.array([f"{chr(97 + i)}{i % 3 * '.'}" for i in range(24)]).reshape(2, 3, 4))
    for i, axes in enumerate([[0], [1], [2], [-1], [0, 1], [1, 0], [2, 0, 1], [-3, -1], [], 1]):
        for keep in [False, True]:
            axes = np.array(axes, np.int32)
            fingerprints(case, f"reduce_{i}_{keep}",
                         raw.ReduceJoin(inputs=box, reduction_indices=axes, keep_dims=keep, separator="-+"))
    fingerprints(case, "reduce_empty", raw.ReduceJoin(inputs=tf.zeros([2, 0], tf.string), reduction_indices=[1]))
    fingerprints(case, "reduce_scalar",
                 raw.ReduceJoin(inputs="x", reduction_indices=np.zeros([0], np.int32)))
    axis = case.feed("axis", np.array([1], np.int32), shape=None)
    fingerprints(case, "reduce_fed", raw.ReduceJoin(inputs=box, reduction_indices=axis))
    for i, (ids, n) in enumerate([([1, 0], 3), ([[1, 0, 1], [1, 1, 2]], np.int64(4)),
                                  (np.arange(24).reshape(2, 3, 4) % 5, 6)]):
        fingerprints(case, f"segment_{i}", raw.UnsortedSegmentJoin(
            inputs=box, segment_ids=ids, num_segments=n, separator=", "))
    words = tf.constant(["a", "bb", "", "dd", "e", "f", "gg"])
    splits = [0, 3, 3, 4, 7]
    for i, (widths, pad_width, keep) in enumerate([
            ([2], 0, False), ([1, 2, 3], 0, False), ([3], -1, False), ([3, 2], 1, False), ([3, 1], 5, True),
            ([3, 6], 0, True), ([8], 1, True), ([8], -1, True), ([], 0, False), ([2, 2], 0, True)]):
        for dtype in [np.int32, np.int64]:
            made = raw.StringNGrams(
                data=words, data_splits=np.array(splits, dtype), separator="|", ngram_widths=widths,
                left_pad="LP", right_pad="RP", pad_width=pad_width, preserve_short_sequences=keep)
            name = f"ngrams_{i}_{dtype.__name__}"
            fingerprints(case, name, made.ngrams)
            case.fetch(f"{name}_splits", made.ngrams_splits)
    made = raw.StringNGrams(data=words, data_splits=np.zeros([0], np.int64), separator="|", ngram_widths=[1],
                            left_pad="", right_pad="", pad_width=0, preserve_short_sequences=False)
    fingerprints(case, "ngrams_no_rows", made.ngrams)
    case.fetch("ngrams_no_rows_splits", made.ngrams_splits)
    case.write()


def forms():
    case = Case("op_string_forms")
    random = np.random.default_rng(3)

    def packed(name, texts):
        return case.feed(name, np.array(texts, "S"))

    texts = [bytes(random.integers(0, 256, n, np.uint8)) for n in [*range(20), 31, 32, 33, 100]]
    words = case.feed("words", np.array(texts, "S"))
    case.fetch("bucket", raw.StringToHashBucket(string_tensor=words, num_buckets=BUCKETS))
    case.fetch("bucket_7", raw.StringToHashBucket(string_tensor=words, num_buckets=7))
    case.fetch("strong", raw.StringToHashBucketStrong(input=words, num_buckets=BUCKETS, key=[-5, 1 << 40]))
    for pad in [False, True]:
        code = raw.EncodeBase64(input=words, pad=pad)
        fingerprints(case, f"base64_{pad}", code)
        fingerprints(case, f"of_base64_{pad}", raw.DecodeBase64(input=code))
    fingerprints(case, "of_loose_base64", raw.DecodeBase64(input=["YR", "YWL", "__79", ""]))
    long = [b"hello" * 300, b"", bytes(random.integers(0, 256, 3000, np.uint8)), b"x"]
    plain = packed("plain_zlib", [zlib.compress(text, level) for text, level in zip(long, [9, 1, 6, 0])])
    fingerprints(case, "zlib", raw.DecodeCompressed(bytes=plain, compression_type="ZLIB"))
    plain = packed("plain_gzip", [gzip.compress(text, mtime=0) for text in long])
    fingerprints(case, "gzip", raw.DecodeCompressed(bytes=plain, compression_type="GZIP"))
    fingerprints(case, "not_compressed", raw.DecodeCompressed(bytes=words, compression_type=""))
    odd = packed("strange_zlib", [zlib.compress(b"hello" * 300)[:-6], b"", zlib.compress(b"hello") + b"xx",
                                  zlib.compress(b"hello") + zlib.compress(b"you")])
    fingerprints(case, "odd_zlib", raw.DecodeCompressed(bytes=odd, compression_type="ZLIB"))
    odd = packed("strange_gzip", [gzip.compress(b"hello", mtime=0) + gzip.compress(b"you", mtime=0), b"",
                                  gzip.compress(b"hello" * 300, mtime=0)[:-12]])
    fingerprints(case, "odd_gzip", raw.DecodeCompressed(bytes=odd, compression_type="GZIP"))
    for dtype in [tf.uint8, tf.int8, tf.int16, tf.uint16, tf.int32, tf.int64, tf.float32, tf.float64]:
        for little in [False, True]:
            numbers = raw.DecodePaddedRaw(input_bytes=tf.reshape(words, [4, 6]), fixed_length=16,
                                          out_type=dtype, little_endian=little)
            integer = {tf.float32: tf.int32, tf.float64: tf.int64}.get(dtype, dtype)
            case.fetch(f"padded_{dtype.name}_{little}", tf.bitcast(numbers, integer))
    case.write()


def csv():
    case = Case("op_csv")
    rows = tf.constant([
        "1,2.5,word,4000000000,1e-3", " -7 , inf,\"with, comma\",-1,.5", "+3,-0.0,\"say \"\"hi\"\"\",0,7",
        "0,1,\"line\nbreak\",5,NA", "NA,2,,6,", "9,3,\"\",NA,1\n", "\r\n8,1,NA,1,2"])
    defaults = [tf.constant([5]), tf.constant([.25]), tf.constant(["none"]), tf.constant([7], tf.int64),
                tf.constant([.125], tf.float64)]
    rows = tf.strings.regex_replace(rows, "\n$", "")
    made = raw.DecodeCSV(records=rows, record_defaults=defaults, na_value="NA")
    for i, column in enumerate(made):
        name = f"column_{i}"
        fingerprints(case, name, column) if column.dtype == tf.string else case.fetch(name, column)
    made = raw.DecodeCSV(records=[["1;\"a\";x", "2;b\";"], ["3;;", "4; c ;"]],
                         record_defaults=[tf.constant(9), tf.constant("q"), tf.constant("r")], field_delim=";",
                         use_quote_delim=False)
    case.fetch("plain_0", made[0])
    fingerprints(case, "plain_1", made[1])
    fingerprints(case, "plain_2", made[2])
    made = raw.DecodeCSV(records=["1,a,2,b", "3,c,4,d,5,\"unended"],
                         record_defaults=[tf.constant([], tf.int32), tf.constant([], tf.string)],
                         select_cols=[2, 3])
    case.fetch("selected_0", made[0])
    fingerprints(case, "selected_1", made[1])
    case.write()


def unicode():
    case = Case("op_unicode")
    utf8 = [b"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", b"a\xffb", b"\xe2\x82", b"\xe2\x82a", b"\xf0\x9f\x98",
            b"\xf0\x80\x80\x80", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x80\x80", b"\xe2a",
            b"\x01\x1f\x7f\x9f\n.", b"\xef\xbb\xbfa", b"\xe0\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xef\xbf\xbd",
            b"\xef\xbf\xbe", b"", b"\xf1\x80\x80\x41", b"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"]
    random = np.random.default_rng(5)
    pool = np.array([0, 1, 0x20, 0x41, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xd8, 0xdc, 0xdf, 0xe0, 0xed,
                     0xef, 0xf0, 0xf4, 0xf5, 0xfe, 0xff], np.uint8)
    utf8 += [bytes(random.choice(pool, 12)) + b"." for _ in range(12)]
    utf16 = [b"\xfe\xff\x00a.", b"\x00a", b"\xd8\x3d\xde\x00\xd8\x3d\x00a", b"\x00a\x01",
             b"\xde\x00\x00a", b"\x00a\xd8\x3d", b"\x00a\xd8\x3d\xde", b"", b"\x00.\x00\n\x01\x01"]
    utf16 += [bytes(random.choice(pool, 11 + i % 2)) + b"." for i in range(12)]
    # The last one, since TensorFlow keeps the order of bytes for the next string.
    utf16.append(b"\xff\xfea\x00b.")
    utf32 = [b"\0\0\0a\0\x11\0\0\0\0\xd8\0\0\x01\xf6\0\0\x01", b"\0\0\xfe\xff\0\0\0a", b"\xff\xfe\0\0a\0\0\0.",
             b"", b"\0\0\0"[:2] + b"\1"]
    lists = {"UTF-8": utf8, "UTF-16": utf16, "UTF-16-BE": utf16, "UTF-16LE": utf16, "utf_32": utf32,
             "UTF-32-BE": utf32, "UTF-32LE": utf32, "US-ASCII": utf8, "latin1": utf8}
    for encoding, texts in lists.items():
        texts = case.feed(f"texts_{encoding.replace('-', '')}", np.array(texts, "S"))
        for errors in ["replace", "ignore"]:
            for control in [False, True]:
                attrs = {"input_encoding": encoding, "errors": errors, "replace_control_characters": control,
                         "replacement_char": 63 if control else 65533}
                name = f"{encoding.replace('-', '')}_{errors}_{control}"
                made = raw.UnicodeDecodeWithOffsets(input=texts, **attrs)
                case.fetch(name, *made)
                for to in ["UTF-8", "UTF-16-BE", "UTF-32-BE"]:
                    if control:
                        fingerprints(case, f"{name}_{to[4:6]}", raw.UnicodeTranscode(
                            input=texts, output_encoding=to, **attrs))
    case.fetch("small", *raw.UnicodeDecode(input=[["ab", ""], ["c", "\u00e9"]], input_encoding="UTF-8",
                                           Tsplits=tf.int32))
    points = [97, 233, 0x20ac, 0x1f600, 98, 97, 0xd800, 0x110000, -1, 0xfffe, 98, 0x10ffff]
    for to in ["UTF-8", "UTF-16-BE", "UTF-32-BE"]:
        for errors in ["replace", "ignore"]:
            for dtype in [np.int32, np.int64]:
                fingerprints(case, f"encode_{to[4:6]}_{errors}_{dtype.__name__}", raw.UnicodeEncode(
                    input_values=points, input_splits=np.array([0, 2, 2, 5, 12], dtype), output_encoding=to,
                    errors=errors))
    some = np.unique(np.concatenate([np.arange(0, 0x3000), np.arange(0x3000, 0x1ffff, 37), np.arange(0xa000, 0xb000)]))
    case.fetch("scripts", tf.cast(raw.UnicodeScript(input=tf.range(0x600)), tf.uint8))
    scripts = raw.UnicodeScript(input=some.astype(np.int32))
    case.fetch("more_scripts", tf.math.bincount(scripts))
    case.fetch("no_scripts", raw.UnicodeScript(input=[-1, 0x110000, 0xd800, 0x10ffff]))
    case.write()


if __name__ == "__main__":
    joined()
    forms()
    csv()
    unicode()
