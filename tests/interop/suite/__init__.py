"""The real client against the demo host, every answer checked against the API's schemas."""
