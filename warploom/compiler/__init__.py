"""PTX text to machine Programs."""
