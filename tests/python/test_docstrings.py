"""The examples of the package's docstrings."""

import doctest

import numpy as np
import pytest

import tessera
from tessera import errors, tesseract


class Finder(doctest.DocTestFinder):
    """All examples, of classes and their members too."""


def examples():
    for module in (tessera, tesseract, errors):
        yield from (test for test in Finder().find(module) if test.examples)


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.name)
def test_the_example_of_a_docstring_runs(example, served, monkeypatch):
    """With `tess` and arrays as a reader would have them; addresses are the test's."""
    real = tessera.Tesseract.from_url
    monkeypatch.setattr(tessera.Tesseract, "from_url", lambda url, *_, **options: real(served.url("vectoradd"), **options))
    x = {"a": np.ones(2), "b": np.ones(2)}
    names = {"np": np, "x": x, "y": np.array([2.0, 2.0]), "Tesseract": tessera.Tesseract}
    example.globs.update(names, tess=served.client("vectoradd"))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    if "url" in example.name.rsplit(".", 1)[-1] and example.name.endswith(".url"):
        pytest.skip("shows an address")
    said = []
    runner.run(example, out=said.append)
    assert runner.failures == 0, "".join(said)
