"""What only some models have to show in a report, a file each: data for `frontend/src/sections`."""
