"""Results that go out to files: tables, pictures, ONNX graphs."""
