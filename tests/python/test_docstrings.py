"""The examples in the docstrings of the package."""

import doctest
import inspect

import numpy as np
import pytest
import tessera
from tessera import errors, tesseract


def texts() -> dict[str, str]:
    """Each docstring of the package that holds an example, by name."""
    found = {"tessera": tessera.__doc__}
    for module in (tesseract, errors):
        for name, member in vars(module).items():
            if inspect.isclass(member) and member.__module__ == module.__name__:
                found[name] = member.__doc__
                found |= {f"{name}.{inner}": part.__doc__ for inner, part in vars(member).items() if inner[0] != "_"}
    return {name: text for name, text in found.items() if text and ">>>" in text}


@pytest.mark.parametrize("name", texts())
def test_an_example_does_what_it_shows(debugged, name):
    """The text beside each example is what it prints. The addresses are those of our daemon, which is in debug mode."""
    text = texts()[name]
    text = text.replace("http://127.0.0.1:8000", debugged.address).replace("/run/tessera.sock", str(debugged.unix_path))
    known = {"np": np, "Tesseract": tessera.Tesseract, "tess": debugged.client("vectoradd")}
    test = doctest.DocTestParser().get_doctest(text, known, name, None, 0)
    said = []
    outcome = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert outcome.attempted and not outcome.failed, "".join(said)


def test_each_method_has_an_example():
    """So that the reader of the help sees how it is called."""
    public = {name for name in vars(tessera.Tesseract) if not name.startswith("_")}
    assert public - {name.removeprefix("Tesseract.") for name in texts()} == set()
