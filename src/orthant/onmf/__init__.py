"""One file per theorem, each a short recipe of steps."""
