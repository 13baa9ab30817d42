"""layoutc compiles a page of layout notation into a CUDA kernel that you can read."""
