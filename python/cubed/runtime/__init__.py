"""Executors and events."""
