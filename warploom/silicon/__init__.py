"""Real GPUs as witnesses of the model: programs run through the CUDA driver, and what they answered is kept."""
