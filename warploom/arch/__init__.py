"""The contract shared by compiler, golden model and hardware. No behaviour lives here."""
