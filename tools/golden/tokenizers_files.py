#!/usr/bin/env python3
"""Writes tests/golden/io/tokenizers.npz: tokenizers that the PyPI package trained, and what they make of 1 MB of mixed text.

The text is no part of the file: it is put together of fragments (words, code, emoji, CJK, marks, bytes that are no UTF-8) by a
generator of random numbers that tests/io/tokenizer_texts.hpp has, too. Of what comes out there are checksums for each document.
usage: tokenizers_files.py (in an environment with tools/golden/requirements.txt)
"""
import base64
import codecs
import json
import pathlib
import random
import struct
import zlib

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "io" / "tokenizers.npz"
DOCUMENTS, BYTES = 500, 1_000_000
CL100K = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def fragments():
    """What texts are made of, in proportions that look like a mixture of chats, code and pages of the web."""
    r = random.Random(18)
    pick = lambda alphabet, n: "".join(r.choice(alphabet) for _ in range(n))
    span = lambda first, last: [chr(c) for c in range(first, last + 1)]
    syllables = [a + b for a in ["", "b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "th", "st", "w", "v", "pr"]
                 for b in ["a", "e", "i", "o", "u", "ea", "an", "en", "in", "er", "ou", "ing"]]
    words = ["".join(r.choice(syllables) for _ in range(r.choice([1, 1, 2, 2, 3, 4]))) for _ in range(700)]
    out = [" " + w for w in words] + [" " + w.capitalize() for w in words[:150]] + [w.upper() for w in words[:40]]
    out += [" the", " of", " and", " a", " to", ". ", ", ", "! ", "? ", ": ", "; ", "\n", "\n\n", " - ", " (", ") "] * 14
    out += ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'ſ", "’s", "don't", "I'M"] * 2
    out += [" " + str(r.randrange(10 ** r.randrange(1, 9))) for _ in range(60)] + ["3.14", "1,000", "²", "½", "Ⅷ", "٣", "৪", "①"]
    out += [f"def {w}({v}):\n    return {v} + {r.randrange(99)}\n" for w, v in zip(words[:25], words[25:50])]
    out += [f"for (int {w} = 0; {w} < n; ++{w}) {{\n\t{v}[{w}] *= 2;\n}}\n" for w, v in zip(words[50:70], words[70:90])]
    out += ["\t", "  ", "    ", "        ", " \n", "\r\n", "\r", "\u00a0", "\u3000", "\u2003", "\u200b", "\u0085", "\u2028", "\x00", "\x1b[0m", "\x7f", "\ufeff"] * 2
    out += ["😀", "🎉", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "❤️", "☃", "1️⃣"] * 4 + span(0x1F600, 0x1F640)
    out += [pick(span(0x4E00, 0x5200), r.randrange(1, 9)) for _ in range(70)] + ["。", "、", "「", "」", "！", "ＡＢＣ", "ｶﾞ", "㍿", "﷽", "ﬁ", "豈"] * 2
    out += [pick(span(0x3041, 0x3096), r.randrange(1, 8)) for _ in range(30)] + [pick(span(0x30A1, 0x30FA), r.randrange(1, 6)) for _ in range(20)]
    out += [pick(span(0xAC00, 0xAE00), r.randrange(1, 6)) for _ in range(30)] + ["각", "각", "ᄀ", "가"]
    out += [" " + pick(span(0x430, 0x44F), r.randrange(2, 9)) for _ in range(60)] + [" " + pick(span(0x3B1, 0x3C9), r.randrange(2, 8)) for _ in range(20)]
    out += [" " + pick(span(0x627, 0x64A), r.randrange(2, 7)) for _ in range(30)] + [" " + pick(span(0x5D0, 0x5EA), r.randrange(2, 7)) for _ in range(15)]
    out += [pick(span(0x905, 0x939), 2) + r.choice(["ि", "ा", "्", "ं"]) for _ in range(20)] + [pick(span(0xE01, 0xE2E), 3) + "ี้" for _ in range(10)]
    marks = span(0x300, 0x33F)
    out += ["e" + r.choice(marks) for _ in range(20)] + ["a" + pick(marks, 3) for _ in range(15)] + ["é", "Å", "Å", "Ω", "ǖ", "ệ", "İ", "ß", "ẞ", "Ǆ", "ſ", "K", "̈", "q̣̇", "q̣̇"] * 2
    out += ["<|endoftext|>", " <|endoftext|> ", "<|endoftext|", "<pad>", "[MASK]", " [MASK]", "_x_", "snake_case_name", "https://a.b/c?d=e&f=g#h", "user@host.org",
            "C:\\path\\file.txt", "{\"key\": [1, 2.5e-3, null]}", "<div class='x'>&amp;</div>", "a" * 70, "=" * 50, "-" * 33, "abc" * 30, " " * 40, "word" * 25]
    bad = [b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\x80\x80", b"\xf8abc", b"\xe2\x28\xa1"]
    return [f.encode() for f in out] + bad * 2


def documents(parts):
    """DOCUMENTS texts of BYTES in all, by the generator that the test has."""
    state, out = 18, []
    for _ in range(DOCUMENTS):
        text = b""
        while len(text) < BYTES // DOCUMENTS:
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            text += parts[(state >> 33) % len(parts)]
        out.append(text)
    return out


def with_places(text):
    """The text as Python has it, and where each of its characters is in the bytes."""
    gaps = []

    def note(error):
        gaps.append((error.start, error.end))
        return "\ufffd", error.end

    codecs.register_error("note", note)
    decoded, places, at = text.decode("utf-8", errors="note"), [], 0
    gaps = dict(gaps)
    for c in decoded:
        end = gaps.get(at, at + len(c.encode()))
        places.append((at, end))
        at = end
    assert at == len(text)
    return decoded, places


def checksum(values):
    return zlib.crc32(values.encode() if isinstance(values, str) else np.asarray(values, "<i4").tobytes())


def in_bytes(offsets, places):
    for begin, end in offsets:
        if begin == end:
            yield from 2 * [places[begin][0] if begin < len(places) else places[-1][1]]
        else:
            yield from (places[begin][0], places[end - 1][1])


def darts(entries):
    """The table of a Precompiled normalizer: a double array of UTF-8 keys, then the texts, each with a zero behind it."""
    texts, values, tree = b"", {}, {}
    for key, value in entries.items():
        values[key] = len(texts)
        texts += value.encode() + b"\0"
    for key in entries:
        node = tree
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = values[key]
    units, used = {0: 0}, {0}

    def place(node, at):
        base = next(b for b in range(1, 10**6) if not any(b ^ label in used for label in node))
        used.update(base ^ label for label in node)
        units[at] |= (at ^ base) << 10 | (1 << 8 if 0 in node else 0)
        for label, child in node.items():
            if label == 0:
                units[base] = child | 1 << 31
            else:
                units[base ^ label] = label
                place(child, base ^ label)

    place(tree, 0)
    array = [units.get(i, 0) for i in range((max(units) // 256 + 1) * 256)]
    return struct.pack("<I", 4 * len(array)) + struct.pack(f"<{len(array)}I", *array) + texts


def trained(texts):
    """Name -> tokenizer."""
    out = {}
    quiet = {"show_progress": False}
    bytes_alphabet = pre_tokenizers.ByteLevel.alphabet()
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.post_processor, t.decoder = processors.ByteLevel(trim_offsets=True), decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=4000, special_tokens=["<|endoftext|>"], initial_alphabet=bytes_alphabet, **quiet))
    out["gpt2"] = t

    t = Tokenizer(models.BPE(ignore_merges=True))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CL100K), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2000, special_tokens=["<|begin|>", "<|end|>"], initial_alphabet=bytes_alphabet, **quiet))
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<|begin|> $A", pair="<|begin|> $A <|end|>:1 $B:1", special_tokens=[("<|begin|>", 0), ("<|end|>", 1)])])
    t.add_tokens([AddedToken("[MASK]", lstrip=True, normalized=False), AddedToken("snake", single_word=True), "def"])
    out["llama3"] = t

    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer, t.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    t.train_from_iterator(texts, trainers.UnigramTrainer(vocab_size=2000, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>", **quiet))
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 1), ("</s>", 2)])
    out["unigram"] = t

    pieces = json.loads(t.to_str())["model"]["vocab"][:900]
    bytes_of = [[f"<0x{b:02X}>", -20.0] for b in range(256)]
    t = Tokenizer(models.Unigram([tuple(p) for p in pieces + bytes_of], unk_id=0, byte_fallback=True))
    table = {"ﬁ": "fi", "Å": "Å", "é": "é", "\u00a0": " ", "\u3000": " ", "\t": " ", "\n": " ", "Ａ": "A", "Ｂ": "B", "½": "1/2", "e\u0301": "é", "\u200b": "", "A": "a"}
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(darts(table)), normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), "▁")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    out["charsmap"] = t

    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    names = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2000, special_tokens=names, limit_alphabet=300, **quiet))
    described = json.loads(t.to_str())
    described["added_tokens"] = described["added_tokens"][:3]
    t = Tokenizer.from_str(json.dumps(described))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.pre_tokenizer = None
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    out["llama2"] = t

    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer, t.decoder = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    t.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=1500, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=300, **quiet))
    t.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    out["bert"] = t
    return out


# What the tests make of the same JSON.
NORMALIZERS = {
    "NFC": normalizers.NFC(), "NFD": normalizers.NFD(), "NFKC": normalizers.NFKC(), "NFKD": normalizers.NFKD(),
    "Lowercase": normalizers.Lowercase(), "StripAccents": normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
    "Strip": normalizers.Strip(), "Bert": normalizers.BertNormalizer(),
}
PRE_TOKENIZERS = {
    "ByteLevel": pre_tokenizers.ByteLevel(), "Cl100k": pre_tokenizers.Split(Regex(CL100K), "isolated"),
    "Metaspace": pre_tokenizers.Metaspace(), "Whole": pre_tokenizers.Metaspace(split=False, prepend_scheme="first"),
    "Whitespace": pre_tokenizers.Whitespace(), "WhitespaceSplit": pre_tokenizers.WhitespaceSplit(), "Punctuation": pre_tokenizers.Punctuation(),
    "Digits": pre_tokenizers.Digits(), "Digit": pre_tokenizers.Digits(individual_digits=True), "Bert": pre_tokenizers.BertPreTokenizer(),
    "Delimiter": pre_tokenizers.CharDelimiterSplit("e"),
    **{b: pre_tokenizers.Split("a", b) for b in ["removed", "merged_with_previous", "merged_with_next", "contiguous"]},
    "Inverted": pre_tokenizers.Split(Regex(r"[a-f]+|\d{2,3}"), "removed", invert=True),
}


def described(component, name):
    """The JSON of a part of a tokenizer."""
    t = Tokenizer(models.BPE())
    setattr(t, name, component)
    return json.dumps(json.loads(t.to_str())[name])


def as_bytes(text):
    return np.frombuffer(text.encode(), np.uint8)


def main():
    parts = fragments()
    out = {"fragments": np.frombuffer(b"".join(parts), np.uint8), "fragment_ends": np.cumsum([len(p) for p in parts]).astype(np.int32)}
    given = documents(parts)
    texts, places = zip(*map(with_places, given))
    for name, t in trained(texts).items():
        text = json.dumps(json.loads(t.to_str()), ensure_ascii=False, separators=(",", ":"))
        t = Tokenizer.from_str(text)  # scores change in the last bit when a file is read
        out[f"{name}/json"] = as_bytes(text)
        rows = []
        for i, text in enumerate(texts):
            e = t.encode(text)
            pair = t.encode(text[:50], texts[i - 1][:50])
            rows.append([len(e.ids), checksum(e.ids), checksum("\0".join(e.tokens)), checksum(list(in_bytes(e.offsets, places[i]))),
                         checksum(t.decode(e.ids)), checksum(t.decode(e.ids, skip_special_tokens=False)),
                         checksum(t.encode(text, add_special_tokens=False).ids), checksum(pair.ids + pair.type_ids)])
        out[f"{name}/documents"] = np.array(rows, np.uint32)
        whole = b"".join(given).decode("utf-8", errors="replace")
        ids = t.encode(whole).ids
        out[f"{name}/whole"] = np.array([len(ids), checksum(ids)], np.uint32)
        print(name, t.get_vocab_size(), "tokens,", len(ids), "of the text")
    for name, n in NORMALIZERS.items():
        out[f"normalizer/{name}/json"] = as_bytes(described(n, "normalizer"))
        out[f"normalizer/{name}"] = np.array([checksum(n.normalize_str(t)) for t in texts], np.uint32)
    for name, p in PRE_TOKENIZERS.items():
        out[f"pre_tokenizer/{name}/json"] = as_bytes(described(p, "pre_tokenizer"))
        out[f"pre_tokenizer/{name}"] = np.array([checksum("\0".join(piece for piece, _ in p.pre_tokenize_str(t))) for t in texts], np.uint32)
    np.savez_compressed(OUT, **out)
    print(OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
