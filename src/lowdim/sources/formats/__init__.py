"""A kind of file each: how it is read, block by block."""
