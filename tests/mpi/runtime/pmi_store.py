#!/usr/bin/env python3
"""pmi_store.py WRONG PROGRAM [ARGUMENT...]: for mixed.sh, between a rank and Hydra, which is the store of its keys (PMI 1). It answers
wrongly to zmpi, which asks before MPICH does. WRONG: put:N (rank N cannot put its key), get (nobody finds one), init (another
version is spoken), space (no name of the store)."""

import os
import select
import socket
import subprocess
import sys

wrong, command = sys.argv[1], sys.argv[2:]
hydra = socket.socket(fileno=int(os.environ["PMI_FD"]))
ours, theirs = socket.socketpair()
os.set_inheritable(theirs.fileno(), True)
child = subprocess.Popen(command, env=dict(os.environ, PMI_FD=str(theirs.fileno())), close_fds=False)
theirs.close()
count = {"init": 0, "get_my_kvsname": 0}


def answer(line):
    """Ours, in place of Hydra's."""
    words = dict(word.split("=", 1) for word in line.split() if "=" in word)
    name = words.get("cmd")
    if name in count:
        count[name] += 1
    if name == "init" and wrong == "init" and count[name] == 1:
        return "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n"
    if name == "get_my_kvsname" and wrong == "space" and count[name] == 1:
        return "cmd=my_kvsname\n"
    if not words.get("key", "").startswith("zmpi-"):
        return None
    if name == "put" and wrong == f"put:{os.environ['PMI_RANK']}":
        return "cmd=put_result rc=-1 msg=full\n"
    if name == "get" and wrong == "get":
        return "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"
    return None


asked = b""
while True:
    ready, _, _ = select.select([hydra, ours], [], [])
    if hydra in ready:
        data = hydra.recv(65536)
        if not data:
            break
        ours.sendall(data)
    if ours in ready:
        data = ours.recv(65536)
        if not data:
            break
        asked += data
        while b"\n" in asked:
            line, asked = asked.split(b"\n", 1)
            own = answer(line.decode())
            if own:
                ours.sendall(own.encode())
            else:
                hydra.sendall(line + b"\n")
sys.exit(child.wait())
