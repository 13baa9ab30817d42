"""What is measured on the GPU that is here."""
