"""A folder shared with the server that is full: arrays go another way meanwhile, and the user is told."""

import errno
import json
import os

from gpu_harness import daemons
from torture_harness import small_folder

import python_program

MIB = 1 << 20
FULL = os.strerror(errno.ENOSPC)

# In the daemon's mount namespace, where the folder is one to both.
PROGRAM = f"""
    import json, os, sys, warnings
    import numpy as np
    from tessera import Tesseract

    url, folder, outputs = sys.argv[1:]
    filler = os.path.join(folder, "filler")

    def connect():
        client = Tesseract.from_url(url, server_input_path=folder, server_output_path=outputs)
        return client.with_encoding(output_format="json+binref")

    def fill():
        facts = os.statvfs(folder)
        with open(filler, "wb") as file:
            file.write(bytes(facts.f_bavail * facts.f_frsize))

    def echo(client, size):
        sent = np.random.default_rng(size).random(size, dtype="float32")
        np.testing.assert_array_equal(client.apply({{"x": sent}})["x"], sent)

    def files():
        return {{name for name in os.listdir(folder) if name.endswith(".bin")}}

    fill()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        echo(connect(), 1000)
    assert not files()
    print(*[one.message for one in said])
    os.remove(filler)

    client = connect()
    echo(client, 1000)
    assert files(), "arrays did not go by files: this shows nothing"
    for size in ({MIB}, {3 * MIB}):  # more than files have that are kept for the next call
        before = files()
        fill()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            echo(client, size)
        print(json.dumps([str(one.message) for one in said]))
        assert files() <= before, "something of the call is left"
        os.remove(filler)
        echo(client, size)
        assert files(), "files are not tried again"
"""


def test_arrays_go_another_way_while_a_folder_is_full_and_the_user_is_told(tmp_path):
    folder, outputs = tmp_path / "shared", tmp_path / "outputs"
    program = [*small_folder.mounted_at(folder, "24m"), "tessera"]
    daemon = daemons.start(program, "identity", outputs, transport=None, inputs=folder)
    try:
        printed = python_program.run(
            PROGRAM, daemon.url, str(folder), str(outputs), prefix=small_folder.entered(daemon.pid)
        )
    finally:
        assert daemon.stop() == 0
    at_first, *later = printed.splitlines()
    # Found full at its first call, a client sends what it has another way, and says so.
    assert "arrays are sent as base64 instead" in at_first and FULL in at_first
    # Found full later, it sends that call another way, and says so once.
    said, said_again = map(json.loads, later)
    assert len(said) == 1 and said_again == []
    start = "Arrays are sent as base64 for as long as their files cannot be written: "
    assert said[0].startswith(f"{start}cannot write '{folder}/") and said[0].endswith(FULL)
