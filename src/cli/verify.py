#!/usr/bin/env python3
"""Checks the proof of one command that `cuff prove` wrote; needs nothing but Python 3.

    python3 verify.py PROOF VKEY

VKEY is the public key of the ledger (NAME+ID+BASE64), or a file with it. Get it on another way
than the proof. Exit 0: proven; 1: something is wrong; 2: this is no proof, or no key.

Checked are: each part that is shown is what its leaf commits to; the leaf is in the tree (RFC 6962)
that a checkpoint names; the key signed the checkpoint (C2SP signed-note, Ed25519). The holder of
the key could have made all of it later: only an anchor or a witness tells since when it was there.
"""
import base64
import hashlib
import json
import os
import re
import sys

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # RFC 8032, 5.1
D, ROOT = -121665 * pow(121666, P - 2, P) % P, pow(2, (P - 1) // 4, P)

def sha256(*pieces):
    return hashlib.sha256(b"".join(pieces)).digest()

def b64(text):
    data = base64.b64decode(text)
    if base64.b64encode(data).decode() != text:
        raise ValueError("%r is not what base64 makes of any bytes" % text)
    return data

def point(data):
    """X, Y, Z and T of the 32 bytes of a point."""
    y, odd = int.from_bytes(data, "little") % 2**255, data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if (x * x - square) % P == 0 else x * ROOT % P
    if (x * x - square) % P or y >= P or (x == 0 and odd):
        raise ValueError("these bytes are no point of the curve")
    x = x if x % 2 == odd else P - x
    return x, y, 1, x * y % P

def add(a, b):
    m, n = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    t, z = 2 * a[3] * b[3] * D, 2 * a[2] * b[2]
    e, f, g, h = n - m, z - t, z + t, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P

def times(factor, a):
    total = (0, 1, 1, 0)
    while factor:
        total = add(total, a) if factor & 1 else total
        a, factor = add(a, a), factor >> 1
    return total

def is_signed(key, text, signature):
    s = int.from_bytes(signature[32:], "little")
    if len(key) != 32 or len(signature) != 64 or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % ORDER
    base = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    a, b = times(s, base), add(point(signature[:32]), times(h, point(key)))
    return all((a[i] * b[2] - b[i] * a[2]) % P == 0 for i in (0, 1))

def root_of(leaf, index, size, path):
    """The root that follows from a leaf and the hashes beside its way up (RFC 9162, 2.1.3.2)."""
    node, last = sha256(b"\0", leaf), size - 1
    if not 0 <= index <= last:
        raise ValueError("the tree has no such place")
    for sibling in path:
        if index % 2 or index == last:
            node = sha256(b"\1", sibling, node)
            while index and not index % 2:
                index, last = index // 2, last // 2
        else:
            node = sha256(b"\1", node, sibling)
        index, last = index // 2, last // 2
    return node if last == 0 else None

def key_of(text):
    name, key_id, coded = text.strip().split("+", 2)
    key = b64(coded)
    if key[:1] != b"\1" or sha256(name.encode() + b"\n" + key)[:4].hex() != key_id:
        raise ValueError("the key is none, or not the one with that id")
    return name, bytes.fromhex(key_id), key[1:]

def check(document, key):
    """Sentences about a proof: what it says, and what is wrong with it."""
    (name, key_id, raw), leaf = key, document["leaf"]
    tokens = leaf[:-1].split(" ")
    head, note = document["proof"].split("\n\n", 1)
    text, marks = note.rsplit("\n\n", 1)
    origin, size, root = text.split("\n")[:3]
    kind, *rest = head.split("\n")
    place, *path = rest[1:] if rest[0].startswith("extra ") else rest
    known = document["cuff_proof"] == 1 and kind == "c2sp.org/tlog-proof@v1" and leaf[-1:] == "\n"
    if not known or tokens[:2] != ["cuff/1", "entry"] or not re.match("index [0-9]+$", place):
        raise ValueError("it is not the proof of an entry")
    index, path = int(place[6:]), [b64(line) for line in path]
    said = ["entry %s of session %s, %s, %s" % tuple(tokens[at] for at in (4, 3, 5, 6))]
    wrong = []
    if root_of(leaf.encode(), index, int(size), path) != b64(root):
        wrong.append("the ledger has no such line at place %d" % (index + 1))
    *marks, end = [line.split(" ") for line in marks.split("\n")]
    own = [b64(coded)[4:] for dash, by, coded in marks if b64(coded)[:4] == key_id and by == name]
    if end != [""] or [mark for mark in marks if mark[0] != "\u2014"]:
        raise ValueError("its checkpoint has lines that are no signatures")
    if origin != name or not own or not is_signed(raw, (text + "\n").encode(), own[0]):
        wrong.append("the key did not sign the checkpoint")
    for part, commitment in zip(("facts", "text", "stdout", "stderr"), tokens[7:11]):
        shown = document.get("parts", {}).get(part)
        if shown is None:
            said.append(part + (": nothing" if commitment == "-" else ": sealed, not shown"))
            continue
        salt = b64(shown["salt"].translate({45: "+", 95: "/", 43: " ", 47: " "}) + "==")
        digest = sha256(salt, sha256(shown["data"].encode()))
        same = base64.urlsafe_b64encode(digest).decode().rstrip("=") == commitment
        said.append("%s: %s" % (part, shown["data"]))
        wrong += [] if same and len(salt) == 16 else [part + " is not what was sealed"]
    return said + ["line %d of the %s lines of the ledger %s" % (index + 1, size, origin)], wrong

def main(proof, given):
    try:
        given = open(given, encoding="utf-8").read() if os.path.exists(given) else given
        key = key_of(given)
        said, wrong = check(json.load(open(proof, encoding="utf-8")), key)
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError, AttributeError,
            RecursionError) as error:
        sys.exit(print("%s: %s" % (proof, error), file=sys.stderr) or 2)
    last = "WRONG: not proven" if wrong else "proven: signed with " + given.strip()
    for line in said + ["WRONG: " + words for words in wrong] + [last]:
        # What was recorded must not move the cursor.
        print("".join(sign if " " <= sign <= "~" else ascii(sign)[1:-1] for sign in line))
    sys.exit(1 if wrong else 0)

if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) == 3 else sys.exit(print(__doc__, file=sys.stderr) or 2)
