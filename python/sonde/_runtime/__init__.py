"""What is behind the public modules while a program runs: its start, its session, its settings, its children."""
