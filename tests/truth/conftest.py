"""Lets the folders below import chance.py."""
