"""Checks the OpenAPI document, and what the demo host answers to requests made of it."""
