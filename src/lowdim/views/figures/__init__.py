"""The numbers that figures draw: plots, the report and the page all take them from here."""
