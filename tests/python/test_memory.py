"""That calls keep nothing, and copy nothing that need not be copied."""

import sys
from pathlib import Path

import numpy as np
import pytest

import python_program
from tessera import Tesseract

MIB = 1 << 20


def resident_mib() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / MIB


def test_a_thousand_calls_keep_nothing(identity):
    """Arrays of 1 MiB, in and out."""
    values = np.ones(MIB // 4, dtype="float32")
    for _ in range(50):
        identity.apply({"x": values})
    before = resident_mib()
    for _ in range(1000):
        identity.apply({"x": values})
    assert resident_mib() - before < 8


def test_a_thousand_errors_keep_nothing(vectoradd, everything):
    """Of a server, and of what cannot be sent."""
    values = np.ones(MIB // 8)

    def fail() -> None:
        with pytest.raises(ValueError):
            vectoradd.apply({"a": values[:1000], "b": "x"})
        with pytest.raises(TypeError):
            everything.apply({"any_array": values[::-1], "open": {"values": [values, b""]}})

    for _ in range(50):
        fail()
    before = resident_mib()
    for _ in range(500):
        fail()
    assert resident_mib() - before < 8


def test_a_dropped_result_makes_room(served):
    """Memory of what was dropped is used again: many results, one after the other, take no more than a few at once."""
    program = """
        import sys
        import numpy as np
        from tessera import Tesseract
        client = Tesseract.from_url(sys.argv[1]).with_encoding(output_format="json+base64")
        values = np.ones(1 << 22, dtype="float32")
        def resident_mib():
            return int(open("/proc/self/statm").read().split()[1]) >> 8
        client.apply({"x": values})
        before = resident_mib()
        kept = [client.apply({"x": values})["x"] for _ in range(8)]
        print(resident_mib() - before)
        kept.clear()
        for _ in range(30):
            client.apply({"x": values})
        print(resident_mib() - before)
    """
    while_kept, afterwards = map(int, python_program.run(program, served.url("identity")).split())
    assert 100 < while_kept < 180
    assert afterwards < while_kept + 8


@pytest.mark.parametrize("end", ["result", "refused by the server", "refused here", "no server"])
def test_inputs_have_as_many_references_as_before(served, end):
    """Whatever the end of the call."""
    client = Tesseract.from_url("127.0.0.1:1" if end == "no server" else served.url("identity"))
    values, text = np.ones(1000, dtype="float32"), "".join(["a", "text"])
    strided = values[::2]
    inputs = {"x": values}
    if end == "refused by the server":
        inputs |= {"y": strided, "z": text}
    elif end == "refused here":
        inputs |= {"y": [strided, {text: text}, object()]}
    counted = (values, strided, text, inputs)
    before = [sys.getrefcount(each) for each in counted]
    for _ in range(20):
        try:
            client.apply(inputs)
        except (ValueError, TypeError, ConnectionError):
            pass
    assert [sys.getrefcount(each) for each in counted] == before


PEAK = """
    import sys
    import numpy as np
    from tessera import Tesseract
    client = Tesseract.from_url(sys.argv[1])
    client.server_capabilities
    values = {"whole": np.ones(1 << 23), "strided": np.ones(1 << 24)[::2]}[sys.argv[2]]
    def memory(name):
        return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith(name))) // 1024
    open("/proc/self/clear_refs", "w").write("5")
    before = memory("VmRSS")
    try:
        client.apply({"unknown": values})
        print("it was not refused")
    except ValueError:
        print(memory("VmHWM") - before)
"""


@pytest.mark.parametrize(("layout", "least", "most"), [("whole", 0, 16), ("strided", 64, 80)])
def test_memory_in_c_order_is_sent_from_where_it_lies(served, layout, least, most):
    """A call with 64 MiB takes a few more; a copy would take 64, as it does for another layout."""
    peak_mib = int(python_program.run(PEAK, served.url("failing"), layout))
    assert least <= peak_mib <= most
