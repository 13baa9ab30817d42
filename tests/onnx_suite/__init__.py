"""onnx's own cases as a judge: each node becomes a text of the layout language and is run through the public API."""
