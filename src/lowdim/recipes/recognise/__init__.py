"""Whose rows are these, by a gallery of rows that are known?"""
