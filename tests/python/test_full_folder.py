"""A folder shared with the server that is full: what its user is told, and that it is over once there is room."""

import errno
import os

from gpu_harness import daemons
from torture_harness import small_folder

import python_program

MIB = 1 << 20
FULL = os.strerror(errno.ENOSPC)

# In the daemon's mount namespace, where the folder is one to both.
PROGRAM = f"""
    import os, sys, warnings
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

    warnings.simplefilter("error")
    client = connect()
    echo(client, 1000)
    assert files(), "arrays did not go by files: this shows nothing"
    for size in ({MIB}, {3 * MIB}):  # more than files have that are kept for the next call
        before = files()
        fill()
        try:
            echo(client, size)
            print("took it")
        except Exception as error:
            print(error)
        assert files() <= before, "something of the failed call is left"
        os.remove(filler)
        echo(client, size)
"""


def test_a_full_folder_is_told_and_the_client_works_again_once_there_is_room(tmp_path):
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
    assert len(later) == 2
    for line in later:
        assert line.startswith(f"the inputs cannot be sent: cannot write '{folder}/") and line.endswith(FULL), line
