"""Pictures restored: noise taken off, missing pixels filled."""
