"""Protobuf modules generated from proto/ by tools/make_proto.py."""
