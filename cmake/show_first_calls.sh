#!/usr/bin/env bash
# Prints calls to try against the daemon that `make serve` is about to start. Usage: show_first_calls.sh HOST PORT
url="http://$1:$2"
cat <<TEXT

tessera is about to listen on $url. In another terminal, in this folder:

  export PATH="\$PWD/build/bin:\$PATH"
  curl $url/
  curl -H "Accept: application/json+base64" -H "Content-Type: application/json" \\
       -d @examples/vectoradd/example_inputs.json $url/vectoradd/apply
  tessera run vectoradd apply -f "json+base64" -o /tmp/output @examples/vectoradd/example_inputs_b64.json
  tessera run vectoradd apply -f "json+binref" -o /tmp/output @examples/vectoradd/example_inputs.json

With the public Python SDK (\`make python\`, once, makes the environment .venv that has it):

  .venv/bin/python -c 'from tesseract_core import Tesseract; print(Tesseract.from_url("$url/vectoradd").apply({"a": [1.0], "b": [2.0]}))'

In a browser: $url/vectoradd/docs. Ctrl-C ends the daemon.

TEXT
